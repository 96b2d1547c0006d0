@testable import DatalessCore
import TestSupport
import Testing

@Suite struct RefreshQueueTests {
  private let fixture = EngineFixture(ScriptedStore([:]))

  private func refresh() -> Refresh {
    Refresh(engine: fixture.engine, paths: [], by: .command, keeps: false) { _ in }
  }

  /// Beside a list: the first runs, and whoever ends without running leaves the others where they are.
  @Test(arguments: TestSeed.seeds) func oneRunsAtATimeInTheOrderAskedFor(_ seed: UInt64) {
    var random = TestRandom(seed: seed)
    var queue = RefreshQueue()
    var model: [Refresh] = []
    for _ in 0..<1_000 {
      if random.oneIn(2) {
        let next = refresh()
        #expect(queue.add(next) == model.isEmpty, "seed \(seed)")
        model.append(next)
      } else if !model.isEmpty, random.below(4) > 0 {
        let next = queue.remove(model.removeFirst())
        #expect(next === model.first, "seed \(seed)")
      } else {
        // Never added, or removed before.
        #expect(queue.remove(refresh()) == nil, "seed \(seed)")
      }
      #expect(queue.all.elementsEqual(model, by: ===), "seed \(seed)")
      for (place, each) in model.enumerated() { #expect(queue.isWaiting(each) == (place > 0), "seed \(seed)") }
    }
  }

  @Test func aPollOfAnotherIntervalIsGivenUp() throws {
    var queue = RefreshQueue()
    let none = queue.setPoll(nil)
    #expect(none == nil)
    let begun = queue.setPoll(5_000_000_000)
    let first = try #require(begun)
    #expect(first.interval == 5_000_000_000 && queue.isWanted(first))
    // The same again goes on as it is.
    let same = queue.setPoll(5_000_000_000)
    #expect(same == nil && queue.isWanted(first))
    let next = queue.setPoll(1_000_000_000)
    let second = try #require(next)
    #expect(!queue.isWanted(first) && queue.isWanted(second))
    let off = queue.setPoll(nil)
    #expect(off == nil && !queue.isWanted(second))
    let again = queue.setPoll(1_000_000_000)
    let third = try #require(again)
    #expect(!queue.isWanted(second) && queue.isWanted(third))
  }
}
