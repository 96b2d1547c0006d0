import DatalessControl
import DatalessScenario

/// Ends a command with one line on standard error, or one for each problem of a scenario, and a status.
public struct CommandFailure: Error, Sendable, Equatable {
  /// Without `dataless: ` and without a newline at the end.
  public var message: String
  public var status: ExitStatus
  /// Whether each line begins with its place, `FILE:LINE:COLUMN: `: then nothing is put before it, so that editors and
  /// problem matchers find the place.
  public var namesPlaces: Bool

  public init(_ message: String, status: ExitStatus = .failure, namesPlaces: Bool = false) {
    self.message = message
    self.status = status
    self.namesPlaces = namesPlaces
  }

  init(_ error: ControlError) {
    let status: ExitStatus =
      switch error.code {
      case .notAVolume, .daemonNotRunning: .noVolume
      case .timedOut: .timedOut
      case .invalidScenario: .usage
      case .remote, .system, .malformed: .failure
      }
    self.init(error.message, status: status, namesPlaces: error.code == .invalidScenario)
  }

  /// A scenario that is refused: a line for each problem.
  init(_ error: ScenarioError) {
    self.init(error.description, status: .usage, namesPlaces: true)
  }
}

/// Ends a command with any status and without a word: all has been said.
public struct CommandExit: Error, Sendable, Equatable {
  public var code: Int32
  public init(code: Int32) { self.code = code }
  public init(_ status: ExitStatus) { code = status.rawValue }
}
