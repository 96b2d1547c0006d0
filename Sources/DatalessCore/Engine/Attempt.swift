/// One blocked caller of an attempt.
struct Waiter {
  let id: WaiterID
  let request: TriggerRequest
  let since: MonotonicTime
  let completion: @Sendable (WaitResult) -> Void
}

/// One try to materialize one item. Lives under the engine's lock from its trigger to its one outcome, and never leaves it:
/// a class, because its record is wide and each stage looks at it.
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
    /// Reading from the backing store, up to commit.
    case fetching
    /// A fault that never ends: nothing will happen by itself.
    case stuck
  }

  let id: AttemptID
  let node: NodeIndex
  let kind: MaterializationKind
  let path: [UInt8]
  let size: Int64
  let startedAt: MonotonicTime
  let plan: AttemptPlan
  var stage: Stage
  var stageSince: MonotonicTime
  var waiters = WaiterList()
  /// Records of waiters that have left already, at most 64.
  var departed: [Event.WaitRecord] = []
  var waiterCount = 0
  /// The part of the file that it brings in (`Hydration.partial`); nil: all of it.
  var range: Range<Int64>?
  /// Whether it goes by ranges, because of its hydration or because part of the file is there already.
  var isRanged = false
  /// Where the first caller wanted to read.
  var firstOffset: Int64 = 0
  /// Whether a waiter has been answered already: then it goes on though nobody may wait any more.
  var hasServed = false
  /// The first caller whose materializations are budgeted; nil while there is none.
  var budgeted: Caller?
  /// Bytes of the file that it has made local, and that stay however it ends.
  var brought: Int64 = 0
  var held: Int64 = 0
  var delay: Int64 = 0
  var queued: Int64 = 0
  var job: (any AttemptJob)?
  /// Of its delay, and of `give_up_after`.
  var timers: [TimerToken] = []

  init(
    id: AttemptID, node: NodeIndex, kind: MaterializationKind, path: [UInt8], size: Int64, startedAt: MonotonicTime,
    plan: AttemptPlan
  ) {
    self.id = id
    self.node = node
    self.kind = kind
    self.path = path
    self.size = size
    self.startedAt = startedAt
    self.plan = plan
    stage = .starting
    stageSince = startedAt
  }

  /// The gate that holds it.
  var gate: Decision.Part<String>? { stage == .held ? plan.gate : nil }
}

/// What was decided about an attempt when it started; a later change of the scenario does not reach it.
struct AttemptPlan {
  var requestedDelay: Int64 = 0
  /// Bytes per second of this transfer; nil = as fast as the shared line and the disk.
  var transferBandwidth: Int64?
  var hydration = Hydration.full
  var fault: Decision.Part<Fault>?
  var gate: Decision.Part<String>?
  /// The profile's.
  var errnos = Profile.macos.fileErrnos
  /// The rules that decided something.
  var rules: [String] = []
}

/// How an attempt ended, for its records and its waiters.
struct AttemptEnd {
  var outcome: Outcome
  var message: String?
  /// The rule, or the setting, that staged this end; nil for a real one.
  var rule: String?
  var entries: Int?
  var storeNanoseconds: Int64 = 0
}

/// The part of an attempt that runs on a lane (content: blocking, listings: metadata) or a request thread, and can be
/// told to give up.
protocol AttemptJob: AnyObject, Sendable {
  /// Asks the job to stop at its next step; its result is dropped.
  func cancel()
}
