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

  /// What an earlier run has kept; nil if there was none. Default: none.
  public var savedState: (any SavedState)?

  /// Whether, and how, the volume is writable. Default: not.
  public var writing = Writing.readOnly
  /// The first inode number of what is made on the volume, without bit 62, which all of them have: at least 1. What was
  /// made before has the numbers below it.
  public var firstMadeNumber: UInt64 = 1

  public init() {}

  /// How a volume is writable.
  public enum Writing: Sendable {
    /// Every change fails with EROFS.
    case readOnly
    /// What is changed is forgotten when the volume ends.
    case scratch
    /// What is changed outlives the volume: it is told to `journal`.
    case kept
  }

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
