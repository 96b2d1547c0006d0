import Glibc

/// Finds mounted volumes by path, and by what their daemons left. Touches no volume, and nothing of other users but the
/// one volume that root names.
public enum VolumeLocator {
  /// What the volume's daemon left for commands to read.
  ///
  /// - Throws: as `VolumeRuntime.open` and `SessionRecord.read`.
  public static func record(of volume: MountEntry) throws(ControlError) -> SessionRecord {
    try VolumeRuntime.open(volume).record()
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

  /// Whether this user mounted it: other users' mounts are known by their type alone.
  static func isOwn(_ mount: MountEntry) -> Bool { mount.userID == geteuid() }

  /// The volume a TARGET or MOUNTPOINT argument means: any path on it will do.
  ///
  /// - Throws: `ControlError.notAVolume`, or as `PathResolver.resolve`.
  public static func volume(_ path: [UInt8]) throws(ControlError) -> MountEntry {
    guard let location = try PathResolver.current().locate(path) else { throw .notAVolume(path) }
    return location.mount
  }

  /// This user's mounted volume that writes the log of a session; nil when none does any more.
  public static func volume(session: String) -> MountEntry? {
    guard let mounts = try? MountTable.current() else { return nil }
    return mounts.datalessEntries.first { isOwn($0) && (try? record(of: $0))?.session == session }
  }
}
