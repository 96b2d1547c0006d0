import DatalessControl
import Glibc
import SystemPackage

/// The mountpoint of one `dataless run`: `<runtime>/mounts/<session>`, with a lock beside it that `run` holds.
struct TemporaryMountpoint {
  static let directoryName = Array("mounts".utf8)
  static let lockSuffix = Array(".lock".utf8)

  let path: [UInt8]
  private let runtime: TrustedDirectory
  private let lock: CInt

  /// - Throws: `LifecycleError` when the runtime directory cannot be used.
  static func make(runtime: String, session: String) throws(LifecycleError) -> TemporaryMountpoint {
    let directory = try VolumeDirectory.prepareRuntime(runtime)
    let name = Array(session.utf8)
    // A command that cleans up removes an empty directory of mountpoints between two of our calls: then once more.
    for _ in 0..<100 {
      do throws(UntrustedPath) {
        let parent = try directory.directory(directoryName, creating: true)
        // Locked before the directory is there, so that no clean-up takes it for a leftover.
        let lock = try parent.file(name + lockSuffix, O_RDWR | O_CREAT)
        guard flock(lock, LOCK_EX | LOCK_NB) == 0, parent.isStill(lock, name + lockSuffix) else {
          close(lock)
          continue
        }
        do throws(UntrustedPath) {
          _ = try parent.directory(name, creating: true)
        } catch {
          close(lock)
          throw error
        }
        return TemporaryMountpoint(path: PathBytes.join(parent.path, name), runtime: directory, lock: lock)
      } catch {
        if error.errno == .noSuchFileOrDirectory { continue }
        throw LifecycleError("cannot make the mountpoint of this run: \(error). Check the room on its file system.")
      }
    }
    throw LifecycleError(
      "cannot make a mountpoint below \(ErrorText.quoted(directory.path)): other commands clean up there all the time "
        + "(EBUSY). Try again.")
  }

  /// Nobody but root enters a runtime directory of somebody else's, where sockets and records lie, and so nobody else
  /// reaches a mountpoint in it.
  static func warnings(_ mountpoint: [UInt8], allowOther: Bool) -> [String] {
    guard allowOther else { return [] }
    return [
      "--allow-other: other users, but for root, cannot reach the mountpoint of run, which lies in "
        + "\(ErrorText.quoted(CPath.parent(mountpoint))) (mode 0700; EACCES). For them, use dataless mount "
        + "--allow-other."
    ]
  }

  /// Gives the mountpoint up, when its volume is gone or never came.
  func remove() {
    Self.remove(path, of: runtime)
    close(lock)
  }

  /// Removes a mountpoint, given by its path, and its lock; one that is still mounted stays, with its lock. Does
  /// nothing for a path that is none of a `run`'s.
  static func remove(_ path: [UInt8], of runtime: TrustedDirectory) {
    guard CPath.parent(path) == PathBytes.join(runtime.path, directoryName),
      let parent = try? runtime.directory(directoryName)
    else { return }
    remove(PathBytes.lastComponent(path), in: parent, of: runtime)
  }

  static func remove(_ session: [UInt8], in parent: TrustedDirectory, of runtime: TrustedDirectory) {
    guard [0, ENOENT].contains(parent.removeDirectory(session)) else { return }
    parent.unlink(session + lockSuffix)
    runtime.removeDirectory(directoryName)
  }
}
