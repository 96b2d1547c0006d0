import DatalessControl
import Glibc

/// Whether the daemon of a mounted volume lives, without asking the volume.
enum VolumeLiveness: Equatable {
  case alive
  case dead
  /// The runtime directory is gone or belongs to somebody else.
  case unknown

  /// Looks at the lock that a daemon holds as long as it lives.
  ///
  /// - Parameter runtimeDirectories: Where the volume's directory may be. Default: those of the mount's owner, for the
  ///   owner and for root.
  static func of(_ entry: MountEntry, runtimeDirectories: [String]? = nil) -> VolumeLiveness {
    let owner = entry.userID ?? geteuid()
    guard owner == geteuid() || geteuid() == 0 else { return .unknown }
    for candidate in runtimeDirectories ?? SessionPaths.runtimeDirectoryCandidates(owner: owner) {
      guard let runtime = try? SessionPaths.openRuntime(candidate, owner: owner),
        let directory = try? runtime.directory(Array(entry.device.utf8))
      else { continue }
      let state = ofLock(VolumeDirectory.lockName, in: directory)
      if state != .unknown { return state }
    }
    return .unknown
  }

  /// Dead when the lock can be had.
  static func ofLock(_ name: [UInt8], in directory: TrustedDirectory) -> VolumeLiveness {
    guard let descriptor = try? directory.file(name, O_RDONLY) else { return .unknown }
    defer { close(descriptor) }
    if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return .dead }
    return errno == EWOULDBLOCK ? .alive : .unknown
  }
}
