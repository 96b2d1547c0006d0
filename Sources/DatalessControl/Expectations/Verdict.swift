/// What became of everything that was expected of a session: the answer of `dataless check-log`, and `verdict` in that
/// of `dataless run`.
public struct Verdict: Codable, Sendable, Equatable {
  /// What is known of an expectation, or of all.
  public enum Outcome: String, Codable, Sendable, CaseIterable {
    case held
    case violated
    /// The log does not tell: neither held nor violated.
    case unknown
  }

  public var session = ""
  /// The log file.
  public var log = ""
  /// Violated if anything was; else unknown if anything is; else held.
  public var outcome = Outcome.held
  /// In the order in which they were given: the flags first, then the file's.
  public var expectations: [ExpectationResult] = []
  /// In the order of the log, those of one expectation together; of each expectation at most `Violation.listedMax`.
  public var violations: [Violation] = []
  /// Why the log does not tell all, one sentence each; empty for a complete log.
  public var gaps: [String] = []
  /// Expectations that hardly can be meant, such as one that nothing can violate; lines of a complete log that are no
  /// records.
  public var warnings: [String] = []
  /// Absent without a baseline.
  public var baseline: BaselineResult?
  /// Sessions of the same file that were mounted before; they were not looked at.
  public var earlierSessions: Int64 = 0

  public init() {}

  enum CodingKeys: String, CodingKey {
    case session, log, outcome, expectations, violations, gaps, warnings, baseline
    case earlierSessions = "earlier_sessions"
  }
}

/// One expectation, and what was measured.
public struct ExpectationResult: Codable, Sendable, Equatable {
  /// What `bound` and `measured` count.
  public enum Unit: String, Codable, Sendable, CaseIterable {
    case files
    case directories
    case bytes
    case nanoseconds
    /// Files whose content nobody was seen to read.
    case needless
    case refusals
    /// How often one item was materialized again.
    case repetitions
    /// Lookups that blocked, and that nothing followed.
    case lookups
    /// Attempts of one process in flight at the same time, in hundredths: 150 is one and a half on average.
    case parallelHundredths = "parallel_hundredths"
    /// Paths that may not be touched.
    case paths
  }

  /// Unique in a verdict: `max_files`, or `thumbnails.max_wait` for a bound of the file's expectation `thumbnails`.
  public var name: String
  /// Which kind of bound: `max_files`, `forbid` and so on, as in the scenario file.
  public var measure: String
  /// In words, escaped for a terminal: `at most 10 files of photos/** by fm`.
  public var words: String
  public var unit: Unit
  /// The most that is allowed; the least for `min_parallel`. 0 for paths.
  public var bound: Int64
  /// Absent when nothing is known, as for needless files of a volume whose reads were not recorded.
  public var measured: Int64?
  /// Whether `measured` is only the least (for `min_parallel`: any number) because the log does not tell all.
  public var isMeasuredIncompletely = false
  public var outcome: Verdict.Outcome
  /// Why it is unknown; absent otherwise.
  public var reason: String?
  /// What makes it hold whatever programs do, such as that no caller is meant; absent otherwise.
  public var warning: String?
  /// All, also those beyond `Violation.listedMax`.
  public var violationCount: Int64 = 0
  /// Where it was written, as `FILE:LINE:COLUMN`; absent for a flag.
  public var place: String?

  public init(
    name: String, measure: String, words: String, unit: Unit, bound: Int64, outcome: Verdict.Outcome = .held
  ) {
    self.name = name
    self.measure = measure
    self.words = words
    self.unit = unit
    self.bound = bound
    self.outcome = outcome
  }

  enum CodingKeys: String, CodingKey {
    case name, measure, words, unit, bound, measured, outcome, reason, warning, place
    case isMeasuredIncompletely = "measured_incompletely"
    case violationCount = "violation_count"
  }
}

extension ExpectationResult.Unit {
  /// An amount of bytes or of time; exact where its rounded text would read as that of another amount.
  ///
  /// - Parameter other: Which stands beside it; nil for none.
  public func amount(_ value: Int64, besides other: Int64?) -> String {
    let isTime = self == .nanoseconds
    func rounded(_ value: Int64) -> String { isTime ? HumanText.duration(nanoseconds: value) : HumanText.size(value) }
    guard let other, other != value, rounded(other) == rounded(value) else { return rounded(value) }
    return isTime ? "\(HumanText.count(value)) ns" : HumanText.count(value, "byte")
  }
}

