import Glibc
import SystemPackage

/// Finds mounted volumes by path, and by what their daemons left. Touches no volume, and nothing of other users but the
/// one volume that root names.
public enum VolumeLocator {
  /// What the volume's daemon left for commands to read.
  ///
  /// - Throws: as `VolumeRuntime.open` and `SessionRecord.read`.
  public static func record(of volume: MountEntry) throws(ControlError) -> SessionRecord {
    try VolumeRuntime.open(volume).record()
  }

  /// Whether a FUSE mount of another type is a volume of ours: its daemon's record names its type and SOURCE. A record
  /// that was left behind does not match the next mount that gets its device number.
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

/// The runtime directory of a mounted volume, found and checked: it is the mount owner's, and nobody else's hands reach
/// it.
public struct VolumeRuntime: Sendable {
  public let directory: TrustedDirectory

  public init(directory: TrustedDirectory) { self.directory = directory }

  /// Where the control socket is reached, as long as `directory` is held.
  public var socketPath: String { directory.path(of: SessionPaths.socketName) }

  /// Looks in the places where the mount's owner may have it. Those of another user are looked at by root only.
  ///
  /// - Throws: `ControlError`: EPERM for an ordinary user and another's volume; `.daemonNotRunning` when there is none,
  ///   or none that can be trusted.
  public static func open(_ volume: MountEntry) throws(ControlError) -> VolumeRuntime {
    let caller = geteuid()
    let owner = volume.userID ?? caller
    let name = TerminalText.escaped(volume.mountPoint)
    guard caller == owner || caller == 0 else {
      throw ControlError.system(
        .notPermitted, "cannot reach the daemon of \(name), which user \(owner) mounted",
        remedy: "Only that user and root may; run the command as one of them.")
    }
    var untrusted: UntrustedPath?
    for candidate in SessionPaths.runtimeDirectoryCandidates(owner: owner) {
      do throws(UntrustedPath) {
        let runtime = try SessionPaths.openRuntime(candidate, owner: owner)
        return VolumeRuntime(directory: try runtime.directory(Array(volume.device.utf8)))
      } catch {
        if error.errno != .noSuchFileOrDirectory { untrusted = untrusted ?? error }
      }
    }
    guard let untrusted else { throw .daemonNotRunning(volume.mountPoint) }
    throw ControlError(
      code: .daemonNotRunning, errno: untrusted.errno,
      message: "cannot reach the daemon of \(name): \(untrusted), so it is not used. "
        + "`dataless unmount \(ShellText.word(volume.mountPoint))` removes the mount.")
  }

  /// What the volume's daemon left for commands to read.
  ///
  /// - Throws: as `SessionRecord.read`.
  public func record() throws(ControlError) -> SessionRecord { try SessionRecord.read(from: directory) }
}
