/// One attempt as `status` shows it.
public struct AttemptSnapshot: Sendable {
  public struct WaitingCaller: Sendable {
    public var caller: Caller
    public var trigger: Trigger
    /// How the kernel asked, for a read.
    public var io: ReadMode?
    public var blocked: Nanoseconds
  }
  public var attempt: UInt64
  public var path: [UInt8]
  public var kind: MaterializationKind
  public var size: Int64
  /// `held`, `queued`, `delayed`, `fetching` or `stuck`.
  public var stage: String
  public var age: Nanoseconds
  /// In this stage.
  public var stageAge: Nanoseconds
  /// Waiters of the attempt now; `waiters` names the first of them.
  public var waiterCount: Int
  public var waiters: [WaitingCaller]
}

extension Attempt {
  /// Describes it. - Parameter limit: How many of its waiters are described.
  func snapshot(waitersEach limit: Int, _ now: MonotonicTime) -> AttemptSnapshot {
    AttemptSnapshot(
      attempt: id.rawValue, path: path, kind: kind, size: size, stage: stage.rawValue,
      age: now - startedAt, stageAge: now - stageSince, waiterCount: waitingCount,
      waiters: firstWaiters(limit).filter(\.request.isWait).map { waiter in
        AttemptSnapshot.WaitingCaller(
          caller: waiter.request.caller, trigger: waiter.request.trigger, io: waiter.request.io,
          blocked: now - waiter.since)
      })
  }
}
