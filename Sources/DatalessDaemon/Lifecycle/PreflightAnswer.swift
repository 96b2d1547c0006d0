/// What the checks before a mount found.
public enum PreflightAnswer: Sendable, Codable, Equatable {
  /// Nothing stands against the mount.
  case passed(PreflightResult)
  /// A reason against it, as one line.
  case failed(message: String, exitCode: Int32)
  /// MOUNTPOINT is still covered by the mount of a dead daemon, which has to go first.
  case deadMount(mountpoint: [UInt8])
}
