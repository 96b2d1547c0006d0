import DatalessCore

/// Files that one process wrote while another one had them open, where nothing shows that they agree about it: no lock,
/// and no intent of either.
///
/// Memory: some 50 bytes for each process, 24 for each file and process that is told, and the names of the intents that
/// are held.
struct WritesTogether: Sendable {
  /// What a record is of.
  struct Write: Sendable, Equatable {
    var process: UInt32?
    var other: UInt32?
    var path: [UInt8]
  }

  private struct Intent: Sendable {
    var process: UInt32?
    var paths: [[UInt8]]
    /// Whether it has names that are not in the log.
    var hasMore: Bool
  }

  private struct Seen: Sendable {
    var pid: Int64?
    var parents: [UInt32]
  }

  private struct Told: Hashable {
    var path: UInt64
    var process: UInt32?
    var isKnown: Bool
  }

  // LIMIT: intents that are held at the same time, and names that one has after renames. Beyond, whoever writes is
  // taken to coordinate.
  private static let intentsMax = 4_096
  private static let namesMax = 64
  // LIMIT: processes whose ancestors are known. Beyond, an intent is taken for that of whoever writes.
  private static let processesMax = 65_536
  // LIMIT: files and processes that are told once. Beyond, each open through which something was written counts.
  private static let toldMax = 100_000

  /// Whether such writes are in the log at all: not in those of versions that did not look.
  private(set) var isTold = false
  /// Files of which nobody knows: as the kernel wrote them itself, and for other reasons.
  private(set) var unseen: Int64 = 0
  private(set) var unknown: Int64 = 0

  private var intents: [UInt64: Intent] = [:]
  private var hasTooManyIntents = false
  private var processes: [UInt32: Seen] = [:]
  private var told: Set<Told> = []

  /// - Returns: What is found by the record; nil for nothing.
  mutating func note(_ record: LogRecord) -> Write? {
    let json = record.json
    switch record.type {
    case .volumeMounted: isTold = json.bool("together") == true || json.bool("read_only") == true
    case .processSeen: seen(record)
    case .coordinationGranted: granted(record)
    case .coordinationFinished: if let number = json.unsigned("intent") { intents[number] = nil }
    case .itemRenamed: renamed(json)
    case .handleTogether: return written(record)
    default: break
    }
    return nil
  }

  private mutating func written(_ record: LogRecord) -> Write? {
    let json = record.json
    guard let path = json.path, json.bool("locked") != true else { return nil }
    let other = json.unsigned("other").flatMap { UInt32(exactly: $0) }
    let write = Write(process: record.process, other: other, path: path)
    guard !isCoordinated(write) else { return nil }
    let isKnown = json.bool("locked") == false && other != nil && record.process != nil
    let key = Told(path: PathHash.of(path), process: record.process, isKnown: isKnown)
    guard !told.contains(key) else { return nil }
    if told.count < Self.toldMax { told.insert(key) }
    if isKnown { return write }
    if json.string("reason") == "unseen" { unseen += 1 } else { unknown += 1 }
    return nil
  }

  // MARK: - Processes

  private mutating func seen(_ record: LogRecord) {
    guard let id = record.process, processes.count < Self.processesMax || processes[id] != nil else { return }
    processes[id] = Seen(
      pid: record.json.integer("pid"),
      parents: record.json.integers("parents").prefix(LogProcesses.parentsMax).compactMap { UInt32(exactly: $0) })
  }

  /// Process ids of processes and of their ancestors: a program that coordinates has others write for it.
  private func lineage(_ ids: [UInt32?]) -> Set<Int64> {
    var pids: Set<Int64> = []
    for id in ids {
      guard let id, let process = processes[id] else { continue }
      if let pid = process.pid { pids.insert(pid) }
      for parent in process.parents { if let pid = processes[parent]?.pid { pids.insert(pid) } }
    }
    return pids
  }

  // MARK: - Intents

  private mutating func granted(_ record: LogRecord) {
    let json = record.json
    guard let number = json.unsigned("intent"), let path = json.path else { return }
    guard intents.count < Self.intentsMax else {
      hasTooManyIntents = true
      return
    }
    let names = json.names.isEmpty ? [path] : Array(json.names.prefix(Self.namesMax))
    let count = (json.integer("reads") ?? 0).plus(json.integer("writes") ?? 0)
    intents[number] = Intent(process: record.process, paths: names, hasMore: count > Int64(names.count))
  }

  /// Who holds a name holds what has it, and so the name that this gets.
  private mutating func renamed(_ json: JSONObject) {
    guard !intents.isEmpty, let new = json.path, let old = json.name("old_path", "old_path_b64") else { return }
    for (number, intent) in intents {
      if intent.paths.contains(where: { Self.covers($0, old) }) { hold(new, number) }
      if json.bool("exchange") == true, intent.paths.contains(where: { Self.covers($0, new) }) { hold(old, number) }
    }
  }

  private mutating func hold(_ path: [UInt8], _ number: UInt64) {
    guard let place = intents.index(forKey: number) else { return }
    if intents.values[place].paths.count < Self.namesMax {
      intents.values[place].paths.append(path)
    } else {
      intents.values[place].hasMore = true
    }
  }

  /// Whether the writer or the other one, or who has started them, holds an intent on the file.
  private func isCoordinated(_ write: Write) -> Bool {
    guard !hasTooManyIntents else { return true }
    guard !intents.isEmpty else { return false }
    let pids = lineage([write.process, write.other])
    let knowsAll = processes.count < Self.processesMax
    return intents.values.contains { intent in
      guard intent.hasMore || intent.paths.contains(where: { Self.covers($0, write.path) }) else { return false }
      guard knowsAll, let holder = intent.process, let pid = processes[holder]?.pid else { return true }
      return pids.contains(pid)
    }
  }

  /// Whether a path is a name, or below it. The volume's root is empty.
  private static func covers(_ name: [UInt8], _ path: [UInt8]) -> Bool {
    guard !name.isEmpty, path != name else { return true }
    return path.count > name.count && path[name.count] == PathBytes.slash && path.starts(with: name)
  }
}
