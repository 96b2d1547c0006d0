import CDatalessLinux
public import DatalessControl
import Glibc

/// Which process is the daemon of a volume, as the kernel says: it holds a record lock on the volume's `lock` file, and
/// F_GETLK names the holder. What a socket answers or a file says is not asked.
public enum DaemonIdentity: Sendable {
  case process(ProcessHandle)
  /// The lock is free: there is no daemon.
  case none
  /// It is held in a pid namespace that cannot be seen from here.
  case elsewhere
  /// Its holder does not run as the mount's owner, but (also) as this user: whatever it is, it is no daemon of that
  /// volume.
  case foreign(UInt32)
  /// The runtime directory is not to be trusted, or the system has no pidfds.
  case unknown

  /// - Parameter runtime: Checked and held; its owner is the mount's.
  public static func of(_ runtime: VolumeRuntime) -> DaemonIdentity {
    guard let lock = try? runtime.directory.file(VolumeDirectory.lockName, O_RDONLY) else { return .unknown }
    defer { close(lock) }
    for _ in 0..<10 {
      guard let pid = holder(of: lock) else {
        // A daemon without a record lock would be one of another version.
        return VolumeLiveness.ofLock(VolumeDirectory.lockName, in: runtime.directory) == .alive ? .unknown : .none
      }
      guard pid > 0 else { return .elsewhere }
      guard let process = ProcessHandle(pid: pid) else {
        if holder(of: lock) == pid { return .unknown }
        continue
      }
      // It held the lock before and after its descriptor was had, so the descriptor is its own, not a successor's.
      guard holder(of: lock) == pid, let users = process.userIDs else { continue }
      if let other = users.first(where: { $0 != runtime.directory.owner }) { return .foreign(other) }
      return .process(process)
    }
    return .unknown
  }

  /// The process that holds a record lock; 0 for one in another pid namespace, nil when nobody does.
  private static func holder(of lock: CInt) -> pid_t? {
    var (start, pid): (Int64, Int32) = (0, 0)
    return clinux_find_record_lock(lock, 0, 0, &start, &pid) == 1 ? max(pid, 0) : nil
  }
}

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
