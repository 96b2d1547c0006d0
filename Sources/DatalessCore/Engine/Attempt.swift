/// An attempt's number: it rises, and is never given twice by one engine.
///
/// Events, the API and the command line tell it as a plain number (`rawValue`).
struct AttemptID: Hashable, Comparable, Sendable, BitwiseCopyable {
  let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  static func < (left: AttemptID, right: AttemptID) -> Bool { left.rawValue < right.rawValue }
}

/// One try to materialize one item. Lives under the engine's lock from its trigger to its one outcome, and never leaves
/// it: a class, because its record is wide and each stage looks at it.
///
/// What it was begun with stays; what becomes of it is changed by its own verbs.
final class Attempt {
  /// The stages in their order; each stage's own time goes into the record.
  enum Stage: String {
    /// Not yet decided how it goes on; seen by nobody.
    case starting
    /// At a gate.
    case held
    /// Waiting for a slot (`concurrency`).
    case queued
    /// In the latency model's delay.
    case delayed
    /// Waiting until there is room for its content (`quota`).
    case room
    /// Reading from the backing store, up to commit.
    case fetching
    /// A fault that never ends: nothing will happen by itself.
    case stuck
  }

  /// How long it was in the stages before the fetch.
  struct StageTimes: Equatable {
    var held: Nanoseconds = 0
    var queued: Nanoseconds = 0
    var delayed: Nanoseconds = 0
  }

  let id: AttemptID
  let node: NodeIndex
  let kind: MaterializationKind
  let path: [UInt8]
  let size: Int64
  let startedAt: MonotonicTime
  let plan: AttemptPlan
  let reach: AttemptReach

  private(set) var stage = Stage.starting
  private(set) var stageSince: MonotonicTime
  /// Of the stages that are over.
  private var pastTimes = StageTimes()
  private var waiters = WaiterList()
  /// All who have waited for it.
  private(set) var waiterCount = 0
  private var isJoined = false
  /// Those among `waiters` who do not wait (`TriggerRequest.isWait`).
  private var unawaitedCount = 0
  /// The first waits that are over, at most `departedMax`.
  private(set) var departed: [Event.WaitRecord] = []
  /// Whether a waiter has been answered already: then it goes on though nobody may wait any more.
  private(set) var hasServed = false
  /// The first caller whose materializations are budgeted; nil while there is none.
  private(set) var budgeted: Caller?
  /// Whether nobody waits for it but a content policy: readers go first.
  private(set) var isEager = false
  /// Bytes of the file that it has made local, and that stay however it ends.
  private(set) var brought: Int64 = 0
  private(set) var job: (any AttemptJob)?
  /// Of its delay, and of `give_up_after`.
  private(set) var timers: [TimerToken] = []

  /// LIMIT: waits that the record of an attempt's end tells.
  static let departedMax = 64

  init(
    id: AttemptID, node: NodeIndex, kind: MaterializationKind, path: [UInt8], size: Int64, startedAt: MonotonicTime,
    plan: AttemptPlan, reach: AttemptReach = AttemptReach()
  ) {
    self.id = id
    self.node = node
    self.kind = kind
    self.path = path
    self.size = size
    self.startedAt = startedAt
    self.plan = plan
    self.reach = reach
    stageSince = startedAt
  }

  /// As `reach` has it.
  var range: Range<Int64>? { reach.range }
  var isRanged: Bool { reach.isRanged }

  // MARK: - Stages

  /// The gate that holds it.
  var gate: Decision.Part<String>? { stage == .held ? plan.gate : nil }

  /// It has come to the gate that its plan names, which is closed.
  func hold(_ now: MonotonicTime) { move(to: .held, now) }

  /// It waits for a slot: from here to the delay, for no time where there is a free one.
  func queue(_ now: MonotonicTime) { move(to: .queued, now) }

  /// It has its slot.
  func delay(_ now: MonotonicTime) { move(to: .delayed, now) }

  /// There is no room for what it brings.
  func waitForRoom(_ now: MonotonicTime) { move(to: .room, now) }

  /// The delay is over, however it goes on.
  func fetch(_ now: MonotonicTime) { move(to: .fetching, now) }

  /// A planned fault has come from which on nothing happens any more.
  func getStuck(_ now: MonotonicTime) {
    job = nil
    move(to: .stuck, now)
  }

  private func move(to next: Stage, _ now: MonotonicTime) {
    pastTimes = times(at: now)
    stage = next
    stageSince = now
  }

  /// The times of its stages, the one in which it is included.
  func times(at now: MonotonicTime) -> StageTimes {
    var times = pastTimes
    switch stage {
    case .held: times.held += now - stageSince
    case .queued: times.queued += now - stageSince
    case .delayed: times.delayed += now - stageSince
    case .starting, .room, .fetching, .stuck: break
    }
    return times
  }

  // MARK: - Waiters

  /// Those who wait now.
  var waitingCount: Int { waiters.count - unawaitedCount }

  /// The same, and those who have begun it and go on.
  var callerCount: Int { waiters.count }

  /// Waiters that are recorded, or described, under the hold of the lock under which it ends, or is described.
  var recordedWaiters: Int { min(waiters.count, Self.departedMax) }

  /// Whether it has nobody to work for: nobody waits, and nobody has been answered with a part of what it brings.
  var isAbandoned: Bool { waiters.isEmpty && !hasServed }

  func waiter(at slot: Int) -> Waiter? { waiters[slot] }

  /// The first so many of those who wait.
  func firstWaiters(_ limit: Int) -> [Waiter] { waiters.prefix(limit) }

  /// A caller waits for it. - Returns: His slot among the waiters.
  func admit(_ waiter: Waiter) -> Int {
    isEager = waiter.request.trigger == .eager && (isEager || !isJoined)
    isJoined = true
    if waiter.request.isWait { waiterCount += 1 } else { unawaitedCount += 1 }
    return waiters.append(waiter)
  }

  /// A caller waits no more.
  func dismiss(at slot: Int) {
    if waiters[slot]?.request.isWait == false { unawaitedCount -= 1 }
    waiters.remove(at: slot)
  }

  /// A caller is answered before its end, because what he asked for is there.
  func serve(at slot: Int) {
    // One that has not begun to fetch is spared its waiter by another one.
    if stage == .fetching { hasServed = true }
    dismiss(at: slot)
  }

  /// Keeps the record of a wait that is over, for the record of its end.
  func keep(_ record: Event.WaitRecord) {
    if departed.count < Self.departedMax { departed.append(record) }
  }

  /// It has ended: takes out all who wait, with gaps where some have left.
  func takeWaiters() -> [Waiter?] {
    unawaitedCount = 0
    return waiters.takeAll()
  }

  // MARK: - What it does

  /// It is carried out by a job from now on.
  func begin(_ job: any AttemptJob) { self.job = job }

  /// A timer that is to be taken back when it ends.
  func keep(_ timer: TimerToken) { timers.append(timer) }

  /// Bytes of the file have become local.
  func bring(_ bytes: Int64) { brought = brought.saturatingAdd(bytes) }

  /// A budgeted caller waits for it. - Returns: False if another one has, before.
  func beginBudgeted(_ caller: Caller) -> Bool {
    guard budgeted == nil else { return false }
    budgeted = caller
    return true
  }
}
