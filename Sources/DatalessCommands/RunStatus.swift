import DatalessControl
import DatalessDaemon
import Glibc

/// How a `dataless run` ended, and the exit status that says so: the first of these that holds.
struct RunStatus {
  let result: CommandRunner.Result
  let children: ChildrenWait
  /// nil when the daemon could not say.
  let budget: BudgetStatus?
  /// Whether a budget was given, or anything else that has to hold until the last process has ended.
  let hasExpectation: Bool
  /// What the rules did, if all of them have to decide something.
  var strictRules: RuleCounts?
  /// What became of the expectations; nil without any.
  var verdict: Verdict.Outcome?
  /// Whether something that was to be written could not be: a report, the baseline, or the answer as JSON.
  var isOutputMissing = false

  enum Reason: String {
    /// A signal ended the wait for what the command left running.
    case interrupted
    case budgetExceeded = "budget_exceeded"
    /// Something else that was expected does not hold.
    case expectationViolated = "expectation_violated"
    case notFound = "not_found"
    case notExecutable = "not_executable"
    /// The volume ended early, what the command used or how it ended is not known, or something could not be
    /// written.
    case failed
    /// What the command left running, or attempts that it left under way, could have materialized more.
    case cutShort = "cut_short"
    /// The log does not tell whether all that was expected holds.
    case expectationUnknown = "expectation_unknown"
    case rulesUnused = "rules_unused"
    /// The command's own end.
    case command
  }

  var reason: Reason {
    if case .interrupted = children.end { return .interrupted }
    if let budget, !budget.exceeded.isEmpty { return .budgetExceeded }
    if verdict == .violated { return .expectationViolated }
    if case .notStarted(let number) = result { return number == ENOENT ? .notFound : .notExecutable }
    if result == .statusLost || budget == nil || children.end == .volumeEnded { return .failed }
    if (children.isCutShort || (budget?.inFlight ?? 0) > 0) && hasExpectation { return .cutShort }
    if verdict == .unknown { return .expectationUnknown }
    if strictRules.map({ $0.neverFired > 0 }) == true { return .rulesUnused }
    return isOutputMissing ? .failed : .command
  }

  var code: Int32 {
    switch reason {
    case .interrupted:
      if case .interrupted(let signal) = children.end { 128 + signal } else { ExitStatus.runFailed.rawValue }
    case .budgetExceeded, .expectationViolated: ExitStatus.violated.rawValue
    case .notFound: ExitStatus.notFound.rawValue
    case .notExecutable: ExitStatus.notExecutable.rawValue
    case .failed: ExitStatus.runFailed.rawValue
    case .cutShort, .expectationUnknown: ExitStatus.unknown.rawValue
    case .rulesUnused: ExitStatus.rulesUnused.rawValue
    case .command: if case .ended(let outcome) = result { outcome.exitStatus } else { ExitStatus.runFailed.rawValue }
    }
  }
}

/// The messages of `run` about its end: each goes to standard error at once, and all of them into its JSON answer.
final class RunMessages {
  private(set) var all: [String] = []

  func say(_ message: String) {
    Console.error(message)
    all.append(message)
  }
}
