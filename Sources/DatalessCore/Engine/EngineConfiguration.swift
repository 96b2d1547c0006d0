/// What an engine starts with.
public struct EngineConfiguration: Sendable {
  /// What is simulated first; `Engine.apply` changes it.
  public var simulation = Simulation()
  /// Whether opens of resident files may be served by the kernel from the content file itself. Default false.
  public var passthrough = false
  /// LIMIT: on a writable volume files up to this size, in bytes, go through the page cache: a backing costs more than
  /// it saves.
  public var cachedMax: Int64 = 128 << 10
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

  /// What an earlier run has kept of uses. Default: nothing.
  public var keptUses = KeptUses()

  /// How much memory changes may take: a call that would take more fails.
  public var changeLimits = ChangeLimits()

  public init() {}

  /// Memory that changes take, in bytes, about as many as the tables take: some 650 for a file that was made. Above a
  /// limit calls fail: with ENOSPC above that of all, with EDQUOT above that of one owner's items. Root has none of his
  /// own.
  public struct ChangeLimits: Sendable, Equatable {
    /// Of items and names made on the volume, and of targets of links. Default 4 GiB: some six million files.
    public var volume: Int64
    /// The same, of one owner's items. Default 2 GiB.
    public var user: Int64
    /// Of extended attributes, inherited ACLs included. Default 256 MiB.
    public var attributes: Int64
    /// The same, of one owner's items. Default 128 MiB.
    public var userAttributes: Int64

    public init(
      volume: Int64 = 4 << 30, user: Int64 = 2 << 30, attributes: Int64 = 256 << 20, userAttributes: Int64 = 128 << 20
    ) {
      self.volume = volume
      self.user = user
      self.attributes = attributes
      self.userAttributes = userAttributes
    }
  }

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
