@testable import DatalessCore
import TestSupport
import Testing

@Suite struct ByteRangeSetTests {
  @Test func agreesWithASetOfNumbers() {
    let seed = TestSeed.one
    var random = SeededGenerator(seed: seed)
    for round in 0..<300 {
      var ranges = ByteRangeSet(chunkMax: round % 2 == 0 ? 4 : 512)
      var model = Set<Int64>()
      for _ in 0..<20 {
        let start = Int64.random(in: 0..<60, using: &random)
        let range = start..<start + Int64.random(in: 0..<12, using: &random)
        ranges.insert(range)
        model.formUnion(range)
        #expect(ranges.count == Int64(model.count), "seed \(seed)")
        let from = Int64.random(in: 0..<70, using: &random)
        let asked = from..<from + Int64.random(in: 0..<20, using: &random)
        let missing = asked.filter { !model.contains($0) }
        #expect(ranges.contains(asked) == missing.isEmpty, "seed \(seed)")
        #expect(ranges.missing(in: asked).flatMap { Array($0) } == missing, "seed \(seed)")
        #expect(ranges.missing(in: asked, limit: 1).first == ranges.missing(in: asked).first, "seed \(seed)")
        #expect(ranges.lastMissing(in: asked) == missing.last, "seed \(seed)")
        #expect(ranges.rangeCount == ranges.ranges.count, "seed \(seed)")
        #expect(ranges.largestChunk <= (round % 2 == 0 ? 4 : 512), "seed \(seed)")
      }
      #expect(ranges.missing(in: 0..<100, limit: .max).count <= 100)
      let ordered = zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }
      #expect(ordered, "seed \(seed)")
    }
  }

  /// 300,000 places in no order, between each other: a sorted array would move 700 GB for that.
  @Test(.timeLimit(.minutes(1))) func manyScatteredRangesCostTheSameEach() {
    var ranges = ByteRangeSet()
    let count: Int64 = 300_000
    for index in 0..<count {
      let start = index * 7_368_787 % count * 8192
      ranges.insert(start..<start + 512)
    }
    #expect(ranges.count == count * 512)
    #expect(ranges.rangeCount == Int(count))
    for index in 0..<count { ranges.insert(index * 8192 + 512..<(index + 1) * 8192) }
    #expect(ranges.ranges == [0..<count * 8192])
  }
}

@Suite struct CoverageTests {
  @Test func isExactUntilThereAreVeryManyRangesAndAnUpperBoundThen() {
    var covered = Coverage()
    for index in 0..<Int64(16_384) { covered.insert(index * 8192..<index * 8192 + 100) }
    #expect(covered.count == 1_638_400 && covered.unit == 1)
    covered.insert(16_384 * 8192..<16_384 * 8192 + 100)
    #expect(covered.unit == 4096)
    #expect(covered.count == 16_385 * 4096)
    // The rest of a page that counts already, and one that is new.
    covered.insert(100..<4096)
    #expect(covered.count == 16_385 * 4096)
    covered.insert(4095..<4097)
    #expect(covered.count == 16_386 * 4096)
  }

  @Test func agreesWithASetOfPages() {
    let seed = TestSeed.one
    var random = SeededGenerator(seed: seed)
    var covered = Coverage()
    var starts = Set<Int64>()
    for _ in 0..<40_000 {
      let start = Int64.random(in: 0..<1_000_000, using: &random)
      starts.insert(start)
      covered.insert(start * 4096..<(start + 1) * 4096)
    }
    #expect(covered.count == Int64(starts.count) * 4096, "seed \(seed)")
    #expect(covered.unit <= 4096)
  }

  /// Of a file of any size, wherever it is read.
  @Test func itsMemoryHasABound() {
    var covered = Coverage()
    let step = Int64.max / 20_000
    for index in 0..<Int64(20_000) { covered.insert(index * step..<index * step + 1) }
    covered.insert(0..<Int64.max)
    #expect(covered.unit > 4096)
    #expect(covered.count >= Int64.max / 2)
  }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
