@testable import DatalessState
import TestSupport
import Testing

/// Directories that lead to no root are cut off where that is needed, and nowhere else.
@Suite struct DirectoryChainTests {
  @Test func aRingIsCutOnce() {
    #expect(DirectoryChains.cuts([:], among: nil) == [])
    #expect(DirectoryChains.cuts([2: 1, 3: 2, 4: 3], among: nil) == [])
    #expect(DirectoryChains.cuts([5: 5], among: nil) == [5])
    #expect(DirectoryChains.cuts([2: 3, 3: 4, 4: 2, 5: 3, 6: 5], among: nil) == [2])
    #expect(DirectoryChains.cuts([2: 3, 3: 4, 4: 2], among: [4]) == [4])
    #expect(DirectoryChains.cuts([1: 2, 2: 1], among: nil) == [1])
  }

  @Test func whatLiesTooDeepIsCut() {
    var parents: [Int64: Int64] = [:]
    for id in 2...Int64(2 * CatalogSearch.depthMax) { parents[id] = id - 1 }
    let cuts = DirectoryChains.cuts(parents, among: nil)
    #expect(cuts == [Int64(CatalogSearch.depthMax) + 2])
    // From the deepest on: each is looked at once all the same.
    let count = Int64(300_000)
    parents = [:]
    for id in 2..<count { parents[id] = id + 1 }
    #expect(DirectoryChains.cuts(parents, among: []) == [])
  }

  @Test(arguments: TestSeed.seeds) func withoutItsCutsEveryDirectoryLeadsToARoot(seed: UInt64) {
    var random = TestRandom(seed: seed)
    for _ in 0..<300 {
      let count = 2 + random.below(12)
      var parents: [Int64: Int64] = [:]
      for id in 2...Int64(count + 1) where !random.oneIn(5) { parents[id] = Int64(1 + random.below(count + 1)) }
      let rings = Self.rings(parents)
      let cuts = DirectoryChains.cuts(parents, among: nil)
      #expect(cuts.count == rings.count, "\(parents), seed \(seed)")
      for cut in cuts { parents[cut] = nil }
      #expect(Self.rings(parents).isEmpty, "\(parents) without \(cuts), seed \(seed)")
    }
  }

  /// By walking on from each until the walk repeats itself.
  private static func rings(_ parents: [Int64: Int64]) -> Set<Set<Int64>> {
    var rings: Set<Set<Int64>> = []
    for start in parents.keys {
      var id = start
      for _ in 0...parents.count { id = parents[id] ?? 1 }
      guard id != 1 else { continue }
      var ring: Set<Int64> = []
      while ring.insert(id).inserted { id = parents[id] ?? 1 }
      rings.insert(ring)
    }
    return rings
  }
}
