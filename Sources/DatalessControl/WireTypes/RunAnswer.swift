/// What `dataless run --json` writes: how the run ended and why, and what the command materialized.
///
/// A run that could not begin writes a `CommandErrorAnswer` instead.
public struct RunAnswer: Codable, Sendable, Equatable {
  /// Of `dataless run` itself.
  public var exitStatus: Int32
  /// Why it is that: `command` (its own), `budget_exceeded`, `cut_short`, `rules_unused`, `interrupted`, `not_found`,
  /// `not_executable` or `failed`.
  public var reason: String
  /// What there is to say about it, as on standard error beside the summary: what failed, each budget that was exceeded, what
  /// the command left running, rules that never fired.
  public var messages: [String]
  /// What in the scenario hardly can be meant; at most 20.
  public var scenarioWarnings: [WireProblem]
  public var command: RunCommandEnd
  /// What was used of the budgets; absent when the daemon could not say.
  public var budget: BudgetStatus?
  public var children: RunChildren
  /// What the scenario's rules did; absent when the daemon could not say.
  public var rules: RuleCounts?
  /// The event log; absolute.
  public var log: String
  public var logBase64: String?
  /// As `dataless summary --json`; absent when the log cannot be read.
  public var summary: SummaryReport?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case reason, messages, command, budget, children, rules, log, summary
    case exitStatus = "exit_status"
    case scenarioWarnings = "scenario_warnings"
    case logBase64 = "log_b64"
  }

  public init(
    exitStatus: Int32, reason: String, messages: [String] = [], command: RunCommandEnd,
    scenarioWarnings: [WireProblem] = [], budget: BudgetStatus?,
    children: RunChildren,
    rules: RuleCounts?, log: [UInt8], summary: SummaryReport?
  ) {
    self.exitStatus = exitStatus
    self.reason = reason
    self.messages = messages
    self.scenarioWarnings = scenarioWarnings
    self.command = command
    self.budget = budget
    self.children = children
    self.rules = rules
    (self.log, logBase64) = WirePath.split(log)
    self.summary = summary
  }
}

/// How the command of `dataless run` ended: one of the three, or none when that is not known.
public struct RunCommandEnd: Codable, Sendable, Equatable {
  /// 0...255.
  public var exitStatus: Int32?
  /// Name, such as `SIGKILL`.
  public var signal: String?
  /// Why it could not be started, by name.
  public var errno: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case signal, errno
    case exitStatus = "exit_status"
  }

  public init(exitStatus: Int32? = nil, signal: String? = nil, errno: String? = nil) {
    self.exitStatus = exitStatus
    self.signal = signal
    self.errno = errno
  }
}
