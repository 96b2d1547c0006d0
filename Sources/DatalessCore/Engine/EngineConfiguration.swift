/// What an engine starts with.
public struct EngineConfiguration: Sendable {
  /// What is simulated first; `Engine.apply` changes it.
  public var simulation = Simulation()
  /// Whether opens of resident files may be served by the kernel from the content file itself. Default false.
  public var passthrough = false
  /// Limits on what the budgeted process and its descendants may materialize.
  public var budget = Budget()

  /// The time of day (CLOCK_REALTIME), for `present.ctime`; called under the engine's lock, so it must not wait.
  public var timeOfDay: @Sendable () -> Timestamp = { Timestamp(seconds: 0, nanoseconds: 0) }

  /// With what names are hashed; to be random where names are not trusted. Default: a known key.
  public var nameKey = NameHashKey(low: 0, high: 0)

  /// What takes the changes that are to outlive the daemon. Default: nobody.
  public var journal: any JournalSink = NoJournal()

  public init() {}

  /// What may be materialized before the budget counts as exceeded; nil = any number.
  public struct Budget: Sendable, Equatable {
    public var maxFiles: Int64?
    public var maxBytes: Int64?

    public init(maxFiles: Int64? = nil, maxBytes: Int64? = nil) {
      self.maxFiles = maxFiles
      self.maxBytes = maxBytes
    }
  }
}
