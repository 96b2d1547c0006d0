/// Gathers what processes did, by command name, executable and starter.
struct SummaryProcesses: Sendable {
  private struct Key: Hashable {
    var comm: [UInt8]?
    var exe: [UInt8]?
    var starter: [UInt8]?
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

  /// The process with an id was seen (again), maybe under another name.
  mutating func forget(_ id: UInt32) { indexByID[id] = nil }

  /// - Parameter isCommand: Whether a command of ours asked for it, which has no id.
  mutating func with(
    _ id: UInt32?, _ processes: LogProcesses, isCommand: Bool = false, _ body: (inout ProcessSummary) -> Void
  ) {
    body(&groups[index(of: id, processes, isCommand: isCommand)].summary)
  }

  /// Policy refused a trigger.
  mutating func refused(_ record: LogRecord, _ processes: LogProcesses) {
    let index = index(of: record.process, processes)
    groups[index].summary.refusals += 1
    groups[index].refused.add(record)
  }

  mutating func waited(
    _ id: UInt32?, _ processes: LogProcesses, isCommand: Bool, from start: Int64, to end: Int64,
    isUnderWay: Bool = false
  ) {
    let index = index(of: id, processes, isCommand: isCommand)
    groups[index].summary.blocked.add(end.minus(start), isUnderWay: isUnderWay)
    groups[index].wall.insert(from: start, to: end)
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
    let starter = chain.dropFirst().first { $0.exe != nil && $0.exe != chain.first?.exe }
    let key = Key(
      comm: chain.first?.comm, exe: chain.first?.exe, starter: starter?.exe, isCommand: isCommand && id == nil)
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
    ProcessSummary.Ancestor(pid: process.pid, comm: process.comm.map(text), exe: process.exe.map(text))
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
    guard wallNanoseconds > 0 else { return }
    // Two digits are all that is meant.
    parallelism = (Double(sumNanoseconds) * 100 / Double(wallNanoseconds)).rounded() / 100
  }
}
