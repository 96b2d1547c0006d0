/// A volume that has just begun to answer.
public struct ReadyVolume: Sendable, Codable, Equatable {
  public var mountpoint: [UInt8]
  /// The event log's file.
  public var log: [UInt8]
  public var session: String
  /// The daemon's process id.
  public var pid: Int32
  /// The volume's device as /proc/self/mountinfo prints it, such as `0:52`; empty when it could not be found there.
  public var device: String
  /// What the user should know, one sentence each.
  public var warnings: [String]

  public init(
    mountpoint: [UInt8], log: [UInt8], session: String, pid: Int32, device: String, warnings: [String]
  ) {
    self.mountpoint = mountpoint
    self.log = log
    self.session = session
    self.pid = pid
    self.device = device
    self.warnings = warnings
  }
}
