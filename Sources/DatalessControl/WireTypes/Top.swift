/// A line of `dataless top --json`: one look at a volume.
public struct TopAnswer: Codable, Sendable, Equatable {
  /// Absolute.
  public var mountpoint: String
  public var mountpointBase64: String?
  public var uptimeNanoseconds: Int64
  /// Callers that are blocked, those beyond the lists of `callers` too.
  public var waiting: Int64
  /// Attempts that are running, at most 1,000.
  public var attempts: Int64
  public var totals: MaterializedCounts
  /// Since the line before; absent in the first.
  public var perSecond: TopRates?
  /// Who waits, sorted and filtered; at most 64 of each attempt.
  public var callers: [BlockedCaller]
  /// Coordinated accesses that are not granted yet, oldest first and filtered as `callers`: no thread is blocked by
  /// them. Absent where nobody has coordinated anything.
  public var intents: [WaitingIntent]?

  enum CodingKeys: String, CodingKey {
    case mountpoint, waiting, attempts, totals, callers, intents
    case mountpointBase64 = "mountpoint_b64"
    case uptimeNanoseconds = "uptime_ns"
    case perSecond = "per_second"
  }

  public init(
    mountpoint: [UInt8], uptimeNanoseconds: Int64, waiting: Int64, attempts: Int64, totals: MaterializedCounts,
    perSecond: TopRates? = nil, callers: [BlockedCaller], intents: [WaitingIntent]? = nil
  ) {
    (self.mountpoint, mountpointBase64) = WirePath.split(mountpoint)
    self.uptimeNanoseconds = uptimeNanoseconds
    self.waiting = waiting
    self.attempts = attempts
    self.totals = totals
    self.perSecond = perSecond
    self.callers = callers
    self.intents = intents
  }

  public var mountpointBytes: [UInt8] { WirePath.bytes(mountpoint, mountpointBase64) }
}

/// What happened in each second since the look before.
public struct TopRates: Codable, Sendable, Equatable {
  public var files: Double
  public var directories: Double
  /// Of files.
  public var bytes: Double
  public var failures: Double
  /// That reached the volume.
  public var requests: Double

  public init(files: Double, directories: Double, bytes: Double, failures: Double, requests: Double) {
    self.files = files
    self.directories = directories
    self.bytes = bytes
    self.failures = failures
    self.requests = requests
  }
}
