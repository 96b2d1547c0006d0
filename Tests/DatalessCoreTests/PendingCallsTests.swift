@testable import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// `PendingCalls` and `PageDrops` beside models: each call is answered once, whoever comes first, and no interrupt is
/// lost.
@Suite struct PendingCallsTests {
  private final class Calls: Sendable {
    let failed = Mutex<[UInt64]>([])
  }

  private static let ended = FSError(.timedOut, "the volume ends")

  @Test func interruptsAreRememberedOnTheWayAndNowhereElse() {
    var calls = PendingCalls()
    let (early, other) = (WaiterID(rawValue: 1), WaiterID(rawValue: 2))
    calls.announce(early)
    calls.announce(other)
    calls.interruptAnnounced(early)
    // Answered long ago.
    calls.interruptAnnounced(WaiterID(rawValue: 3))
    #expect(calls.announcedCount == 2)
    #expect(calls.receive(early) && !calls.receive(other) && !calls.receive(WaiterID(rawValue: 3)))
    #expect(calls.announcedCount == 0 && !calls.receive(early))
  }

  @Test(arguments: TestSeed.seeds) func eachCallIsClaimedOnce(_ seed: UInt64) {
    var random = TestRandom(seed: seed)
    var calls = PendingCalls()
    let answers = Calls()
    var waiting: Set<UInt64> = []
    var claimed: Set<UInt64> = []
    for number in 1...2_000 as ClosedRange<UInt64> {
      let waiter = WaiterID(rawValue: number)
      calls.park(
        waiter, PendingCalls.Call(threadID: Int32(number), fail: { _ in answers.failed.withLock { $0.append(number) } })
      )
      waiting.insert(number)
      #expect(calls.threadID(of: waiter) == Int32(number))
      let chosen = UInt64(random.below(Int(number))) + 1
      let call = calls.claim(WaiterID(rawValue: chosen))
      #expect((call != nil) == (waiting.remove(chosen) != nil), "seed \(seed): waiter \(chosen)")
      if call != nil { claimed.insert(chosen) }
      #expect(calls.threadID(of: WaiterID(rawValue: chosen)) == nil)
      if random.oneIn(500) {
        for call in calls.claimAll() { call.fail(Self.ended) }
        #expect(Set(answers.failed.withLock { $0 }).isSuperset(of: waiting))
        waiting = []
      }
      #expect(calls.parkedCount == waiting.count, "seed \(seed)")
    }
    let failed = answers.failed.withLock { $0 }
    #expect(failed.count == Set(failed).count && claimed.isDisjoint(with: failed), "seed \(seed)")
  }

  @Test(arguments: TestSeed.seeds) func opensGoOnInTheirOrderWhenThePagesAreGone(_ seed: UInt64) {
    var random = TestRandom(seed: seed)
    var drops = PageDrops()
    let went = Calls()
    var model: [UInt64: [UInt64]] = [:]
    for number in 1...2_000 as ClosedRange<UInt64> {
      let file = UInt64(random.below(5)) + 1
      let node = NodeID(rawValue: file)
      #expect(drops.isUnderWay(of: node) == (model[file] != nil))
      switch random.below(6) {
      case 0:
        guard model[file] == nil else { continue }
        drops.begin(of: node)
        model[file] = []
      case 1:
        went.failed.withLock { $0 = [] }
        for goOn in drops.end(of: node) { goOn() }
        #expect(went.failed.withLock { $0 } == model.removeValue(forKey: file) ?? [], "seed \(seed)")
      default:
        let waits = drops.wait(for: node) { went.failed.withLock { $0.append(number) } }
        #expect(waits == (model[file] != nil), "seed \(seed)")
        model[file]?.append(number)
      }
      #expect(drops.isEmpty == model.isEmpty)
    }
  }
}
