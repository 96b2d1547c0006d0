/// What `dataless run` adds to a volume: the command, whose materializations count, and how many are allowed.
public struct RunPlan: Sendable, Codable, Equatable {
  /// The command with its arguments, after `{}` was replaced; for the record `run.started`.
  public var command: [[UInt8]]
  /// The process whose descendants' materializations count.
  public var rootPid: Int32
  /// Files that may be materialized before the budget is exceeded, at least 0; nil means any number.
  public var maxFiles: Int64?
  /// Bytes that may be materialized before the budget is exceeded, at least 0; nil means any number.
  public var maxBytes: Int64?

  public init(command: [[UInt8]], rootPid: Int32, maxFiles: Int64?, maxBytes: Int64?) {
    self.command = command
    self.rootPid = rootPid
    self.maxFiles = maxFiles
    self.maxBytes = maxBytes
  }
}
