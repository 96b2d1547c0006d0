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
  /// Every file that was tried or opened; only if asked for.
  public var files: [FileSummary]?

  public init() {}

  enum CodingKeys: String, CodingKey, CaseIterable {
    case session, source, mountpoint, log, started, ended
    case unmountReason = "unmount_reason"
    case durationNanoseconds = "duration_ns"
    case completeness, materialized, known, blocked, waiting, use, failures, refusals, refused, held, triggers,
      evictions,
      repeated
    case longestDirectoryChain = "longest_directory_chain"
    case processes
    case topLevelDirectories = "top_level_directories"
    case requestsReachingTheVolume = "requests_reaching_the_volume"
    case sections, run, rules, files
  }
}
