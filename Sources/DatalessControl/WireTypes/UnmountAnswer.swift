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

  enum CodingKeys: String, CodingKey, CaseIterable {
    case mountpoint, log, daemon
    case mountpointBase64 = "mountpoint_b64"
    case logBase64 = "log_b64"
  }

  public init(mountpoint: [UInt8], log: [UInt8]?, daemon: Daemon) {
    (self.mountpoint, mountpointBase64) = WirePath.split(mountpoint)
    if let log { (self.log, logBase64) = WirePath.split(log) }
    self.daemon = daemon
  }
}
