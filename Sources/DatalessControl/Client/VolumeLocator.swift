import Glibc

/// Finds the runtime directory of a mounted volume, and volumes by what is in theirs. Touches no volume.
public enum VolumeLocator {
  /// The runtime directory of a volume: the first candidate that exists, else the most likely one.
  public static func volumeDirectory(of volume: MountEntry) -> String {
    let candidates = SessionPaths.runtimeDirectoryCandidates(owner: volume.userID ?? geteuid())
      .map { SessionPaths.volumeDirectory(runtime: $0, device: volume.device) }
    return candidates.first { access($0, F_OK) == 0 } ?? candidates[0]
  }

  public static func socketPath(of volume: MountEntry) -> String {
    "\(volumeDirectory(of: volume))/\(SessionPaths.socketName)"
  }

  /// What the volume's daemon left for commands to read.
  ///
  /// - Throws: as `SessionRecord.read`.
  public static func record(of volume: MountEntry) throws(ControlError) -> SessionRecord {
    try SessionRecord.read(volumeDirectory: volumeDirectory(of: volume))
  }

  /// Whether a FUSE mount of another type is a volume of ours: its daemon's record names its type and SOURCE. A record that was
  /// left behind does not match the next mount that gets its device number.
  static func isRecorded(_ mount: MountEntry) -> Bool {
    guard mount.fileSystemType.hasPrefix("fuse."),
      mount.fileSystemType != MountEntry.datalessType,
      let record = try? record(of: mount), let subtype = record.subtype
    else { return false }
    return MountEntry.type(subtype: subtype) == mount.fileSystemType && record.sourceBytes == mount.source
  }

  /// The volume a TARGET or MOUNTPOINT argument means: any path on it will do.
  ///
  /// - Throws: `ControlError.notAVolume`, or as `PathResolver.resolve`.
  public static func volume(_ path: [UInt8]) throws(ControlError) -> MountEntry {
    guard let location = try PathResolver.current().locate(path) else { throw .notAVolume(path) }
    return location.mount
  }

  /// The mounted volume that writes the log of a session; nil when none does any more.
  public static func volume(session: String) -> MountEntry? {
    guard let mounts = try? MountTable.current() else { return nil }
    return mounts.datalessEntries.first { (try? record(of: $0))?.session == session }
  }
}