/// One thing that was not to be, and who did it.
public struct Violation: Codable, Sendable, Equatable {
  /// Of one expectation; further ones are only counted.
  public static let listedMax = 1_000

  /// The caller, or one of its ancestors.
  public struct Process: Codable, Sendable, Equatable {
    /// As it was made: `python3 fm.py`, not escaped for anything; `?` where nothing is known.
    public var name: String
    /// Absent when it could not be read.
    public var pid: Int32?
    public var comm: String?
    public var exe: String?
    public var script: String?

    public init(name: String, pid: Int32?, comm: String? = nil, exe: String? = nil, script: String? = nil) {
      self.name = name
      self.pid = pid
      self.comm = comm
      self.exe = exe
      self.script = script
    }
  }

  /// `ExpectationResult.name`.
  public var expectation: String
  /// Relative to the volume's root; empty for the root itself, absent where it is about no single item
  /// (`min_parallel`), or the log does not tell.
  public var path: String?
  public var pathBase64: String?
  /// `file` or `directory`; absent where unknown.
  public var kind: String?
  /// The operation, such as `read`; absent where it was none.
  public var trigger: String?
  /// Absent when the log does not tell who.
  public var process: Process?
  /// Of `max_together`: who had the file open while it was written to; absent otherwise.
  public var other: Process?
  public var threadID: Int32?
  /// Absent for a thread that has none of its own.
  public var threadName: String?
  /// Absent when unknown.
  public var isMainThread: Bool?
  /// Of the caller, nearest first.
  public var ancestors: [Process] = []
  /// Numbers of the log, by which its records are found: the attempt, or the delayed call. A wait is named by
  /// `attempt` and `threadID`.
  public var attempt: UInt64?
  public var access: UInt64?
  /// Absent when the log has none for this wait.
  public var stack: CallerStack?
  /// RFC 3339, of the record that shows the violation.
  public var time: String?
  public var monotonicNanoseconds: Int64?
  /// In the expectation's unit: how long this wait was, how many files there were with this one.
  public var measured: Int64
  /// How often the same process did the same to the same path, and where waits are bounded, waited at the same place;
  /// the rest tells of the first time.
  public var count: Int64 = 1
  /// What to look at, in sentences.
  public var hint: String

  public init(expectation: String, path: [UInt8]?, measured: Int64, hint: String) {
    self.expectation = expectation
    if let path { (self.path, pathBase64) = WirePath.split(path) }
    self.measured = measured
    self.hint = hint
  }

  public var pathBytes: [UInt8]? { path.map { WirePath.bytes($0, pathBase64) } }

  enum CodingKeys: String, CodingKey {
    case expectation, path, kind, trigger, process, other, ancestors, attempt, access, stack, time, measured, count
    case hint
    case pathBase64 = "path_b64"
    case threadID = "tid"
    case threadName = "thread_name"
    case isMainThread = "main_thread"
    case monotonicNanoseconds = "monotonic_ns"
  }
}

/// What differs from the baseline.
public struct BaselineResult: Codable, Sendable, Equatable {
  /// One path of a baseline, paths of temporary files normalized.
  public struct Entry: Codable, Sendable, Equatable, Hashable {
    /// `file` or `directory`.
    public var kind: String
    public var path: String
    public var pathBase64: String?

    public init(kind: String, path: [UInt8]) {
      self.kind = kind
      (self.path, pathBase64) = WirePath.split(path)
    }

    public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }

    enum CodingKeys: String, CodingKey {
      case kind, path
      case pathBase64 = "path_b64"
    }
  }

  public var file: String
  public var entryCount: Int64 = 0
  /// What was materialized and is not in the file: violations of the expectation `baseline` name who. With an update,
  /// what was added.
  public var newCount: Int64 = 0
  /// What is in the file and was not materialized, at most `Violation.listedMax`: no violation. Absent where the log
  /// does not tell all.
  public var untouched: [Entry]?
  public var untouchedCount: Int64 = 0
  /// Whether the file was written anew.
  public var isUpdated = false

  public init(file: String) { self.file = file }

  enum CodingKeys: String, CodingKey {
    case file, untouched
    case entryCount = "entry_count"
    case newCount = "new_count"
    case untouchedCount = "untouched_count"
    case isUpdated = "updated"
  }
}
