import DatalessControl

/// Ends a command with one line on standard error and a status.
public struct CommandFailure: Error, Sendable, Equatable {
  /// Without `dataless: ` and without a newline.
  public var message: String
  public var status: ExitStatus

  public init(_ message: String, status: ExitStatus = .failure) {
    self.message = message
    self.status = status
  }

  init(_ error: ControlError) {
    let status: ExitStatus =
      switch error.code {
      case .notAVolume, .daemonNotRunning: .noVolume
      case .timedOut: .timedOut
      case .remote, .system, .malformed: .failure
      }
    self.init(error.message, status: status)
  }
}

/// Ends a command with any status and without a word: all has been said.
public struct CommandExit: Error, Sendable, Equatable {
  public var code: Int32
  public init(code: Int32) { self.code = code }
  public init(_ status: ExitStatus) { code = status.rawValue }
}
