import Glibc

/// The exit status of `dataless run`.
public enum RunStatus {
  /// A budget was exceeded; the command's own status is in the summary.
  public static let budgetExceeded: Int32 = 90
  /// Our own failure: the volume could not be mounted, or ended too early.
  public static let ownFailure: Int32 = 125
  /// The command was found, but cannot be executed.
  public static let notExecutable: Int32 = 126
  /// The command was not found.
  public static let notFound: Int32 = 127

  /// - Parameters:
  ///   - result: What became of the command.
  ///   - isBudgetExceeded: nil when the daemon could not say, which is a failure of ours.
  public static func of(_ result: CommandRunner.Result, isBudgetExceeded: Bool?) -> Int32 {
    switch (isBudgetExceeded, result) {
    case (true, _): budgetExceeded
    case (_, .notStarted(let number)): number == ENOENT ? notFound : notExecutable
    case (nil, .ended), (_, .statusLost): ownFailure
    case (false, .ended(let outcome)): outcome.exitStatus
    }
  }
}
