public import DatalessControl
import Glibc

/// One volume's runtime directory, `<runtime>/<major>:<minor>`, held with a lock as long as its daemon lives.
///
/// Device numbers are reused as soon as a volume is gone. So the directory may be there already, left by a dead daemon,
/// and may vanish under our hands while another command cleans up; `claim` copes with both.
public final class VolumeDirectory: Sendable {
  /// Absolute.
  public let path: String
  private let lock: CInt

  public var socketPath: String { "\(path)/\(SessionPaths.socketName)" }

  private init(path: String, lock: CInt) {
    self.path = path
    self.lock = lock
  }

  deinit { close(lock) }

  /// Makes the user's runtime directory, 0700, and refuses one that somebody else could have prepared.
  ///
  /// - Throws: `LifecycleError` when it belongs to another user, is open to others, or cannot be made.
  public static func prepareRuntime(_ runtime: String) throws(LifecycleError) {
    let bytes = Array(runtime.utf8)
    if mkdir(runtime, 0o700) != 0 && errno == ENOENT {
      Directories.make(CPath.parent(bytes), mode: 0o755)
      mkdir(runtime, 0o700)
    }
    let name = "the runtime directory \(ErrorText.quoted(bytes))"
    switch CPath.status(bytes, follow: false) {
    case .failure(let failure):
      throw LifecycleError(
        "cannot make \(name): \(ErrorText.reason(failure.number)). Set XDG_RUNTIME_DIR to a directory of yours.")
    case .success(let status):
      guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
        throw LifecycleError(
          "cannot use \(name): it is not a directory of yours with mode 0700 (EPERM). Remove it or set XDG_RUNTIME_DIR."
        )
      }
    }
  }

  /// Makes and locks the directory of one volume, empty but for its lock.
  ///
  /// - Parameter device: As /proc/self/mountinfo prints it.
  /// - Throws: `LifecycleError` when a living daemon holds it or it cannot be made.
  public static func claim(runtime: String, device: String) throws(LifecycleError) -> VolumeDirectory {
    try prepareRuntime(runtime)
    let path = SessionPaths.volumeDirectory(runtime: runtime, device: device)
    let lockPath = Array("\(path)/\(SessionPaths.lockName)".utf8)
    let deadline = Deadline(milliseconds: 1000)
    repeat {
      mkdir(path, 0o700)
      let lock = CPath.with(lockPath) { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
      guard lock >= 0 else {
        // Removed between the two calls, by a command that cleans up: once more.
        if errno == ENOENT { continue }
        throw LifecycleError("cannot make '\(path)': \(ErrorText.reason(errno)). Check the room on its file system.")
      }
      if flock(lock, LOCK_EX | LOCK_NB) == 0, isStill(lock, lockPath) {
        removeContents(Array(path.utf8), except: Array(SessionPaths.lockName.utf8))
        return VolumeDirectory(path: path, lock: lock)
      }
      close(lock)
      // Somebody looks at the lock, or cleans up: both take microseconds.
      _ = DescriptorIO.waitReadable([], until: Deadline(milliseconds: 5))
    } while !deadline.hasPassed
    throw LifecycleError("cannot use '\(path)': another daemon holds it (EBUSY). See dataless status.")
  }

  /// Writes `session.json`, 0600, whole or not at all.
  ///
  /// - Throws: `LifecycleError` when there is no room.
  public func write(_ record: SessionRecord) throws {
    let bytes = try record.encoded()
    let final = Array("\(path)/\(SessionPaths.recordName)".utf8)
    let temporary = final + Array(".new".utf8)
    let descriptor = CPath.with(temporary) { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) }
    guard descriptor >= 0 else {
      throw LifecycleError("cannot write '\(path)': \(ErrorText.reason(errno)). Check the room on its file system.")
    }
    defer { close(descriptor) }
    guard DescriptorIO.write(bytes, to: descriptor),
      CPath.with(temporary, { from in CPath.with(final) { rename(from, $0) } }) == 0
    else {
      throw LifecycleError("cannot write '\(path)': \(ErrorText.reason(errno)). Check the room on its file system.")
    }
  }

  /// Removes the directory, its lock last; the lock itself stays held until this object goes.
  public func remove() { Self.removeDirectory(Array(path.utf8)) }

  /// Removes a directory of ours, one level deep, whose lock the caller holds.
  static func removeDirectory(_ path: [UInt8]) {
    let lockName = Array(SessionPaths.lockName.utf8)
    removeContents(path, except: lockName)
    _ = CPath.with(PathBytes.join(path, lockName)) { unlink($0) }
    _ = CPath.with(path) { rmdir($0) }
  }

  private static func removeContents(_ path: [UInt8], except kept: [UInt8]) {
    for name in CPath.names(in: path) ?? [] where name != kept {
      _ = CPath.with(PathBytes.join(path, name)) { unlink($0) }
    }
  }

  /// Whether the locked file is still the one that its name means.
  static func isStill(_ lock: CInt, _ path: [UInt8]) -> Bool {
    var held = stat()
    guard fstat(lock, &held) == 0, case .success(let named) = CPath.status(path, follow: false) else { return false }
    return held.st_dev == named.st_dev && held.st_ino == named.st_ino
  }
}
