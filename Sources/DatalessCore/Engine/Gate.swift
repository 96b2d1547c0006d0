/// One gate as `gate list` shows it.
public struct GateSnapshot: Sendable {
  public var name: String
  public var isOpen: Bool
  /// Callers blocked here now.
  public var callers: Int
  /// Attempts held here now.
  public var attemptCount: Int
  /// The first of them, oldest first, each with its first callers.
  public var held: [AttemptSnapshot]
  /// Calls held here now that need no materialization; and the first of them, oldest first.
  public var accessCount: Int
  public var accesses: [Event.AccessRecord]
}

/// Which of what is held a release means.
public enum GateSelection: Sendable {
  case all
  /// The oldest so many: attempts first, then accesses.
  case first(Int)
  case attempt(UInt64)
  case path(PathPattern)
}

/// How released attempts go on.
public enum GateRelease: Sendable {
  /// On to slot, latency and fetch.
  case proceed
  case fail(FSError)
}
