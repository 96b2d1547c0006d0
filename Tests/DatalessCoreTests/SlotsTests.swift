@testable import DatalessCore
import TestSupport
import Testing

/// `Slots` beside a list of who waits and a set of who has a slot.
@Suite struct SlotsTests {
  /// What the engine does with it: who has ended is passed over when it is his turn.
  private struct Pair {
    var slots = Slots()
    var waiting: [AttemptID] = []
    var holders: Set<AttemptID> = []
    var ended: Set<AttemptID> = []

    mutating func fill(_ limit: Int?) {
      slots.beginFilling()
      while slots.hasNext(limit: limit) {
        let next = slots.next()
        #expect(next == waiting.removeFirst())
        guard let next, !ended.contains(next) else { continue }
        slots.grant(next)
        holders.insert(next)
      }
      slots.endFilling()
    }
  }

  @Test(arguments: TestSeed.seeds) func slotsAreGivenInOrderAndNeverTooMany(_ seed: UInt64) {
    var random = TestRandom(seed: seed)
    var pair = Pair()
    for number in 1...5_000 as ClosedRange<UInt64> {
      // Raised, lowered and taken away while attempts hold slots.
      let limit: Int? = random.oneIn(20) ? nil : random.below(6)
      let before = pair.holders.count
      let attempt = AttemptID(rawValue: number)
      if let limit, random.oneIn(2) {
        let hasSlot = pair.slots.request(attempt, limit: limit)
        #expect(hasSlot == (before < limit), "seed \(seed)")
        if hasSlot { pair.holders.insert(attempt) } else { pair.waiting.append(attempt) }
      } else if let chosen = pair.holders.sorted().first ?? pair.waiting.first, random.below(4) > 0 {
        let hadSlot = pair.slots.giveBack(chosen)
        #expect(hadSlot == (pair.holders.remove(chosen) != nil), "seed \(seed)")
        pair.ended.insert(chosen)
      } else {
        pair.fill(limit)
        #expect(pair.holders.count <= max(before, limit ?? .max), "seed \(seed): more than \(limit ?? -1) slots")
        #expect(pair.waiting.isEmpty || pair.holders.count >= limit ?? .max, "seed \(seed): a slot is free")
      }
      #expect(pair.slots.inUse == pair.holders.count && pair.slots.waitingCount == pair.waiting.count, "seed \(seed)")
    }
  }
}
