@testable import DatalessCore
import Testing

@Suite struct ByteRangeSetTests {
  @Test func agreesWithASetOfNumbers() {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      var ranges = ByteRangeSet()
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
      }
      let ordered = zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }
      #expect(ordered, "seed \(seed)")
    }
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
