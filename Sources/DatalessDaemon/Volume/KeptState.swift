import DatalessControl
import DatalessCore
import DatalessScenario
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
        "cannot use the state directory: \(error). \(error.remedy(or: "give another one with --state"))")
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

  /// The scenario of a volume that is kept. One that says areas is kept by them; one that does not has those that the
  /// last mount has said which did.
  static func scenario(_ document: ScenarioDocument, _ volume: StateVolume) throws -> ScenarioDocument {
    if let areas = document.root["areas"] {
      let isNone = document.simulation.areas.isEmpty
      try explained { () throws(FSError) in try volume.keepAreas(isNone ? nil : areas.json(pretty: false)) }
      return document
    }
    guard let kept = try explained({ () throws(FSError) in try volume.keptAreas() }) else { return document }
    do throws(ScenarioError) {
      return try document.setting([(key: "areas", value: String(decoding: kept, as: UTF8.self))])
    } catch {
      throw LifecycleError(
        "cannot mount: the areas that the state directory has are none (EINVAL). Give others with --scenario, or"
          + " 'areas: none'. \(error)")
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
