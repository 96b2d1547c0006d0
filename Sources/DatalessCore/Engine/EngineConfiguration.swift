/// What a volume simulates: data, not code.
public struct EngineConfiguration: Sendable, Equatable {
  /// Delay before the fetch of a file's content, in nanoseconds, at least 0. Default 0.
  public var latencyNanoseconds: Int64 = 0
  /// Delay before the listing of a directory, in nanoseconds, at least 0. Default 0.
  public var directoryLatencyNanoseconds: Int64 = 0
  /// Bytes per second that all fetches share; nil = as fast as the disk. Default nil.
  public var bandwidthBytesPerSecond: Int64?
  /// How many file attempts may be in latency and transfer at once; nil = no limit. Default nil.
  public var concurrency: Int?
  /// Which signals end a wait.
  public var interruptMode: InterruptMode = .fatal
  /// Whether opens of resident files may be served by the kernel from the content file itself. Default false.
  public var passthrough = false
  /// Limits on what the budgeted process and its descendants may materialize.
  public var budget = Budget()

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

  public enum InterruptMode: String, Sendable {
    /// Only a pending SIGKILL (the kernel turns every fatal signal into it) ends the wait, with EINTR.
    case fatal
    /// Every signal ends the wait with EINTR.
    case any
  }
}
