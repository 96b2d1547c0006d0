import DatalessControl
import DatalessCore
import DatalessState
import SystemPackage

/// The state directory of a volume: what is wrong with it is said with what to do.
enum KeptState {
  /// Locks the directory, which is made if it is not there, before anything in it is written; nil for a volume that is
  /// not kept.
  ///
  /// - Throws: `LifecycleError`: exit status 1.
  static func take(_ configuration: VolumeConfiguration) throws -> StateDirectory? {
    guard configuration.writing == .kept, let path = configuration.state else { return nil }
    let directory: TrustedDirectory
    do throws(UntrustedPath) {
      directory = try TrustedDirectory.open(path, ancestors: .any, creating: true)
    } catch {
      throw LifecycleError(
        "cannot use the state directory: \(error). Make it yours alone (chmod go-w), or give another one with --state.")
    }
    return try explained { () throws(FSError) in
      try StateDirectory(directory.descriptor, path: TerminalText.escaped(path), .keep)
    }
  }

  /// Opens what is in it.
  static func open(
    _ directory: StateDirectory, _ configuration: VolumeConfiguration, root: ItemAttributes, timer: ThreadTimerLane
  ) throws -> StateVolume {
    try explained { () throws(FSError) in
      try StateVolume(
        directory, source: TerminalText.escaped(configuration.sourceBytes), root: root,
        lane: ThreadBlockingLane(timer: timer, name: "dl-state", threads: 1, limit: 2), timer: timer)
    }
  }

  private static func explained<Result>(_ body: () throws(FSError) -> Result) throws(LifecycleError) -> Result {
    do throws(FSError) {
      return try body()
    } catch {
      throw LifecycleError("cannot mount: \(error.message) (\(error.errno.name)). \(remedy(error.errno))")
    }
  }

  private static func remedy(_ errno: Errno) -> String {
    switch errno {
    case .resourceBusy: "Unmount that volume first, or give another directory with --state."
    case .invalidArgument: "Give the SOURCE that it was made with, or another directory with --state."
    case .ioError: "Nothing in it was changed. Keep a copy of it before anything else is tried."
    case .noSpace, .diskQuotaExceeded: "Make room on its disk, then mount again."
    case .readOnlyFileSystem, .permissionDenied: "Give a directory that you can write to with --state."
    case .protocolNotSupported: "Nothing in it was changed."
    default: "Give another directory with --state."
    }
  }
}
