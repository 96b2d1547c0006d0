import Testing

@testable import DatalessControl

@Suite struct SummaryPartsTests {
  @Test func intervalsThatOverlapCountOnce() {
    var union = IntervalUnion()
    for (start, end) in [(0, 10), (5, 12), (20, 30), (1, 2), (25, 26), (11, 21), (40, 40), (50, 45)] as [(Int64, Int64)]
    {
      union.insert(from: start, to: end)
    }
    #expect(union.length == 30)
    var bounded = IntervalUnion(limit: 16)
    for index in 0..<1_000 as Range<Int64> { bounded.insert(from: index * 10, to: index * 10 + 4) }
    #expect(bounded.length == 4_000)
  }

  /// What reaches back behind the intervals that are kept counts from there on only.
  @Test func whatIsForgottenIsNotCountedAgain() {
    var union = IntervalUnion(limit: 4)
    for index in 0..<5 as Range<Int64> { union.insert(from: index * 20, to: index * 20 + 10) }
    union.insert(from: 5, to: 30)
    #expect(union.length == 50)
    union.insert(from: 25, to: 35)
    #expect(union.length == 55)
  }

  @Test(
    arguments: [
      (100, 0, 0, FileUse.openedNotRead), (100, 100, 100, .whole), (1_000_000, 4_096, 4_096, .headerOnly),
      (1_000_000, 4_096, 900_000, .inPart), (5_000, 4_096, 4_096, .inPart), (0, 0, 0, .openedNotRead),
    ] as [(Int64, Int64, Int64, FileUse)])
  func useOfAFile(size: Int64, covered: Int64, highWaterMark: Int64, expected: FileUse) {
    var coverage = ReadCoverage()
    coverage.add(covered: covered, highWaterMark: highWaterMark, ranges: [])
    #expect(FileUse(size: size, coverage: coverage) == expected)
  }
}
