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
  /// `run`: a budget was exceeded.
  case budgetExceeded = 90
  /// `run`: there was a budget, and what the command left running was cut short: nobody knows what it would have used.
  case cutShort = 91
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
