/// Answer of `GET /v1/status`: one volume, what it is made of and what it does at this moment.
public struct VolumeStatus: Codable, Sendable, Equatable {
  /// The daemon's process id.
  public var pid: Int32
  /// 12 lowercase hexadecimal digits.
  public var session: String
  /// Absolute.
  public var mountpoint: String
  public var mountpointBase64: String?
  /// An absolute path, or a synthetic specification.
  public var source: String
  public var sourceBase64: String?
  /// Whether every change is refused with EROFS.
  public var readOnly: Bool
  /// What is in force, by the names of the options; durations in `_ns`, sizes in `_bytes`.
  public var options: [String: JSONValue]
  /// Absolute.
  public var log: String
  public var logBase64: String?
  /// Records of the event log that were lost because its ring or disk was full.
  public var logDropped: Int64
  /// The session's own folder of content; absolute.
  public var cache: String
  public var cacheBase64: String?
  public var uptimeNanoseconds: Int64
  /// RFC 3339, UTC, nine digits.
  public var started: String
  /// Release of the kernel, such as `6.18.0`.
  public var kernel: String
  /// Version of libfuse at run time.
  public var libfuse: String
  /// Which accelerations are in use: `parallel_dirops`, `direct_io_mmap`, `posix_acl`, `passthrough`, ...
  public var fastPaths: [String: JSONValue]
  public var items: ItemCounts
  /// By operation. What the kernel answers from its caches is not seen.
  public var requestsReachingTheVolume: [String: Int64]
  public var materialized: MaterializedCounts
  public var opens: OpenCounts
  /// Whether the store is made unreachable (`dataless offline`).
  public var isOffline: Bool
  /// What materializes, and with which errnos it fails.
  public var profile: ProfileStatus
  /// How metadata looks.
  public var present: PresentationStatus
  /// What all chance follows from.
  public var seed: UInt64
  /// How many rules there are.
  public var ruleCount: Int64
  /// The gates that rules name, by name.
  public var gates: [GateSummary]
  /// Attempts that are running now, oldest first; at most 1,000.
  public var inFlight: [InFlightAttempt]
  /// Only while `dataless run` measures a command.
  public var budget: BudgetStatus?
  /// What a user should know, one sentence each.
  public var warnings: [String]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case pid, session, mountpoint, source, options, log, cache, started, kernel, libfuse, items, materialized,
      opens, budget, warnings, seed, gates, profile, present
    case isOffline = "offline"
    case ruleCount = "rule_count"
    case mountpointBase64 = "mountpoint_b64"
    case sourceBase64 = "source_b64"
    case readOnly = "read_only"
    case logBase64 = "log_b64"
    case logDropped = "log_dropped"
    case cacheBase64 = "cache_b64"
    case uptimeNanoseconds = "uptime_ns"
    case fastPaths = "fast_paths"
    case requestsReachingTheVolume = "requests_reaching_the_volume"
    case inFlight = "in_flight"
  }

  public init(
    pid: Int32, session: String, mountpoint: [UInt8], source: [UInt8], readOnly: Bool, options: [String: JSONValue],
    log: [UInt8], logDropped: Int64, cache: [UInt8], uptimeNanoseconds: Int64, started: String, kernel: String,
    libfuse: String, fastPaths: [String: JSONValue], items: ItemCounts, requestsReachingTheVolume: [String: Int64],
    materialized: MaterializedCounts, opens: OpenCounts, isOffline: Bool = false, profile: ProfileStatus,
    present: PresentationStatus, seed: UInt64 = 0,
    ruleCount: Int64 = 0,
    gates: [GateSummary] = [], inFlight: [InFlightAttempt], budget: BudgetStatus? = nil, warnings: [String]
  ) {
    self.pid = pid
    self.session = session
    (self.mountpoint, mountpointBase64) = WirePath.split(mountpoint)
    (self.source, sourceBase64) = WirePath.split(source)
    self.readOnly = readOnly
    self.options = options
    (self.log, logBase64) = WirePath.split(log)
    self.logDropped = logDropped
    (self.cache, cacheBase64) = WirePath.split(cache)
    self.uptimeNanoseconds = uptimeNanoseconds
    self.started = started
    self.kernel = kernel
    self.libfuse = libfuse
    self.fastPaths = fastPaths
    self.items = items
    self.requestsReachingTheVolume = requestsReachingTheVolume
    self.materialized = materialized
    self.opens = opens
    self.isOffline = isOffline
    self.profile = profile
    self.present = present
    self.seed = seed
    self.ruleCount = ruleCount
    self.gates = gates
    self.inFlight = inFlight
    self.budget = budget
    self.warnings = warnings
  }

  public var mountpointBytes: [UInt8] { WirePath.bytes(mountpoint, mountpointBase64) }
  public var sourceBytes: [UInt8] { WirePath.bytes(source, sourceBase64) }
  public var logBytes: [UInt8] { WirePath.bytes(log, logBase64) }
  public var cacheBytes: [UInt8] { WirePath.bytes(cache, cacheBase64) }
}
