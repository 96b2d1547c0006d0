import DatalessControl
import Glibc

/// The mountpoint of one `dataless run`: `<runtime>/mounts/<session>`, with a lock beside it that `run` holds.
struct TemporaryMountpoint {
  static let directoryName = "mounts"
  static let lockSuffix = Array(".lock".utf8)

  let path: [UInt8]
  private let lock: CInt

  /// - Throws: `LifecycleError` when the runtime directory cannot be used.
  static func make(runtime: String, session: String) throws(LifecycleError) -> TemporaryMountpoint {
    try VolumeDirectory.prepareRuntime(runtime)
    let parent = "\(runtime)/\(directoryName)"
    mkdir(parent, 0o700)
    let path = Array("\(parent)/\(session)".utf8)
    // Locked before the directory is there, so that no clean-up takes it for a leftover.
    let lock = CPath.with(path + lockSuffix) { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
    guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0, CPath.with(path, { mkdir($0, 0o700) }) == 0 else {
      throw LifecycleError(
        "cannot make the mountpoint \(ErrorText.quoted(path)): \(ErrorText.reason(errno)). "
          + "Check the room on its file system.")
    }
    return TemporaryMountpoint(path: path, lock: lock)
  }

  /// Gives the mountpoint up, when its volume is gone or never came.
  func remove() {
    Self.remove(path)
    close(lock)
  }

  /// Removes a mountpoint and its lock; one that is still mounted stays, with its lock.
  static func remove(_ path: [UInt8]) {
    guard CPath.with(path, { rmdir($0) }) == 0 || errno == ENOENT else { return }
    _ = CPath.with(path + lockSuffix) { unlink($0) }
    _ = CPath.with(CPath.parent(path)) { rmdir($0) }
  }
}
