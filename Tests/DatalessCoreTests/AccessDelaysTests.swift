@testable import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// `AccessDelays` beside a model.
@Suite struct AccessDelaysTests {
  private struct Model {
    var since: MonotonicTime
    var operation: AccessOperation
    var number: UInt64
    var timer: TimerToken?
  }

  @Test(arguments: TestSeed.seeds) func eachCallEndsOnceWithItsTimer(_ seed: UInt64) {
    var random = TestRandom(seed: seed)
    var delays = AccessDelays()
    var model: [WaiterID: Model] = [:]
    var sums: [AccessOperation: AccessTotals.Sum] = [:]
    let answered = Mutex<[UInt64]>([])
    var now = MonotonicTime(nanoseconds: 0)
    var lastNumber: UInt64 = 0
    for step in 1...3_000 as ClosedRange<UInt64> {
      now = now + Nanoseconds(Int64(random.below(1_000)))
      // Also one that has never been, or has ended.
      let waiters = model.keys.sorted { $0.rawValue < $1.rawValue }
      let known = waiters.isEmpty || random.oneIn(5) ? WaiterID(rawValue: step) : random.element(of: waiters)
      switch random.below(4) {
      case 0, 1:
        let number = delays.takeNumber()
        #expect(number == lastNumber + 1, "seed \(seed)")
        lastNumber = number
        let operation = random.element(of: AccessOperation.allCases)
        let record = Event.AccessRecord(
          access: number, operation: operation, path: [], kind: .file, caller: EngineFixture.caller(),
          requestedDelay: 1, time: now)
        let waiter = WaiterID(rawValue: step)
        delays.begin(record, waiter) { _ in answered.withLock { $0.append(number) } }
        model[waiter] = Model(since: now, operation: operation, number: number)
      case 2:
        let token = TimerToken(rawValue: step)
        #expect(delays.keep(token, of: known) == (model[known] == nil), "seed \(seed): late for a call that has ended")
        model[known]?.timer = token
      default:
        let outcome: Outcome = random.oneIn(3) ? .failed(.interrupted) : .ok
        let ended = delays.end(known, outcome: outcome, now: now)
        #expect((ended == nil) == (model[known] == nil), "seed \(seed)")
        guard let ended, let call = model.removeValue(forKey: known) else { continue }
        #expect((ended.record.access, ended.timer) == (call.number, call.timer), "seed \(seed)")
        #expect(ended.record.blocked == now - call.since && ended.record.outcome == outcome, "seed \(seed)")
        #expect(answered.withLock { $0.isEmpty }, "whoever ends it answers it")
        ended.completion(nil)
        #expect(answered.withLock { $0 } == [call.number], "seed \(seed)")
        answered.withLock { $0 = [] }
        var sum = sums[call.operation] ?? AccessTotals.Sum()
        sum.calls += 1
        sum.failures += outcome == .ok ? 0 : 1
        sum.blocked += now - call.since
        sums[call.operation] = sum
      }
      #expect(delays.count == model.count, "seed \(seed)")
      #expect(delays.totals.sums == sums, "seed \(seed)")
    }
    let told = delays.snapshots(atMost: 10_000).map(\.access)
    #expect(told == model.values.map(\.number).sorted(), "seed \(seed)")
    #expect(delays.snapshots(atMost: 3).count == min(3, model.count))
  }
}
