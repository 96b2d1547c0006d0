public import DatalessControl
import DatalessStores
import Glibc
import SystemPackage

/// Sessions whose daemon was killed. They leave content, a runtime directory, and the mountpoint of a `run` behind.
public enum StaleSessions {
  /// Removes what they left and nobody needs any more. Called at the start of every command: when there is nothing, it
  /// takes a few system calls.
  ///
  /// The mount of a dead daemon stays, except that of a `run`: it says what happened until `unmount` or the next
  /// `mount` at that place. Failures are no errors: the next command tries again. A runtime directory that somebody
  /// else could have prepared counts as not there.
  ///
  /// - Parameters:
  ///   - runtime: The user's runtime directory.
  ///   - caches: Directories of sessions' caches; those that dead daemons used are added.
  public static func remove(
    runtime: String = SessionPaths.runtimeDirectory(), caches: [[UInt8]] = [Array(SessionPaths.cacheDirectory().utf8)]
  ) {
    guard let mounts = try? MountTable.current() else { return }
    var caches = caches
    if let directory = try? SessionPaths.openRuntime(runtime), let names = try? directory.names() {
      for name in names where isDevice(name) { removeVolume(name, in: directory, mounts: mounts, caches: &caches) }
      if names.contains(TemporaryMountpoint.directoryName) { removeMountpoints(directory, mounts) }
    }
    for (index, cache) in caches.enumerated() where !caches[..<index].contains(cache) {
      guard let path = OwnPath.resolve(cache) else { continue }
      _ = try? SessionDirectory.removeStaleSessions(in: CPath.with(path) { FilePath(platformString: $0) })
    }
  }

  /// `<major>:<minor>`.
  private static func isDevice(_ name: [UInt8]) -> Bool {
    let parts = name.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    return parts.count == 2
      && parts.allSatisfy { part in
        !part.isEmpty && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      }
  }

  private static func removeVolume(
    _ name: [UInt8], in runtime: TrustedDirectory, mounts: MountTable, caches: inout [[UInt8]]
  ) {
    guard let directory = try? runtime.directory(name),
      let lock = try? directory.file(VolumeDirectory.lockName, O_RDWR)
    else { return }
    defer { close(lock) }
    guard flock(lock, LOCK_EX | LOCK_NB) == 0, directory.isStill(lock, VolumeDirectory.lockName) else { return }
    if let record = try? SessionRecord.read(from: directory),
      PathBytes.lastComponent(record.cacheBytes) == Array(record.session.utf8)
    {
      caches.append(CPath.parent(record.cacheBytes))
    }
    let device = String(decoding: name, as: UTF8.self)
    if let entry = mounts.datalessEntries.first(where: { $0.device == device }) {
      let temporary = PathBytes.join(runtime.path, TemporaryMountpoint.directoryName)
      guard CPath.parent(entry.mountPoint) == temporary, (try? Unmounter.detach(entry.mountPoint)) != nil else {
        return
      }
      if let parent = try? runtime.directory(TemporaryMountpoint.directoryName) {
        TemporaryMountpoint.remove(PathBytes.lastComponent(entry.mountPoint), in: parent, of: runtime)
      }
    }
    VolumeDirectory.remove(directory, in: runtime)
  }

  /// Mountpoints whose `run` is dead and that carry no mount.
  private static func removeMountpoints(_ runtime: TrustedDirectory, _ mounts: MountTable) {
    guard let parent = try? runtime.directory(TemporaryMountpoint.directoryName) else { return }
    let suffix = TemporaryMountpoint.lockSuffix
    for name in (try? parent.names()) ?? [] where name.suffix(suffix.count) == suffix[...] {
      let session = Array(name.dropLast(suffix.count))
      let path = PathBytes.join(parent.path, session)
      guard !session.isEmpty, !mounts.entries.contains(where: { $0.mountPoint == path }),
        let lock = try? parent.file(name, O_RDWR)
      else { continue }
      defer { close(lock) }
      guard flock(lock, LOCK_EX | LOCK_NB) == 0, parent.isStill(lock, name) else { continue }
      TemporaryMountpoint.remove(session, in: parent, of: runtime)
    }
  }
}
