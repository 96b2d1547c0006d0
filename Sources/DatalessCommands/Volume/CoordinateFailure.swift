import CDataless
import DatalessControl
import DatalessCore
import Glibc
import SystemPackage

/// Why `dataless coordinate` does not become its command, in words.
enum CoordinateFailure {
  /// How long a daemon may take to show that it answers at all.
  private static let answerTime = Duration.seconds(1)

  /// Nobody could be asked.
  static func notAsked(_ number: Errno, _ paths: [PathArgument]) -> CommandFailure {
    let words =
      switch number {
      case .noData: outside(paths)
      case .improperLink: several(paths)
      case .permissionDenied: denied(paths)
      case .socketNotConnected: "the volume's daemon is not running, or cannot be reached from here"
      default: number.description.prefix(1).lowercased() + number.description.dropFirst()
      }
    let name = number == .permissionDenied ? "coordination_not_allowed, \(number.name)" : number.name
    let isOutside = number == .noData
    let remedy = isOutside ? " `dataless status` lists the mounted volumes." : ""
    // The status stays that of our own failures: the one that says so elsewhere may be the command's.
    return CommandFailure(
      "cannot ask for the paths: \(words) (\(name)).\(remedy)", status: .runFailed,
      code: isOutside ? .notAVolume : nil, errno: number)
  }

  /// - Parameter message: The daemon's, in which names are escaped; most of them end with the errno's name.
  static func notGranted(_ message: String, code: Int32, _ number: Errno) -> CommandFailure {
    let name = String(cString: dataless_coordination_name(code))
    let ending = " (\(number.name))"
    let words = message.hasSuffix(ending) ? String(message.dropLast(ending.count)) : message
    return CommandFailure(
      "the paths are not granted: \(TerminalText.harmless(words)) (\(name), \(number.name)).", status: .runFailed,
      errno: number)
  }

  /// The time for waiting is over. A daemon that is stopped has not even heard of it, so that nobody may have the
  /// paths.
  static func notFree(_ paths: [PathArgument], within time: Duration) -> CommandFailure {
    let isHeard = paths.first.map(answers) ?? true
    let words =
      isHeard
      ? "the paths were not free within \(DurationText.format(time)) (ETIMEDOUT). See who has them: dataless status."
      : "the volume's daemon does not answer, so nobody knows whether the paths are free (ETIMEDOUT). It may be stopped."
    return CommandFailure(words, status: .runFailed, code: .timedOut, errno: .timedOut)
  }

  /// Whether the daemon says anything. Where it cannot be asked, that is something else.
  private static func answers(_ path: PathArgument) -> Bool {
    do {
      _ = try RemoteCall.run(path, failure: "cannot ask", timeout: answerTime) { try await $0.coordination() }
      return true
    } catch let error as ControlError {
      return error.code != .timedOut
    } catch {
      return true
    }
  }

  private static func outside(_ paths: [PathArgument]) -> String {
    let stray = paths.first { (try? VolumeLocator.volume($0.bytes)) == nil }
    return stray.map { "\($0.description) does not lie on a volume of dataless" }
      ?? "not all of the paths lie on a volume of dataless"
  }

  private static func several(_ paths: [PathArgument]) -> String {
    let mounts = paths.map { try? VolumeLocator.volume($0.bytes).mountID }
    let other = zip(paths, mounts).first { $0.1 != mounts.first }?.0
    guard let first = paths.first, let other else { return "the paths lie on several volumes. Coordinate those of one" }
    return "\(first.description) and \(other.description) lie on two volumes. Coordinate those of one"
  }

  private static func denied(_ paths: [PathArgument]) -> String {
    let volume = paths.first.flatMap { try? VolumeLocator.volume($0.bytes) }
    guard let volume, let owner = volume.userID, geteuid() != 0, geteuid() != owner else {
      return "somebody else answers in the place of the volume's daemon"
    }
    return "user \(owner) has mounted \(TerminalText.escaped(volume.mountPoint)), and only that user and root may"
  }
}
