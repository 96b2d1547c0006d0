extension Event {
  /// One call on what is local that a scenario delays. `blocked` and `outcome` are nil in `accessStarted`.
  public struct AccessRecord: Sendable {
    /// The call's number, from 1.
    public var access: UInt64
    public var operation: AccessOperation
    public var path: [UInt8]
    /// All known names of a file that has several, `path` among them; else empty.
    public var names: [[UInt8]]
    public var kind: MaterializationKind
    public var caller: Caller
    /// What a read brings, or a write has; nil for other operations and for directories.
    public var range: Range<Int64>?
    /// 0 at a gate.
    public var requestedDelay: Nanoseconds
    /// The gate that holds it, instead of a delay.
    public var gate: String?
    /// The rule that decided the delay; nil for the volume's setting.
    public var rule: String?
    public var blocked: Nanoseconds?
    public var outcome: Outcome?
    /// As of `WaitRecord`.
    public var takesStack: Bool?
    public var time: MonotonicTime

    public init(
      access: UInt64, operation: AccessOperation, path: [UInt8], names: [[UInt8]] = [], kind: MaterializationKind,
      caller: Caller, range: Range<Int64>? = nil, requestedDelay: Nanoseconds, gate: String? = nil,
      rule: String? = nil,
      blocked: Nanoseconds? = nil, outcome: Outcome? = nil, takesStack: Bool? = nil, time: MonotonicTime
    ) {
      self.access = access
      self.operation = operation
      self.path = path
      self.names = names
      self.kind = kind
      self.caller = caller
      self.range = range
      self.requestedDelay = requestedDelay
      self.gate = gate
      self.rule = rule
      self.blocked = blocked
      self.outcome = outcome
      self.takesStack = takesStack
      self.time = time
    }
  }
}
