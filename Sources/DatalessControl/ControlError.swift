import DatalessCore
public import SystemPackage

/// Why a command cannot do what it was asked: a code for the exit status, and one line for the person.
///
/// The line has the form `cannot ...: <reason> (EERRNO). <remedy>.`; names in it are escaped for a terminal.
public struct ControlError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Code: String, Sendable {
    /// The path is not on a mounted volume.
    case notAVolume = "not_a_volume"
    /// The volume's mount is there, its daemon is not.
    case daemonNotRunning = "daemon_not_running"
    case timedOut = "timed_out"
    /// The daemon is of another version, and does not know what it is asked for.
    case otherVersion = "other_version"
    /// The daemon answered with an error.
    case remote
    /// The daemon refused a scenario, or a change of it; the message has a line for each problem.
    case invalidScenario = "invalid_scenario"
    /// A system call failed.
    case system
    /// What was read is not what it should be.
    case malformed
  }

  public var code: Code
  public var errno: Errno?
  public var message: String
  /// What the daemon answered, word for word, so that none of it may reach a terminal; nil for what we found ourselves.
  public var answer: WireError?

  public init(code: Code, errno: Errno? = nil, message: String, answer: WireError? = nil) {
    self.code = code
    self.errno = errno
    self.message = message
    self.answer = answer
  }

  public var description: String { message }

  /// A failed system call: `<what>: <reason> (<ERRNO>)`, and the remedy as a sentence of its own.
  public static func system(_ errno: Errno, _ what: String, remedy: String? = nil) -> ControlError {
    let tail = remedy.map { " \($0)" } ?? ""
    return ControlError(
      code: .system, errno: errno, message: "\(what): \(errno.description) (\(errno.name)).\(tail)")
  }

  /// Nothing of ours is mounted there.
  public static func notAVolume(_ path: [UInt8]) -> ControlError {
    ControlError(
      code: .notAVolume,
      message: "cannot use \(TerminalText.escaped(path)): it is not on a dataless volume. "
        + "`dataless status` lists the mounted volumes; `dataless mount SOURCE MOUNTPOINT` mounts one.")
  }

  /// A file that should be a log has nothing of one, or nothing that this program reads.
  ///
  /// - Parameter unread: What the file has instead.
  public static func noRecord(_ path: [UInt8], _ unread: UnreadLines) -> ControlError {
    if let version = unread.version {
      return ControlError(
        code: .otherVersion, errno: .protocolNotSupported,
        message: "cannot read \(TerminalText.escaped(path)) as a log: it is \(UnreadLines.words(version: version)) "
          + "(EPROTONOSUPPORT).")
    }
    return ControlError(
      code: .malformed,
      message: "cannot read \(TerminalText.escaped(path)) as a log: it holds no record (EINVAL). "
        + "Give the mountpoint of a mounted volume, or a log file.")
  }

  /// The mount is left over from a daemon that has died.
  public static func daemonNotRunning(_ mountPoint: [UInt8]) -> ControlError {
    let name = TerminalText.escaped(mountPoint)
    return ControlError(
      code: .daemonNotRunning, errno: .connectionRefused,
      message:
        "cannot reach the daemon of \(name): it is not running. `dataless unmount \(ShellText.word(mountPoint))` cleans up."
    )
  }
}
