public import DatalessControl
import DatalessCore
import DatalessScenario
public import SystemPackage

/// Exit statuses of every command. `run` passes its command's own status on, beside these.
public enum ExitStatus: Int32, Sendable, CaseIterable {
  case success = 0
  /// Something could not be done; standard error says what.
  case failure = 1
  /// The command line is wrong.
  case usage = 2
  /// There is no such volume, or its daemon is not running.
  case noVolume = 3
  case timedOut = 4
  /// `run` and `check-log`: something that was expected does not hold; a budget is one such thing. `diff`: there is
  /// more than before.
  case violated = 90
  /// The same: nothing is known not to hold, and of something nobody knows: what the command left running was cut
  /// short, or the log does not tell all.
  case unknown = 91
  /// `run --strict-rules`: a rule of the scenario decided nothing.
  case rulesUnused = 92
  /// `run`: our own failure, before or after the command.
  case runFailed = 125
  /// `run`: the command is not executable.
  case notExecutable = 126
  /// `run`: there is no such command.
  case notFound = 127
  /// SIGINT.
  case interrupted = 130
}

/// Ends a command with one line on standard error, or one for each problem of a scenario, and a status; with `--json`
/// also with a line of JSON where its answers go.
public struct CommandFailure: Error, Sendable, Equatable {
  /// What a script can tell failures apart by: docs/JSON.md. Those below the line are the daemon's own words.
  public enum Code: String, Sendable, CaseIterable {
    case usage
    case notAVolume = "not_a_volume"
    case daemonNotRunning = "daemon_not_running"
    case malformed
    case incomplete
    case damaged
    case violated
    case interrupted
    case notExecutable = "not_executable"
    case otherVersion = "other_version"
    case failed
    case timedOut = "timed_out"
    // ----
    case invalidScenario = "invalid_scenario"
    case invalidRequest = "invalid_request"
    case notFound = "not_found"
    case busy
    case forbidden
    case tooLarge = "too_large"
    case methodNotAllowed = "method_not_allowed"
    case notSupported = "not_supported"
    case noSpace = "no_space"
    case cancelled

    /// Whether a daemon may say it: what a command found out itself is no daemon's to claim.
    var isOfDaemon: Bool {
      switch self {
      case .timedOut, .invalidRequest, .notFound, .busy, .forbidden, .tooLarge, .methodNotAllowed, .notSupported,
        .noSpace,
        .cancelled:
        true
      case .usage, .notAVolume, .daemonNotRunning, .malformed, .incomplete, .damaged, .violated, .interrupted,
        .notExecutable, .otherVersion,
        .failed,
        .invalidScenario:
        false
      }
    }
  }

  /// Without `dataless: ` and without a newline at the end.
  public var message: String
  public var status: ExitStatus
  public var code: Code
  /// By name; nil where there is none.
  public var errno: String?
  /// Whether each line begins with its place, `FILE:LINE:COLUMN: `: then nothing is put before it, so that editors and
  /// problem matchers find the place.
  public var namesPlaces = false
  public var problems: [WireProblem]?
  /// What it is about, of a command that goes on with others.
  public var path: [UInt8]?
  /// Whether standard error has it already, in more words.
  public var isSaid = false

  /// - Parameters:
  ///   - code: Default: what the status says.
  ///   - errno: Default: the one that the message names at last, in parentheses, as all of ours do.
  public init(_ message: String, status: ExitStatus = .failure, code: Code? = nil, errno: Errno? = nil) {
    self.message = message
    self.status = status
    self.code = code ?? Self.code(of: status)
    self.errno = errno?.name ?? Self.errno(in: message)
  }

  init(_ error: ControlError) {
    self.init(error.message, status: Self.status(of: error.code), code: Self.code(of: error), errno: error.errno)
    namesPlaces = error.code == .invalidScenario
    problems = namesPlaces ? error.answer?.problems : nil
  }

  /// A scenario that is refused: a line for each problem.
  init(_ error: ScenarioError) {
    let lines = error.description.split(separator: "\n").map { TerminalText.harmless(String($0)) }
    self.init(lines.joined(separator: "\n"), status: .usage, code: .invalidScenario, errno: .invalidArgument)
    namesPlaces = true
    problems = error.problems.map { WireProblem($0) }
  }

  private static func status(of code: ControlError.Code) -> ExitStatus {
    switch code {
    case .notAVolume, .daemonNotRunning: .noVolume
    case .timedOut: .timedOut
    case .invalidScenario: .usage
    case .remote, .system, .malformed, .otherVersion: .failure
    }
  }

  static func code(of error: ControlError) -> Code {
    switch error.code {
    case .notAVolume: .notAVolume
    case .daemonNotRunning: .daemonNotRunning
    case .timedOut: .timedOut
    case .invalidScenario: .invalidScenario
    case .malformed: .malformed
    case .system: .failed
    case .otherVersion: .otherVersion
    case .remote: error.answer.flatMap { Code(rawValue: $0.code) }.flatMap { $0.isOfDaemon ? $0 : nil } ?? .failed
    }
  }

  private static func code(of status: ExitStatus) -> Code {
    switch status {
    case .usage: .usage
    case .noVolume: .daemonNotRunning
    case .timedOut: .timedOut
    case .interrupted: .interrupted
    case .notFound: .notFound
    case .notExecutable: .notExecutable
    case .success, .failure, .violated, .unknown, .rulesUnused, .runFailed: .failed
    }
  }

  /// The last of `(EINVAL)` and the like: names of files, which may look so, too, stand before it.
  private static func errno(in message: String) -> String? {
    message.split(separator: "(").dropFirst().reversed().lazy.compactMap { part -> String? in
      guard let end = part.firstIndex(of: ")") else { return nil }
      let name = String(part[..<end])
      return Errno(name: name).map { _ in name }
    }.first
  }

  /// The line of `--json`.
  var answer: CommandErrorAnswer {
    CommandErrorAnswer(
      error: CommandError(
        code: code.rawValue, errno: errno, message: message, path: path, problems: problems, exitStatus: status.rawValue
      ))
  }
}

extension WireProblem {
  init(_ problem: ScenarioProblem) {
    self.init(
      file: problem.file, line: Int64(problem.line), column: Int64(problem.column), message: problem.message)
  }
}

/// Ends a command with any status and without a word: all has been said.
public struct CommandExit: Error, Sendable, Equatable {
  public var code: Int32
  public init(code: Int32) { self.code = code }
  public init(_ status: ExitStatus) { code = status.rawValue }
}
