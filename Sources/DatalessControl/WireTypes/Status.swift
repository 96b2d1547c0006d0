/// Answer of `GET /v1/status`: one volume, what it is made of and what it does at this moment.
public struct VolumeStatus: Codable, Sendable, Equatable {
  /// The daemon's process id.
  public var pid: Int32
  /// 12 lowercase hexadecimal digits.
  public var session: String
  /// Absolute.
  public var mountpoint: String
  public var mountpointBase64: String?
  /// Where the control API is reached; absolute. Older daemons do not say it.
  public var socket: String?
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
  /// What was changed on the volume; only of one that can be written to.
  public var changes: ChangeCounts?
  /// What was changed on the volume and in SOURCE, too, and is not resolved; only of a volume that can be written to.
  public var conflicts: Int64?
  /// Only where local content has a limit (`quota`).
  public var room: RoomCounts?
  /// Only while something that was removed, or evicted, is still to be given back.
  public var trash: TrashCounts?
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
  /// Calls on what is local that are delayed; only if the scenario delays some, or has.
  public var access: AccessStatus?
  /// Intents of programs that coordinate their accesses; nil where nobody has done so.
  public var coordination: CoordinationStatus?
  /// Only while `dataless run` measures a command.
  public var budget: BudgetStatus?
  /// What a user should know, one sentence each.
  public var warnings: [String]

  enum CodingKeys: String, CodingKey {
    case pid, session, mountpoint, socket, source, options, log, cache, started, kernel, libfuse, items, materialized,
      opens, access, budget, coordination, warnings, seed, gates, profile, present, changes, room, trash, conflicts
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
    pid: Int32, session: String, mountpoint: [UInt8], socket: String? = nil, source: [UInt8], readOnly: Bool,
    options: [String: JSONValue],
    log: [UInt8], logDropped: Int64, cache: [UInt8], uptimeNanoseconds: Int64, started: String, kernel: String,
    libfuse: String, fastPaths: [String: JSONValue], items: ItemCounts, changes: ChangeCounts? = nil,
    conflicts: Int64? = nil, room: RoomCounts? = nil, trash: TrashCounts? = nil,
    requestsReachingTheVolume: [String: Int64],
    materialized: MaterializedCounts, opens: OpenCounts, isOffline: Bool = false, profile: ProfileStatus,
    present: PresentationStatus, seed: UInt64 = 0,
    ruleCount: Int64 = 0,
    gates: [GateSummary] = [], inFlight: [InFlightAttempt], access: AccessStatus? = nil,
    coordination: CoordinationStatus? = nil,
    budget: BudgetStatus? = nil, warnings: [String]
  ) {
    self.pid = pid
    self.session = session
    (self.mountpoint, mountpointBase64) = WirePath.split(mountpoint)
    self.socket = socket
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
    self.changes = changes
    self.conflicts = conflicts
    self.room = room
    self.trash = trash
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
    self.access = access
    self.coordination = coordination
    self.budget = budget
    self.warnings = warnings
  }

  public var mountpointBytes: [UInt8] { WirePath.bytes(mountpoint, mountpointBase64) }
  public var sourceBytes: [UInt8] { WirePath.bytes(source, sourceBase64) }
  public var logBytes: [UInt8] { WirePath.bytes(log, logBase64) }
  public var cacheBytes: [UInt8] { WirePath.bytes(cache, cacheBase64) }
}

/// What materializes on a volume, and with which errnos it fails.
public struct ProfileStatus: Codable, Sendable, Equatable {
  /// `macos`, `open`, `windows`, `openvfs`, or `custom` for one of the user's own.
  public var name: String
  /// The operations that materialize a file: `read`, `open`, `xattr`, `seek`.
  public var files: [String]
  /// The operations that list a directory: `readdir`, `lookup`, `open`, `xattr`.
  public var directories: [String]
  /// Names of errnos, by `refused`, `offline`, `timeout`, `superseded`, `gone` and `failed`, which is absent where the
  /// store's own errno stays.
  public var errnos: [String: String]
  /// The same for directories.
  public var directoryErrnos: [String: String]
  /// `stale` or `keep`.
  public var residentChanges: String

  enum CodingKeys: String, CodingKey {
    case name, files, directories, errnos
    case directoryErrnos = "directory_errnos"
    case residentChanges = "resident_changes"
  }

  public init(
    name: String, files: [String], directories: [String], errnos: [String: String], directoryErrnos: [String: String],
    residentChanges: String
  ) {
    self.name = name
    self.files = files
    self.directories = directories
    self.errnos = errnos
    self.directoryErrnos = directoryErrnos
    self.residentChanges = residentChanges
  }
}

/// How metadata looks on a volume.
public struct PresentationStatus: Codable, Sendable, Equatable {
  /// `zero`, `one` or `real`.
  public var blocks: String
  /// `stable` or `bump`.
  public var ctime: String
  /// `data` or `hole`.
  public var seek: String
  /// The name of the extended attribute that tells the state; absent for none.
  public var state: String?
  /// Whether listxattr(2) shows it.
  public var stateListed: Bool
  /// The file system type is `fuse.<subtype>`.
  public var subtype: String

  enum CodingKeys: String, CodingKey {
    case blocks, ctime, seek, state, subtype
    case stateListed = "state_listed"
  }

  public init(blocks: String, ctime: String, seek: String, state: String?, stateListed: Bool, subtype: String) {
    self.blocks = blocks
    self.ctime = ctime
    self.seek = seek
    self.state = state
    self.stateListed = stateListed
    self.subtype = subtype
  }
}
