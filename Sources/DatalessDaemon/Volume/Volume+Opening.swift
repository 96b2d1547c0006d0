import DatalessControl
import DatalessCore
import DatalessScenario
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

  static func wallClock() -> String {
    let now = Timestamp.timeOfDay
    return UTCTime.rfc3339(seconds: now.seconds, nanoseconds: now.nanoseconds)
  }
}
