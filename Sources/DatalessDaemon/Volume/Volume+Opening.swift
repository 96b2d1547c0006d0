import DatalessControl
import DatalessCore
import DatalessScenario
import DatalessState
import FuseKit
import Glibc
import SystemPackage

/// What a volume is made from.
extension Volume {
  /// The command has checked it: what is wrong here, another version of the program wrote.
  static func document(_ configuration: VolumeConfiguration) throws -> ScenarioDocument {
    do throws(ScenarioError) {
      return try ScenarioDocument(parsing: Array(configuration.scenario.utf8), name: "scenario")
    } catch {
      throw LifecycleError("cannot use the scenario (EINVAL). \(error)", exitCode: 2)
    }
  }

  /// From getrandom(2), by way of the system's generator, which never fails.
  static func randomKey() -> NameHashKey {
    var random = SystemRandomNumberGenerator()
    return NameHashKey(low: random.next(), high: random.next())
  }

  static func openLog(_ configuration: VolumeConfiguration) throws -> EventLog {
    let descriptor: CInt
    do throws(Errno) {
      descriptor = try EventLog.open(path: configuration.log)
    } catch {
      let reason =
        switch error {
        case .notPermitted: "it belongs to another user (EPERM)"
        case .tooManyLinks: "it has other names, hard links (EMLINK)"
        case .tooManySymbolicLinkLevels: "a symbolic link of another user leads there (ELOOP)"
        case .invalidArgument: "it is no regular file (EINVAL)"
        default: ErrorText.reason(error.rawValue)
        }
      throw LifecycleError(
        "cannot open the log \(ErrorText.quoted(configuration.log)): \(reason). Name another file with --log.")
    }
    return EventLog(descriptor: descriptor, session: configuration.session)
  }

  /// - Parameter state: Where the volume is kept; nil if it is not.
  static func engineConfiguration(
    _ configuration: VolumeConfiguration, simulation: Simulation, state: StateVolume?
  ) -> EngineConfiguration {
    var start = EngineConfiguration()
    start.simulation = simulation
    // Registering a backing file needs CAP_SYS_ADMIN, which an ordinary user's daemon has not.
    start.passthrough = geteuid() == 0 && !configuration.without.contains(.passthrough)
    start.writing = configuration.writing.ofEngine
    if let state {
      start.journal = state.journal
      start.savedState = state
      start.firstMadeNumber = state.nextMadeNumber
      start.keptUses = state.keptUses
    }
    start.timeOfDay = { Timestamp.timeOfDay }
    start.nameKey = randomKey()
    start.budget = .init(maxFiles: configuration.run?.maxFiles, maxBytes: configuration.run?.maxBytes)
    return start
  }

  static func sessionOptions(_ configuration: VolumeConfiguration, passthrough: Bool) -> FuseSessionOptions {
    let isWritable = configuration.writing != .readOnly
    var options = FuseSessionOptions(source: configuration.sourceBytes, subtype: configuration.subtype)
    options.readOnly = !isWritable
    // The kernel serves most reads itself, so that they would move access times or not as it pleases.
    options.noAccessTime = isWritable
    options.allowOther = configuration.allowOther
    options.passthrough = passthrough
    options.readdirPlus = !configuration.without.contains(.readdirplus)
    return options
  }

  static func wallClock() -> String {
    let now = Timestamp.timeOfDay
    return UTCTime.rfc3339(seconds: now.seconds, nanoseconds: now.nanoseconds)
  }
}
