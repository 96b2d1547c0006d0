/// A call that could be answered now, as the engine is asked whether to delay it.
public struct Access: Sendable {
  public enum Target: Sendable {
    case node(NodeID)
    /// LOOKUP: what the name leads to.
    case name([UInt8], in: NodeID)
  }

  public var operation: AccessOperation
  public var target: Target
  public var caller: Caller
  /// READ and WRITE of a file: offset and length in bytes, both 0 or more. READDIR: the cookie, and 0.
  public var offset: Int64
  public var length: Int64

  public init(
    _ operation: AccessOperation, of target: Target, caller: Caller, offset: Int64 = 0, length: Int64 = 0
  ) {
    self.operation = operation
    self.target = target
    self.caller = caller
    self.offset = offset
    self.length = length
  }
}

/// What the engine did with a call that the scenario may delay.
public enum AccessAnswer: Sendable {
  /// It waits; the completion is called exactly once.
  case delayed
  /// Nothing to wait for: no delay is meant for it, or its answer is an error or brings nothing (a name that is not
  /// there, a read at the end).
  case passes
  /// What it asks for has to be materialized first; then the engine is to be asked again. Whoever answers it without
  /// that, because the content has come in between, answers a call that was to be delayed.
  case missing
}
