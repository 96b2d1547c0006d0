public import SystemPackage

/// What gates hold, and let go.
extension Event {
  /// An attempt has come to a gate.
  public struct Hold: Sendable {
    public var attempt: UInt64
    public var path: [UInt8]
    public var gate: String
    public var rule: String
    public var time: MonotonicTime

    public init(attempt: UInt64, path: [UInt8], gate: String, rule: String, time: MonotonicTime) {
      self.attempt = attempt
      self.path = path
      self.gate = gate
      self.rule = rule
      self.time = time
    }
  }

  /// An attempt was let go by a gate; `errno`: to fail with it.
  public struct Release: Sendable {
    public var attempt: UInt64
    public var path: [UInt8]
    public var gate: String
    /// `command`, `api`, or `configuration` when no rule names the gate any more.
    public var by: String
    public var errno: Errno?
    public var held: Nanoseconds
    public var time: MonotonicTime

    public init(
      attempt: UInt64, path: [UInt8], gate: String, by: String, errno: Errno?, held: Nanoseconds,
      time: MonotonicTime
    ) {
      self.attempt = attempt
      self.path = path
      self.gate = gate
      self.by = by
      self.errno = errno
      self.held = held
      self.time = time
    }
  }
}
