/// What `dataless mount --json` prints: the volume that it mounted.
public struct MountAnswer: Codable, Sendable, Equatable {
  /// What becomes of what programs change.
  public enum Changes: String, Codable, Sendable, CaseIterable {
    /// There is nothing: every change is refused.
    case refused
    /// It is forgotten when the volume is unmounted (`--scratch`).
    case forgotten
    /// It is kept in the state directory (`--state`).
    case kept
  }

  public var changes: Changes
  /// `major:minor`, as in /proc/self/mountinfo; it names the runtime directory.
  public var device: String
  /// The event log; absolute.
  public var log: String
  public var logBase64: String?
  /// Absolute.
  public var mountpoint: String
  public var mountpointBase64: String?
  /// The daemon's process id.
  public var pid: Int32
  /// Whether every change is refused with EROFS.
  public var readOnly: Bool
  /// 12 lowercase hexadecimal digits.
  public var session: String
  /// Where the control API is reached; absolute.
  public var socket: String
  /// An absolute path, or a synthetic specification.
  public var source: String
  public var sourceBase64: String?
  /// What a user should know, one sentence each.
  public var warnings: [String]
  /// What in the scenario hardly can be meant; at most 20.
  public var scenarioWarnings: [WireProblem]

  enum CodingKeys: String, CodingKey {
    case changes, device, log, mountpoint, pid, session, socket, source, warnings
    case logBase64 = "log_b64"
    case mountpointBase64 = "mountpoint_b64"
    case readOnly = "read_only"
    case sourceBase64 = "source_b64"
    case scenarioWarnings = "scenario_warnings"
  }

  public init(
    changes: Changes, device: String, log: [UInt8], mountpoint: [UInt8], pid: Int32, session: String, socket: String,
    source: [UInt8], warnings: [String], scenarioWarnings: [WireProblem] = []
  ) {
    self.changes = changes
    self.device = device
    (self.log, logBase64) = WirePath.split(log)
    (self.mountpoint, mountpointBase64) = WirePath.split(mountpoint)
    self.pid = pid
    readOnly = changes == .refused
    self.session = session
    self.socket = socket
    (self.source, sourceBase64) = WirePath.split(source)
    self.warnings = warnings
    self.scenarioWarnings = scenarioWarnings
  }
}

/// What `dataless unmount --json` prints.
public struct UnmountAnswer: Codable, Sendable, Equatable {
  /// What became of the daemon.
  public enum Daemon: String, Codable, Sendable, CaseIterable {
    /// It ended when it was asked to.
    case ended
    /// It was dead before, and only its mount was left.
    case wasDead = "was_dead"
    /// It did not end in time.
    case killed
    /// What answered on the control socket was not the daemon; no process was signalled.
    case notItsOwn = "not_its_own"
    /// It lives in another pid namespace and did not end.
    case notSeen = "not_seen"
  }

  /// Absolute.
  public var mountpoint: String
  public var mountpointBase64: String?
  /// The event log, which stays; absent when nothing says where it is.
  public var log: String?
  public var logBase64: String?
  public var daemon: Daemon
  /// What was changed on the volume and is forgotten; only of one that could be written to, and whose daemon said it.
  public var dropped: ChangeCounts?
  /// What was changed on the volume and is in its state directory, as far as it was looked into; only of one that is
  /// kept, and whose daemon said it.
  public var kept: ChangeCounts?

  enum CodingKeys: String, CodingKey {
    case mountpoint, log, daemon, dropped, kept
    case mountpointBase64 = "mountpoint_b64"
    case logBase64 = "log_b64"
  }

  public init(
    mountpoint: [UInt8], log: [UInt8]?, daemon: Daemon, dropped: ChangeCounts? = nil, kept: ChangeCounts? = nil
  ) {
    (self.mountpoint, mountpointBase64) = WirePath.split(mountpoint)
    if let log { (self.log, logBase64) = WirePath.split(log) }
    self.daemon = daemon
    self.dropped = dropped
    self.kept = kept
  }
}

/// Answer of `POST /v1/unmount`: the daemon has begun to end.
public struct AcceptedAnswer: Codable, Sendable, Equatable {
  /// The daemon's process id, whose end means that all is cleaned up.
  public var pid: Int32
  /// What was changed on the volume and will be forgotten; only of one that can be written to.
  public var dropped: ChangeCounts?
  /// What was changed on the volume and will be in its state directory; only of one that is kept.
  public var kept: ChangeCounts?

  public init(pid: Int32, dropped: ChangeCounts? = nil, kept: ChangeCounts? = nil) {
    self.pid = pid
    self.dropped = dropped
    self.kept = kept
  }
}

/// A volume of another user in root's list of volumes: what the mount table says of it. Its daemon was not asked.
public struct UnaskedVolume: Codable, Sendable, Equatable {
  /// Absolute.
  public var mountpoint: String
  public var mountpointBase64: String?
  /// An absolute path, or a synthetic specification.
  public var source: String
  public var sourceBase64: String?
  /// Who mounted it; absent when the mount table does not say.
  public var userID: UInt32?
  /// False: what tells these from volumes whose daemon answered.
  public var isAsked = false

  enum CodingKeys: String, CodingKey {
    case mountpoint, source
    case mountpointBase64 = "mountpoint_b64"
    case sourceBase64 = "source_b64"
    case userID = "user_id"
    case isAsked = "asked"
  }

  public init(mountpoint: [UInt8], source: [UInt8], userID: UInt32?) {
    (self.mountpoint, mountpointBase64) = WirePath.split(mountpoint)
    (self.source, sourceBase64) = WirePath.split(source)
    self.userID = userID
  }
}
