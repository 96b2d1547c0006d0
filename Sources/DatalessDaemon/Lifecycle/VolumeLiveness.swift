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
  /// - Parameter runtimeDirectories: Where the volume's directory may be. Default: those of the mount's owner.
  static func of(_ entry: MountEntry, runtimeDirectories: [String]? = nil) -> VolumeLiveness {
    let candidates =
      runtimeDirectories ?? SessionPaths.runtimeDirectoryCandidates(owner: entry.userID ?? geteuid())
    for runtime in candidates {
      let directory = SessionPaths.volumeDirectory(runtime: runtime, device: entry.device)
      let state = ofLock(Array("\(directory)/\(SessionPaths.lockName)".utf8))
      if state != .unknown { return state }
    }
    return .unknown
  }

  /// Dead when the lock can be had.
  static func ofLock(_ path: [UInt8]) -> VolumeLiveness {
    let descriptor = CPath.with(path) { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else { return .unknown }
    defer { close(descriptor) }
    if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return .dead }
    return errno == EWOULDBLOCK ? .alive : .unknown
  }
}
