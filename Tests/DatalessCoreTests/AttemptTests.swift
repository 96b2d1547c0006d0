@testable import DatalessCore
import TestSupport
import Testing

/// One attempt: its stages with their times, its waiters, what is kept for its record.
@Suite struct AttemptTests {
  static func attempt(_ id: UInt64 = 1, node: UInt32 = 2, at time: Int64 = 0, _ plan: AttemptPlan = AttemptPlan())
    -> Attempt
  {
    Attempt(
      id: AttemptID(rawValue: id), node: NodeIndex(rawValue: node), kind: .file, path: [], size: 1 << 20,
      startedAt: MonotonicTime(nanoseconds: time), plan: plan)
  }

  static func waiter(_ id: UInt64, offset: Int64? = nil, length: Int64? = nil) -> Waiter {
    Waiter(
      id: WaiterID(rawValue: id),
      request: TriggerRequest(trigger: .read, caller: EngineFixture.caller(), offset: offset, length: length),
      since: MonotonicTime(nanoseconds: 0), completion: { _ in })
  }

  private final class Job: AttemptJob {
    func cancel() {}
  }

  /// However it goes through its stages, each moment belongs to the stage in which it was spent.
  @Test(arguments: TestSeed.seeds) func eachMomentBelongsToItsStage(_ seed: UInt64) {
    var random = TestRandom(seed: seed)
    for _ in 0..<500 {
      var now = MonotonicTime(nanoseconds: Int64(random.below(1_000)))
      let attempt = Self.attempt(at: now.nanoseconds)
      var expected = Attempt.StageTimes()
      func spend(_ time: WritableKeyPath<Attempt.StageTimes, Nanoseconds>?) {
        let spent = Nanoseconds(Int64(random.below(100)))
        now = now + spent
        if let time { expected[keyPath: time] += spent }
        #expect(attempt.times(at: now) == expected, "seed \(seed): in \(attempt.stage.rawValue)")
      }
      if random.oneIn(2) {
        attempt.hold(now)
        spend(\.held)
      }
      attempt.queue(now)
      spend(\.queued)
      attempt.delay(now)
      spend(\.delayed)
      attempt.fetch(now)
      spend(nil)
      if random.oneIn(2) {
        attempt.getStuck(now)
        #expect(attempt.stageSince == now)
        spend(nil)
      }
    }
  }

  @Test func onlyAnAttemptThatIsHeldIsAtAGate() {
    var plan = AttemptPlan()
    plan.gate = Decision.Part(value: "g", rule: "r", place: 0)
    let attempt = Self.attempt(1, plan)
    #expect(attempt.gate == nil)
    attempt.hold(MonotonicTime(nanoseconds: 0))
    #expect(attempt.gate?.value == "g")
    attempt.queue(MonotonicTime(nanoseconds: 0))
    #expect(attempt.gate == nil)
  }

  @Test func aStuckAttemptHasNoJob() {
    let attempt = Self.attempt()
    attempt.begin(Job())
    #expect(attempt.job != nil)
    attempt.getStuck(MonotonicTime(nanoseconds: 5))
    #expect(attempt.job == nil && attempt.stage == .stuck)
  }

  /// Who is answered by another attempt, before this one fetches, leaves it with nothing to do.
  @Test func anAttemptThatHasServedGoesOnAlone() {
    for hasBegun in [false, true] {
      let attempt = Self.attempt()
      let slot = attempt.admit(Self.waiter(1))
      #expect(!attempt.isAbandoned)
      if hasBegun { attempt.fetch(MonotonicTime(nanoseconds: 0)) }
      attempt.serve(at: slot)
      #expect(attempt.isAbandoned == !hasBegun && attempt.waitingCount == 0)
    }
  }

  @Test func theFirstWaitsAreKept() {
    let attempt = Self.attempt()
    for number in 1...100 as ClosedRange<UInt64> {
      let waiter = Self.waiter(number)
      attempt.dismiss(at: attempt.admit(waiter))
      attempt.keep(waiter.record(in: attempt.id, .ok, MonotonicTime(nanoseconds: Int64(number))))
    }
    #expect(attempt.departed.map(\.time.nanoseconds) == Array(1...Int64(Attempt.departedMax)))
    #expect(attempt.waiterCount == 100 && attempt.isAbandoned && attempt.recordedWaiters == 0)
  }

  @Test func theFirstBudgetedCallerCounts() {
    let attempt = Self.attempt()
    #expect(attempt.beginBudgeted(EngineFixture.caller(7)) && !attempt.beginBudgeted(EngineFixture.caller(8)))
    #expect(attempt.budgeted?.threadID == 7)
    attempt.bring(.max)
    attempt.bring(1)
    #expect(attempt.brought == .max)
  }
}
