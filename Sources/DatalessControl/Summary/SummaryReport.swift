import Glibc

/// What a log says about one session: the answer of `dataless summary`.
///
/// Byte and time values are sums over the whole session; every name follows the event log's.
public struct SummaryReport: Codable, Sendable, Equatable {
  public var session = ""
  public var source = ""
  public var mountpoint = ""
  /// The log file.
  public var log = ""
  /// Time of the first and of the last record; RFC 3339.
  public var started: String?
  public var ended: String?
  /// Why the volume was unmounted; absent while it is mounted, or when its daemon was killed.
  public var unmountReason: String?
  /// Between the first and the last record.
  public var durationNanoseconds: Int64 = 0
  public var completeness = Completeness()
  public var materialized = Materialized()
  /// What of the volume is known; the whole of it once everything has been listed.
  public var known = Known()
  public var blocked = Blocked()
  /// What of it main threads waited for.
  public var mainThread = MainThread()
  /// How programs use the volume: one for each kind.
  public var findings: [Finding] = []
  /// Who is blocked now, the longest first, at most 64.
  public var waiting: [Waiting] = []
  public var use = Use()
  /// Attempts that ended with an errno, by its name, and triggers that policy refused.
  public var failures: [String: Int64] = [:]
  public var refusals: [String: Int64] = [:]
  /// What the refused triggers would have materialized.
  public var refused = Refused()
  /// What gates held.
  public var held = Held()
  /// Calls that needed no materialization and were delayed, by operation; the longest blocked first. They are in no
  /// other number.
  public var access: [Access] = []
  /// Programs that came one after the other, and what it was good for; absent when nobody coordinated.
  public var coordination: Coordination?
  /// Materializations that were started, by trigger.
  public var triggers: [String: Int64] = [:]
  public var evictions = Evictions()
  public var repeated = Repeated()
  /// The most directories that had to be materialized one after another to reach one path.
  public var longestDirectoryChain: Chain?
  /// Most bytes first.
  public var processes: [ProcessSummary] = []
  /// By the first component of the path; `.` for files in the root. Most bytes first.
  public var topLevelDirectories: [TopLevel] = []
  /// Absent when the log has no counters, as that of a killed daemon.
  public var requestsReachingTheVolume: [String: Int64]?
  /// What happened before the first mark, and after each one; empty without marks.
  public var sections: [Section] = []
  public var run: Run?
  /// What the scenario's rules did, by the last counters in the log; absent without rules.
  public var rules: RuleCounts?
  /// What was changed on a volume that can be written to, by the last counters in the log; at its end all of it was
  /// forgotten.
  public var changes: ChangeCounts?
  /// Whether the volume keeps its changes (`--state`), whose counts are then of what was looked into. Not in the JSON.
  var keepsChanges = false
  /// Every file that was tried or opened; only if asked for.
  public var files: [FileSummary]?

  public init() {}

  enum CodingKeys: String, CodingKey {
    case session, source, mountpoint, log, started, ended
    case unmountReason = "unmount_reason"
    case durationNanoseconds = "duration_ns"
    case mainThread = "main_thread"
    case findings
    case completeness, materialized, known, blocked, waiting, use, failures, refusals, refused, held, access,
      coordination, triggers, evictions, repeated
    case longestDirectoryChain = "longest_directory_chain"
    case processes
    case topLevelDirectories = "top_level_directories"
    case requestsReachingTheVolume = "requests_reaching_the_volume"
    case sections, run, rules, changes, files
  }
}

extension SummaryReport {
  /// The command of `dataless run`.
  public struct Run: Codable, Sendable, Equatable {
    public var command: [String] = []
    /// Whether the log keeps only the program and its script.
    public var isCommandWithheld = false
    public var exitStatus: Int64?
    public var signal: String?
    /// Name of the errno with which it could not be executed; absent when it was, or the log does not tell.
    public var notStarted: String?
    /// Name of the signal that told `run` to end while the command went on; absent without one.
    public var interruptedBy: String?
    /// The budget that was exceeded first, if one was.
    public var exceeded: Excess?
    /// Why more might have been done than the log tells; absent where nothing could, and before the end.
    public var gap: String?

