/// What `dataless mount --json` prints: the volume that it mounted.
public struct MountAnswer: Codable, Sendable, Equatable {
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
  /// An absolute path, or a synthetic specification.
  public var source: String
  public var sourceBase64: String?
  /// What a user should know, one sentence each.
  public var warnings: [String]
  /// What in the scenario hardly can be meant; at most 20.
  public var scenarioWarnings: [WireProblem]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case device, log, mountpoint, pid, session, source, warnings
    case logBase64 = "log_b64"
    case mountpointBase64 = "mountpoint_b64"
    case readOnly = "read_only"
    case sourceBase64 = "source_b64"
    case scenarioWarnings = "scenario_warnings"
  }

  public init(
    device: String, log: [UInt8], mountpoint: [UInt8], pid: Int32, readOnly: Bool, session: String, source: [UInt8],
    warnings: [String], scenarioWarnings: [WireProblem] = []
  ) {
    self.device = device
    (self.log, logBase64) = WirePath.split(log)
    (self.mountpoint, mountpointBase64) = WirePath.split(mountpoint)
    self.pid = pid
    self.readOnly = readOnly
    self.session = session
    (self.source, sourceBase64) = WirePath.split(source)
    self.warnings = warnings
    self.scenarioWarnings = scenarioWarnings
  }
}
