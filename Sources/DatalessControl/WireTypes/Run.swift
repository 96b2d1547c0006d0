/// What `dataless run --json` writes: how the run ended and why, and what the command materialized.
///
/// A run that could not begin writes a `CommandErrorAnswer` instead.
public struct RunAnswer: Codable, Sendable, Equatable {
  /// Of `dataless run` itself.
  public var exitStatus: Int32
  /// Why it is that: `command` (its own), `budget_exceeded`, `expectation_violated`, `cut_short`,
  /// `expectation_unknown`, `rules_unused`, `interrupted`, `not_found`, `not_executable` or `failed`.
  public var reason: String
  /// What there is to say about it, as on standard error beside the summary: what failed, each budget that was
  /// exceeded, what the command left running, rules that never fired.
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
  /// As `dataless check-log --json`; absent when nothing was expected.
  public var verdict: Verdict?

  enum CodingKeys: String, CodingKey {
    case reason, messages, command, budget, children, rules, log, summary, verdict
    case exitStatus = "exit_status"
    case scenarioWarnings = "scenario_warnings"
    case logBase64 = "log_b64"
  }

  public init(
    exitStatus: Int32, reason: String, messages: [String] = [], command: RunCommandEnd,
    scenarioWarnings: [WireProblem] = [], budget: BudgetStatus?,
    children: RunChildren,
    rules: RuleCounts?, log: [UInt8], summary: SummaryReport?, verdict: Verdict? = nil
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
    self.verdict = verdict
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

  enum CodingKeys: String, CodingKey {
    case signal, errno
    case exitStatus = "exit_status"
  }

  public init(exitStatus: Int32? = nil, signal: String? = nil, errno: String? = nil) {
    self.exitStatus = exitStatus
    self.signal = signal
    self.errno = errno
  }
}

/// What the command of `dataless run` left running, and what became of it.
public struct RunChildren: Codable, Sendable, Equatable {
  /// How long `run` waited, from the end of the command on.
  public var waitedNanoseconds: Int64
  /// Why it waited no longer: `none_left`, `time_up`, `interrupted`, `volume_ended` or `unknown`.
  public var end: String
  /// Those that were left when the wait ended, the first 100; empty after `none_left`.
  public var left: [RunChild]
  /// All of them.
  public var leftCount: Int64
  /// How many of them could not be looked at, for want of descriptors.
  public var notLookedAt: Int64
  /// Processes that the command did not start and that hold the volume, the first 100. They are left alone.
  public var outsiders: [RunChild]

  /// Of each list.
  public static let listedMax = 100

  enum CodingKeys: String, CodingKey, CaseIterable {
    case end, left, outsiders
    case waitedNanoseconds = "waited_ns"
    case leftCount = "left_count"
    case notLookedAt = "not_looked_at"
  }

  /// - Parameter left: All that were looked at.
  public init(
    waitedNanoseconds: Int64, end: String, left: [RunChild], notLookedAt: Int64 = 0, outsiders: [RunChild] = []
  ) {
    self.waitedNanoseconds = waitedNanoseconds
    self.end = end
    self.left = Array(left.prefix(Self.listedMax))
    leftCount = Int64(left.count) + notLookedAt
    self.notLookedAt = notLookedAt
    self.outsiders = Array(outsiders.prefix(Self.listedMax))
  }
}

/// A process that the command of `dataless run` left running, or another one that holds its volume.
public struct RunChild: Codable, Sendable, Equatable {
  public var process: WireProcess
  /// By what it kept the volume in use: `working_directory`, `root_directory`, `open_file`, `mapping`, `waiting_call`;
  /// absent when that could not be seen.
  public var holds: [String]?
  /// Whether `run` told it to end.
  public var ended: Bool

  enum CodingKeys: String, CodingKey, CaseIterable {
    case process, holds, ended
  }

  public init(process: WireProcess, holds: [String]? = nil, ended: Bool) {
    self.process = process
    self.holds = holds
    self.ended = ended
  }
}

/// Body of `POST /v1/run/finished`: the command has ended.
public struct RunFinishedRequest: Codable, Sendable, Equatable {
  /// 0...255; absent when a signal ended it.
  public var exitStatus: Int32?
  /// Name, such as `SIGKILL`; absent when it exited.
  public var signal: String?
  /// Name of the errno with which it could not be executed, such as `ENOENT`; absent when it was. `exit_status` is what
  /// a shell says of it then, 126 or 127.
  public var notStarted: String?
  /// Name of the signal that told `run` to end while the command went on; absent without one.
  public var interruptedBy: String?
  /// What the command left running.
  public var children: RunChildren?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case signal, children
    case exitStatus = "exit_status"
    case notStarted = "not_started"
    case interruptedBy = "interrupted_by"
  }

  public init(
    exitStatus: Int32? = nil, signal: String? = nil, notStarted: String? = nil, interruptedBy: String? = nil,
    children: RunChildren? = nil
  ) {
    self.exitStatus = exitStatus
    self.signal = signal
    self.notStarted = notStarted
    self.interruptedBy = interruptedBy
    self.children = children
  }
}

/// Answer of `POST /v1/run/finished`.
public struct RunFinishedAnswer: Codable, Sendable, Equatable {
  /// The number of the `run.finished` record.
  public var seq: UInt64
  /// What the command used, and which budgets it exceeded.
  public var budget: BudgetStatus
  /// What the scenario's rules did.
  public var rules: RuleCounts

  public init(seq: UInt64, budget: BudgetStatus, rules: RuleCounts) {
    self.seq = seq
    self.budget = budget
    self.rules = rules
  }
}

/// The budgets of `dataless run`, counted over the command and its descendants.
public struct BudgetStatus: Codable, Sendable, Equatable {
  /// Limit; absent when there is none.
  public var maxFiles: Int64?
  /// Limit; absent when there is none.
  public var maxBytes: Int64?
  /// Files of which content became local for the command so far.
  public var files: Int64
  /// Bytes that became local for the command so far.
  public var bytes: Int64
  /// Attempts for the command that are under way. What they bring will count, too, even if nobody waits for it any
  /// more.
  public var inFlight: Int64
  /// The first excess of each budget; empty while all hold.
  public var exceeded: [BudgetExcess]

  enum CodingKeys: String, CodingKey {
    case files, bytes, exceeded
    case maxFiles = "max_files"
    case maxBytes = "max_bytes"
    case inFlight = "in_flight"
  }

  public init(
    maxFiles: Int64? = nil, maxBytes: Int64? = nil, files: Int64, bytes: Int64, inFlight: Int64 = 0,
    exceeded: [BudgetExcess]
  ) {
    self.maxFiles = maxFiles
    self.maxBytes = maxBytes
    self.files = files
    self.bytes = bytes
    self.inFlight = inFlight
    self.exceeded = exceeded
  }
}

/// The moment a budget was exceeded for the first time.
public struct BudgetExcess: Codable, Sendable, Equatable {
  /// `files` or `bytes`.
  public var budget: String
  public var limit: Int64
  public var used: Int64
  /// What was materialized, relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// For whom.
  public var process: WireProcess?

  enum CodingKeys: String, CodingKey {
    case budget, limit, used, path, process
    case pathBase64 = "path_b64"
  }

  public init(budget: String, limit: Int64, used: Int64, path: [UInt8], process: WireProcess? = nil) {
    self.budget = budget
    self.limit = limit
    self.used = used
    (self.path, pathBase64) = WirePath.split(path)
    self.process = process
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}
