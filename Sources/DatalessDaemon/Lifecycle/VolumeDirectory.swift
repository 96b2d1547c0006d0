import CDatalessLinux
public import DatalessControl
import Glibc
import SystemPackage

/// One volume's runtime directory, `<runtime>/<major>:<minor>`, held with a lock as long as its daemon lives.
///
/// Device numbers are reused as soon as a volume is gone. So the directory may be there already, left by a dead daemon,
/// and may vanish under our hands while another command cleans up; `claim` copes with both.
public final class VolumeDirectory: Sendable {
  private let runtime: TrustedDirectory
  private let directory: TrustedDirectory
  private let lock: CInt

  static let lockName = Array(SessionPaths.lockName.utf8)

  /// Absolute; for messages.
  public var path: String { String(decoding: directory.path, as: UTF8.self) }
  /// Where the daemon listens, through the directory's descriptor.
  public var socketPath: String { directory.path(of: SessionPaths.socketName) }
  /// Where programs coordinate their accesses, in the same way.
  public var coordinationPath: String { directory.path(of: SessionPaths.coordinationName) }

  private init(runtime: TrustedDirectory, directory: TrustedDirectory, lock: CInt) {
    self.runtime = runtime
    self.directory = directory
    self.lock = lock
  }

  deinit { close(lock) }

  /// Makes the user's runtime directory, 0700, and refuses one that somebody else could have prepared.
  ///
  /// - Throws: `LifecycleError` when it belongs to another user, is open to others, or cannot be made.
  @discardableResult
  public static func prepareRuntime(_ runtime: String) throws(LifecycleError) -> TrustedDirectory {
    do throws(UntrustedPath) {
      return try SessionPaths.openRuntime(runtime, creating: true)
    } catch {
      throw LifecycleError(
        "cannot use the runtime directory \(ErrorText.quoted(Array(runtime.utf8))): \(words(error)) "
          + remedy(error, for: Array(runtime.utf8)))
    }
  }

  private static func words(_ untrusted: UntrustedPath) -> String {
    guard untrusted.errno == .readOnlyFileSystem else { return "\(untrusted)." }
    return "\(ErrorText.quoted(untrusted.path)) is read-only here (EROFS), as in a sandbox or container."
  }

  private static func remedy(_ untrusted: UntrustedPath, for runtime: [UInt8]) -> String {
    let place = ErrorText.quoted(untrusted.path)
    let usesVariable = geteuid() != 0 || !SessionPaths.rootOwnsRun()
    let variable = "set XDG_RUNTIME_DIR to a directory of yours with mode 0700 that can be written to."
    guard untrusted.errno == .readOnlyFileSystem else {
      if usesVariable { return "Remove it, or \(variable)" }
      // The directory itself is closed to others; those above it are not to be written to.
      return untrusted.path == runtime
        ? "Make it a directory of root's that nobody else can enter: chmod 0700 \(place)."
        : "Make it a directory of root's that nobody else can write to: chmod go-w \(place)."
    }
    let writable = "a file system of memory there (bwrap --tmpfs \(place), docker run --tmpfs \(place))"
    return usesVariable ? "Put \(writable), or \(variable)" : "Put \(writable)."
  }

  /// Makes and locks the directory of one volume, empty but for its lock.
  ///
  /// - Parameter device: As /proc/self/mountinfo prints it.
  /// - Throws: `LifecycleError` when a living daemon holds it or it cannot be made.
  public static func claim(runtime: String, device: String) throws(LifecycleError) -> VolumeDirectory {
    let parent = try prepareRuntime(runtime)
    let path = SessionPaths.volumeDirectory(runtime: runtime, device: device)
    // The kernel gives a device number away again as soon as its mount is gone. A daemon that held it may still be busy
    // with its last stacks (2 s), its log (1 s) and what it keeps (6 s) then, each of which takes longer on a machine
    // that has no time for it. It ends: two volumes that live never have one number.
    let deadline = Deadline(milliseconds: 60_000)
    repeat {
      let directory: TrustedDirectory
      let lock: CInt
      do throws(UntrustedPath) {
        directory = try parent.directory(Array(device.utf8), creating: true)
        lock = try directory.file(lockName, O_RDWR | O_CREAT)
      } catch {
        // Removed between the two calls, by a command that cleans up: once more.
        if error.errno == .noSuchFileOrDirectory { continue }
        throw LifecycleError("cannot make '\(path)': \(error). Check the room on its file system.")
      }
      if flock(lock, LOCK_EX | LOCK_NB) == 0, directory.isStill(lock, lockName) {
        // By this the kernel tells who holds it: `DaemonIdentity`. The process must never open the file again.
        _ = clinux_take_record_lock(lock)
        directory.removeFiles(except: lockName)
        return VolumeDirectory(runtime: parent, directory: directory, lock: lock)
      }
      close(lock)
      // Mostly somebody looks at the lock, or cleans up: both take microseconds.
      _ = DescriptorIO.waitReadable([], until: Deadline(milliseconds: 5))
    } while !deadline.hasPassed
    throw LifecycleError("cannot use '\(path)': another daemon holds it (EBUSY). See dataless status.")
  }

  /// Writes `session.json`, 0600, whole or not at all.
  ///
  /// - Throws: `LifecycleError` when there is no room.
  public func write(_ record: SessionRecord) throws {
    let bytes = try record.encoded()
    let final = Array(SessionPaths.recordName.utf8)
    let temporary = final + Array(".new".utf8)
    do throws(UntrustedPath) {
      let descriptor = try directory.file(temporary, O_WRONLY | O_CREAT | O_TRUNC)
      defer { close(descriptor) }
      guard DescriptorIO.write(bytes, to: descriptor) else {
        throw UntrustedPath(PathBytes.join(directory.path, temporary), .system(.init(rawValue: errno)))
      }
      try directory.rename(temporary, to: final)
    } catch {
      throw LifecycleError("cannot write '\(path)': \(error). Check the room on its file system.")
    }
  }

  /// Removes the directory, its lock last; the lock itself stays held until this object goes.
  public func remove() { Self.remove(directory, in: runtime) }

  /// Removes a directory of ours, one level deep, whose lock the caller holds.
  static func remove(_ directory: TrustedDirectory, in runtime: TrustedDirectory) {
    directory.removeFiles(except: lockName)
    directory.unlink(lockName)
    runtime.removeDirectory(PathBytes.lastComponent(directory.path))
  }
}
