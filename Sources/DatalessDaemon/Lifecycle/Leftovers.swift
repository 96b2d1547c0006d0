public import DatalessControl
import DatalessStores
import Glibc
import SystemPackage

/// What daemons that were killed have left: their content, their runtime directories, the mountpoints of `run`.
public enum Leftovers {
  /// Removes what nobody needs any more; called at the start of every command. A few system calls when there is
  /// nothing.
  ///
  /// The mount of a dead daemon stays, except that of a `run`: it says what happened until `unmount` or the next
  /// `mount` at that place. Failures are no errors: the next command tries again.
  ///
  /// - Parameters:
  ///   - runtime: The user's runtime directory.
  ///   - caches: Directories of sessions' caches; those that dead daemons used are added.
  public static func remove(
    runtime: String = SessionPaths.runtimeDirectory(), caches: [[UInt8]] = [Array(SessionPaths.cacheDirectory().utf8)]
  ) {
    guard let mounts = try? MountTable.current() else { return }
    var caches = caches
    let names = CPath.names(in: Array(runtime.utf8)) ?? []
    for name in names where name.contains(UInt8(ascii: ":")) {
      removeVolume("\(runtime)/\(String(decoding: name, as: UTF8.self))", mounts, runtime, &caches)
    }
    if names.contains(Array(TemporaryMountpoint.directoryName.utf8)) { removeMountpoints(runtime, mounts) }
    for (index, cache) in caches.enumerated() where !caches[..<index].contains(cache) {
      _ = try? SessionDirectory.removeLeftovers(in: CPath.with(cache) { FilePath(platformString: $0) })
    }
  }

  private static func removeVolume(
    _ directory: String, _ mounts: MountTable, _ runtime: String, _ caches: inout [[UInt8]]
  ) {
    let lockPath = Array("\(directory)/\(SessionPaths.lockName)".utf8)
    let lock = CPath.with(lockPath) { open($0, O_RDWR | O_CLOEXEC | O_NONBLOCK) }
    guard lock >= 0 else { return }
    defer { close(lock) }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0, VolumeDirectory.isStill(lock, lockPath) else { return }
    if let record = try? SessionRecord.read(volumeDirectory: directory) {
      caches.append(CPath.parent(record.cacheBytes))
    }
    let device = String(decoding: PathBytes.lastComponent(directory.utf8), as: UTF8.self)
    if let entry = mounts.datalessEntries.first(where: { $0.device == device }) {
      let temporary = Array("\(runtime)/\(TemporaryMountpoint.directoryName)".utf8)
      guard PathBytes.isPrefix(temporary, of: entry.mountPoint) else { return }
      guard (try? Unmounter.detach(entry.mountPoint)) != nil else { return }
      TemporaryMountpoint.remove(entry.mountPoint)
    }
    VolumeDirectory.removeDirectory(Array(directory.utf8))
  }

  /// Mountpoints whose `run` is dead and that carry no mount.
  private static func removeMountpoints(_ runtime: String, _ mounts: MountTable) {
    let parent = Array("\(runtime)/\(TemporaryMountpoint.directoryName)".utf8)
    for name in CPath.names(in: parent) ?? [] where name.suffix(5) == TemporaryMountpoint.lockSuffix[...] {
      let lockPath = PathBytes.join(parent, name)
      let path = Array(lockPath.dropLast(5))
      guard !mounts.entries.contains(where: { $0.mountPoint == path }) else { continue }
      let lock = CPath.with(lockPath) { open($0, O_RDWR | O_CLOEXEC | O_NONBLOCK) }
      guard lock >= 0 else { continue }
      defer { close(lock) }
      guard flock(lock, LOCK_EX | LOCK_NB) == 0, VolumeDirectory.isStill(lock, lockPath) else { continue }
      TemporaryMountpoint.remove(path)
    }
  }
}