    enum CodingKeys: String, CodingKey {
      case command, signal, exceeded, gap
      case isCommandWithheld = "command_withheld"
      case exitStatus = "exit_status"
      case notStarted = "not_started"
      case interruptedBy = "interrupted_by"
    }

    /// How it ended, such as `exit status 0` or `SIGKILL`, escaped for a terminal.
    public var end: String {
      if let notStarted { return "could not be executed (\(TerminalText.escaped(notStarted)))" }
      let end =
        signal.map { TerminalText.escaped($0) } ?? exitStatus.map { "exit status \($0)" } ?? "no end in the log"
      return interruptedBy.map { "\(end), told to end by \(TerminalText.escaped($0))" } ?? end
    }
  }

  public struct Excess: Codable, Sendable, Equatable {
    /// `files` or `bytes`.
    public var budget: String
    public var limit: Int64
    public var used: Int64
    public var path: String
    public var pathBase64: String?
    /// `comm[pid]`, of a script `comm script[pid]`.
    public var process: String

    enum CodingKeys: String, CodingKey {
      case budget, limit, used, path, process
      case pathBase64 = "path_b64"
    }
  }
}

extension SummaryReport {
  /// Reads a log file from its beginning to its end.
  ///
  /// - Parameters:
  ///   - session: Whose records count. Default: those of the session that was mounted last.
  ///   - isMounted: Whether the volume still writes the log, so that it may well have no end. Default: no.
  ///   - owner: As in `LogFile.init`. Default: nil.
  ///   - lost: Records that the daemon says are not in the file. Default: only what the file itself tells of losses.
  ///   - files: In which order to report on every file. Default: not at all.
  ///   - frame: Nanoseconds that a main thread may wait without a hitch. Default: a frame at 60 Hz.
  ///   - other: Who reads along.
  /// - Throws: `ControlError.system` when the file cannot be read, or what was put aside of it cannot be read again;
  ///   `.malformed` when it holds no record, `.otherVersion` when those that it holds are of another version of the
  ///   format.
  public static func load(
    log: [UInt8], owner: UInt32? = nil, session: String? = nil, isMounted: Bool = false, lost: Int64 = 0,
    files: FileSummary.Order? = nil, frame: Int64 = Hitches.defaultFrame, other: LogReader? = nil
  ) throws(ControlError) -> SummaryReport {
    let (report, table) = try loadWithTable(
      log: log, owner: owner, session: session, isMounted: isMounted, lost: lost, keepsFiles: files != nil,
      frame: frame, other: other)
    guard let files else { return report }
    var result = report
    result.files = table.summaries(by: files)
    return result
  }

  /// As `load`, with files in few bytes rather than in the report.
  ///
  /// - Parameter keepsFiles: Whether they are asked for.
  public static func loadWithTable(
    log: [UInt8], owner: UInt32? = nil, session: String? = nil, isMounted: Bool = false, lost: Int64 = 0,
    keepsFiles: Bool = true, frame: Int64 = Hitches.defaultFrame, other: LogReader? = nil
  ) throws(ControlError) -> (report: SummaryReport, files: FileTable) {
    // Waits that have not ended count up to here; the daemon's clock is this machine's.
    let now = isMounted ? MonotonicClock.nanoseconds : nil
    let file = try LogFile(path: log, owner: owner)
    var builder = SummaryBuilder(session: session, files: keepsFiles ? .needless : nil, frame: frame)
    func add(_ record: LogRecord?) {
      let unread = file.takeUnread()
      builder.addUnread(unread)
      other?(record, unread)
      if let record { builder.add(record) }
    }
    while let record = try file.next() { add(record) }
    add(file.tornLine())
    guard builder.recordCount > 0 else { throw .noRecord(log, file.unread) }
    let result = builder.finishWithTable(log: log, isMounted: isMounted, lost: lost, now: now)
    if let failure = builder.failure { throw failure }
    return result
  }
}

/// CLOCK_MONOTONIC, as the log's `monotonic_ns`.
enum MonotonicClock {
  static var nanoseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
