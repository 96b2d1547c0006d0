import Glibc
import SystemPackage

/// The runtime directory of a mounted volume, found and checked: it is the mount owner's, and nobody else's hands reach it.
public struct VolumeRuntime: Sendable {
  public let directory: TrustedDirectory

  public init(directory: TrustedDirectory) { self.directory = directory }

  /// Where the control socket is reached, as long as `directory` is held.
  public var socketPath: String { directory.path(of: SessionPaths.socketName) }

  /// Looks in the places where the mount's owner may have it. Those of another user are looked at by root only.
  ///
  /// - Throws: `ControlError`: EPERM for an ordinary user and another's volume; `.daemonNotRunning` when there is none, or
  ///   none that can be trusted.
  public static func open(_ volume: MountEntry) throws(ControlError) -> VolumeRuntime {
    let caller = geteuid()
    let owner = volume.userID ?? caller
    let name = TerminalText.escaped(volume.mountPoint)
    guard caller == owner || caller == 0 else {
      throw ControlError.system(
        .notPermitted, "cannot reach the daemon of \(name), which user \(owner) mounted",
        remedy: "Only that user and root may; run the command as one of them.")
    }
    var distrust: Distrust?
    for candidate in SessionPaths.runtimeDirectoryCandidates(owner: owner) {
      do throws(Distrust) {
        let runtime = try SessionPaths.openRuntime(candidate, owner: owner)
        return VolumeRuntime(directory: try runtime.directory(Array(volume.device.utf8)))
      } catch {
        if error.errno != .noSuchFileOrDirectory { distrust = distrust ?? error }
      }
    }
    guard let distrust else { throw .daemonNotRunning(volume.mountPoint) }
    throw ControlError(
      code: .daemonNotRunning, errno: distrust.errno,
      message: "cannot reach the daemon of \(name): \(distrust), so it is not used. "
        + "`dataless unmount \(name)` removes the mount.")
  }

  /// What the volume's daemon left for commands to read.
  ///
  /// - Throws: as `SessionRecord.read`.
  public func record() throws(ControlError) -> SessionRecord { try SessionRecord.read(from: directory) }
}
