/// What processes with the same name, executable, script and starter materialized together.
public struct ProcessSummary: Codable, Sendable, Equatable {
  /// A process on the way from one that materialized up to the first.
  public struct Ancestor: Codable, Sendable, Equatable {
    public var pid: Int32
    public var comm: String?
    public var exe: String?
    /// What an interpreter runs; absent where there is none, or none is known.
    public var script: String?
  }

  /// Absent when it could not be read.
  public var comm: String?
  public var exe: String?
  /// What an interpreter runs; absent where there is none, or none is known.
  public var script: String?
  /// The unit of systemd and the container of the first of these processes; absent outside of any.
  public var unit: String?
  public var container: String?
  /// Whether this is what `dataless materialize` asked for, which no process of the log did.
  public var isCommand = false
  /// How many processes, and the first 16 of them.
  public var pidCount: Int64 = 0
  public var pids: [Int32] = []
  /// The nearest ancestor with another executable, or of another script.
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
  /// Of `blocked`, what main threads are known to have waited.
  public var mainThreadBlockedNanoseconds: Int64 = 0
  /// Files by how much these processes read of them; needless are those that were materialized for them.
  public var use = SummaryReport.Use()
  /// `nothing`, `opened_not_read`, `header_only`, `in_part`, `whole`, `unknown` or `read_again_after_eviction`: most of
  /// `use`.
  public var verdict = "nothing"

  public init() {}

  enum CodingKeys: String, CodingKey {
    case comm, exe, script, unit, container, pids, ancestors, files, directories, bytes, failures, refusals, refused,
      blocked, use,
      verdict
    case isCommand = "is_command"
    case pidCount = "pid_count"
    case startedBy = "started_by"
    case mainThreadBlockedNanoseconds = "main_thread_blocked_ns"
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

/// Gathers what processes did, by command name, executable, script and starter.
struct SummaryProcesses: Sendable {
  private struct Key: Hashable {
    var comm: [UInt8]?
    var exe: [UInt8]?
    /// Two tools of one interpreter are two.
    var script: [UInt8]?
    var starter: [UInt8]?
    var starterScript: [UInt8]?
    var isCommand: Bool
  }

  private struct Group {
    var summary = ProcessSummary()
    var pids: Set<Int32> = []
    var wall = IntervalUnion(limit: 1_024)
    var refused = RefusedItems()
  }

  private var groups: [Group] = []
  private var indexByKey: [Key: Int] = [:]
  private var indexByID: [UInt32: Int] = [:]
  /// What was refused to each group.
  private var seenRefused: SpilledNumbers

  /// - Parameter limits: Of what stays in memory of items that were refused.
  init(limits: SpillLimits) { seenRefused = SpilledNumbers(limits: limits) }

  /// The process with an id was seen (again), maybe under another name.
  mutating func forget(_ id: UInt32) { indexByID[id] = nil }

  /// - Parameter isCommand: Whether a command of ours asked for it, which has no id.
  mutating func with(
    _ id: UInt32?, processes: LogProcesses, isCommand: Bool = false, _ body: (inout ProcessSummary) -> Void
  ) {
    body(&groups[index(of: id, processes, isCommand: isCommand)].summary)
  }

  /// Policy refused a trigger.
  mutating func refused(_ record: LogRecord, _ processes: LogProcesses) {
    let index = index(of: record.process, processes)
    groups[index].summary.refusals += 1
    groups[index].refused.add(record, seen: &seenRefused, salt: HashMix.of(UInt64(index)))
  }

  mutating func waited(_ wait: CountedWait, _ processes: LogProcesses) {
    let index = index(of: wait.process, processes, isCommand: wait.isCommand)
    groups[index].summary.blocked.add(wait.blocked, isUnderWay: wait.isUnderWay)
    groups[index].wall.insert(from: wait.start, to: wait.end)
    guard wait.isMainThread == true, !wait.isCommand else { return }
    groups[index].summary.mainThreadBlockedNanoseconds =
      groups[index].summary.mainThreadBlockedNanoseconds.plus(wait.blocked)
  }

  /// Most bytes first, then most files, then longest blocked; names decide between equals.
  ///
  /// - Parameter uses: Of files, by the index of a group.
  func summaries(_ uses: [Int: SummaryReport.Use]) -> [ProcessSummary] {
    groups.enumerated().map { index, group in
      var summary = group.summary
      summary.use = uses[index] ?? SummaryReport.Use()
      summary.blocked.wallNanoseconds = group.wall.length
      summary.blocked.setParallelism()
      summary.refused = group.refused.sum
      summary.judge()
      return summary
    }.sorted {
      ($1.bytes, $1.files, $1.directories, $1.blocked.sumNanoseconds, $0.comm ?? "", $0.exe ?? "")
        < ($0.bytes, $0.files, $0.directories, $0.blocked.sumNanoseconds, $1.comm ?? "", $1.exe ?? "")
    }
  }

  /// The group of a process.
  mutating func index(of id: UInt32?, _ processes: LogProcesses, isCommand: Bool = false) -> Int {
    if let id, let index = indexByID[id] { return index }
    let chain = id.map { processes.chain(of: $0) } ?? []
    // What a script starts in its own shell is of that script.
    let starter = chain.dropFirst().first { ancestor in
      ancestor.exe != nil && (ancestor.exe != chain.first?.exe || ancestor.script != chain.first?.script)
    }
    let key = Key(
      comm: chain.first?.comm, exe: chain.first?.exe, script: chain.first?.script, starter: starter?.exe,
      starterScript: starter?.script, isCommand: isCommand && id == nil)
    let index: Int
    if let known = indexByKey[key] {
      index = known
    } else {
      index = groups.count
      indexByKey[key] = index
      var group = Group()
      group.summary.isCommand = key.isCommand
      group.summary.comm = chain.first?.comm.map(Self.text)
      group.summary.exe = chain.first?.exe.map(Self.text)
      group.summary.script = chain.first?.script.map(Self.text)
      group.summary.unit = chain.first?.unit.map(Self.text)
      group.summary.container = chain.first?.container.map(Self.text)
      group.summary.startedBy = starter.map(Self.ancestor)
      group.summary.ancestors = chain.dropFirst().map(Self.ancestor)
      groups.append(group)
    }
    if let id { indexByID[id] = index }
    if let pid = chain.first?.pid, groups[index].pids.insert(pid).inserted {
      groups[index].summary.pidCount += 1
      if groups[index].summary.pids.count < 16 { groups[index].summary.pids.append(pid) }
    }
    return index
  }

  private static func ancestor(_ process: LogProcesses.Process) -> ProcessSummary.Ancestor {
    ProcessSummary.Ancestor(
      pid: process.pid, comm: process.comm.map(text), exe: process.exe.map(text), script: process.script.map(text))
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension SummaryReport.Blocked {
  mutating func add(_ nanoseconds: Int64, isUnderWay: Bool = false) {
    waits += 1
    if isUnderWay { underWay += 1 }
    sumNanoseconds = sumNanoseconds.plus(nanoseconds)
    longestNanoseconds = max(longestNanoseconds, nanoseconds)
  }

  mutating func setParallelism() {
    guard let wall = wallNanoseconds, wall > 0 else { return }
    // Two digits are all that is meant.
    parallelism = (Double(sumNanoseconds) * 100 / Double(wall)).rounded() / 100
  }
}
