/// One blocked caller of an attempt.
struct Waiter {
  let id: WaiterID
  let request: TriggerRequest
  let since: MonotonicTime
  let completion: @Sendable (WaitResult) -> Void
}

/// One try to materialize one item. Lives under the engine's lock from its trigger to its one outcome.
struct Attempt {
  /// The stages in their order; each stage's own time goes into the record.
  enum Stage: String {
    /// Waiting for a slot (`concurrency`).
    case queued
    /// In the latency model's delay.
    case delayed
    /// Reading from the backing store, up to commit.
    case fetching
  }

  let id: UInt64
  let node: Int
  let kind: MaterializationKind
  let path: [UInt8]
  let size: Int64
  let startedAt: MonotonicTime
  var stage: Stage
  var stageSince: MonotonicTime
  var waiters = WaiterList()
  /// Records of waiters that have left already, at most 64.
  var departed: [Event.WaitRecord] = []
  var waiterCount = 0
  var isBudgeted = false
  var holdsSlot = false
  var requestedDelay: Int64 = 0
  var delay: Int64 = 0
  var queued: Int64 = 0
  var job: (any AttemptJob)?
}

/// The part of an attempt that runs on the blocking lane and can be told to give up.
protocol AttemptJob: AnyObject, Sendable {
  /// Asks the job to stop at its next step; its result is dropped.
  func cancel()
}

/// One attempt as `status` shows it.
public struct AttemptSnapshot: Sendable {
  public struct WaitingCaller: Sendable {
    public var caller: Caller
    public var trigger: Trigger
    public var blockedNanoseconds: Int64
  }
  public var attempt: UInt64
  public var path: [UInt8]
  public var kind: MaterializationKind
  public var size: Int64
  /// `queued`, `delayed` or `fetching`.
  public var stage: String
  public var ageNanoseconds: Int64
  /// Waiters of the attempt now; `waiters` names the first of them.
  public var waiterCount: Int
  public var waiters: [WaitingCaller]
}
