/// What processes with the same name, executable and starter materialized together.
public struct ProcessSummary: Codable, Sendable, Equatable {
  /// A process on the way from one that materialized up to the first.
  public struct Ancestor: Codable, Sendable, Equatable {
    public var pid: Int32
    public var comm: String?
    public var exe: String?
    enum CodingKeys: String, CodingKey, CaseIterable { case pid, comm, exe }
  }

  /// Absent when it could not be read.
  public var comm: String?
  public var exe: String?
  /// Whether this is what `dataless materialize` asked for, which no process of the log did.
  public var isCommand = false
  /// How many processes, and the first 16 of them.
  public var pidCount: Int64 = 0
  public var pids: [Int32] = []
  /// The nearest ancestor with another executable.
  public var startedBy: Ancestor?
  /// The ancestors of the first of these processes, nearest first.
  public var ancestors: [Ancestor] = []
  /// Materializations that they triggered.
  public var files: Int64 = 0
  public var directories: Int64 = 0
  public var bytes: Int64 = 0
  public var failures: Int64 = 0
  /// Triggers that policy refused, and what they would have materialized.
  public var refusals: Int64 = 0
  public var refused = SummaryReport.Refused()
  public var blocked = SummaryReport.Blocked()
  /// Files by how much these processes read of them; needless are those that were materialized for them.
  public var use = SummaryReport.Use()
  /// `nothing`, `opened_not_read`, `header_only`, `in_part`, `whole`, `unknown` or `read_again_after_eviction`: most of `use`.
  public var verdict = "nothing"

  public init() {}

  enum CodingKeys: String, CodingKey, CaseIterable {
    case comm, exe, pids, ancestors, files, directories, bytes, failures, refusals, refused, blocked, use, verdict
    case isCommand = "is_command"
    case pidCount = "pid_count"
    case startedBy = "started_by"
  }

  /// The kind of use with the most files; of equal ones the most wasteful that is known.
  mutating func judge() {
    let counts: [(String, Int64)] = [
      ("read_again_after_eviction", use.readAgainAfterEviction), ("opened_not_read", use.openedNotRead),
      ("header_only", use.headerOnly), ("in_part", use.inPart), ("whole", use.whole), ("unknown", use.unknown),
    ]
    var best = ("nothing", Int64(0))
    for count in counts where count.1 > best.1 { best = count }
    verdict = best.0
  }
}
