import DatalessCore

/// Files that one process wrote while another one had them open, where nothing shows that they agree about it: no lock,
/// and no intent of either.
///
/// Memory: some 50 bytes for each process, 24 for each file and process that is told, 16 for each file of which nobody
/// knows, and what `HeldIntents` takes.
struct WritesTogether: Sendable {
  /// What a record is of.
  struct Write: Sendable, Equatable {
    var process: UInt32?
    var other: UInt32?
    var path: [UInt8]
    /// Whether it is found; else nobody knows who they are, or whether there was a lock.
    var isKnown: Bool
  }

  /// Files of which nobody knows, the first ones by name. Several processes may have written to each.
  struct Untold: Sendable {
    private static let pathsMax = 3
    // LIMIT: files that are counted once. Beyond, each time counts that one is told of.
    private static let filesMax = 100_000

    private(set) var count: Int64 = 0
    private var paths: [[UInt8]] = []
    private var hashes: Set<UInt64> = []

    mutating func add(_ path: [UInt8]) {
      let hash = PathHash.of(path)
      guard !hashes.contains(hash) else { return }
      if hashes.count < Self.filesMax { hashes.insert(hash) }
      count += 1
      if paths.count < Self.pathsMax { paths.append(path) }
    }

    /// `4 files (a.txt, b.txt, c.txt, ...)`: escaped for a terminal.
    var files: String {
      let names = paths.map { TerminalText.escaped($0) }.joined(separator: ", ")
      return "\(HumanText.count(count, "file")) (\(names)\(count > Int64(paths.count) ? ", ..." : ""))"
    }
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

  // LIMIT: processes whose ancestors are known. Beyond, an intent is taken for that of whoever writes.
  private static let processesMax = 65_536
  // LIMIT: files and processes that are told once. Beyond, each open through which something was written counts.
  private static let toldMax = 100_000

  /// Whether such writes are in the log at all: not in those of versions that did not look.
  private(set) var isTold = false
  /// Whether nothing on the volume can be written to.
  private(set) var isReadOnly = false
  /// Files of which nobody knows: as the kernel wrote them itself, as mappings stored to them, and for other reasons.
  private(set) var unseen = Untold()
  private(set) var mapped = Untold()
  private(set) var unknown = Untold()
  /// Processes that have held a lock while they wrote beside others: what they store to mappings they store so, too.
  private var lockers: Set<UInt32> = []

  private var held = HeldIntents()
  private var processes: [UInt32: Seen] = [:]
  private var told: Set<Told> = []

  /// - Returns: What the record says that was not said yet, known or not; nil for nothing.
  mutating func note(_ record: LogRecord) -> Write? {
    let json = record.json
    switch record.type {
    case .volumeMounted:
      isReadOnly = json.bool("read_only") == true
      isTold = isReadOnly || json.bool("together") == true
    case .processSeen: seen(record)
    case .coordinationGranted: held.granted(record)
    case .coordinationFinished: if let number = json.unsigned("intent") { held.ended(number) }
    // Of a change in SOURCE, too: only one that is a rename has an old name.
    case .itemRenamed, .sourceChanged: renamed(json)
    case .handleTogether: return written(record)
    default: break
    }
    return nil
  }

  private mutating func written(_ record: LogRecord) -> Write? {
    let json = record.json
    guard let path = json.path else { return nil }
    guard json.bool("locked") != true else {
      if let process = record.process, lockers.count < Self.processesMax { lockers.insert(process) }
      return nil
    }
    let isMapped = json.has("reason", "mapped")
    if isMapped, let process = record.process, lockers.contains(process) { return nil }
    let other = json.unsigned("other").flatMap { UInt32(exactly: $0) }
    let isKnown = json.bool("locked") == false && other != nil && record.process != nil
    let write = Write(process: record.process, other: other, path: path, isKnown: isKnown)
    guard !isCoordinated(write) else { return nil }
    let key = Told(path: PathHash.of(path), process: record.process, isKnown: isKnown)
    guard !told.contains(key) else { return nil }
    if told.count < Self.toldMax { told.insert(key) }
    if !isKnown { add(untold: path, isMapped: isMapped, isUnseen: json.has("reason", "unseen")) }
    return write
  }

  private mutating func add(untold path: [UInt8], isMapped: Bool, isUnseen: Bool) {
    if isMapped {
      mapped.add(path)
    } else if isUnseen {
      unseen.add(path)
    } else {
      unknown.add(path)
    }
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

  private mutating func renamed(_ json: JSONObject) {
    guard !held.isEmpty, let new = json.path, let old = json.name("old_path", "old_path_b64") else { return }
    held.renamed(old, to: new)
    if json.bool("exchange") == true { held.renamed(new, to: old) }
  }

  /// Whether the writer or the other one, or who has started them, holds an intent on the file.
  private func isCoordinated(_ write: Write) -> Bool {
    guard !held.areTooMany else { return true }
    guard !held.isEmpty else { return false }
    let pids = lineage([write.process, write.other])
    let knowsAll = processes.count < Self.processesMax
    return held.isHeld(write.path) { holder in
      guard knowsAll, let holder, let pid = processes[holder]?.pid else { return true }
      return pids.contains(pid)
    }
  }
}
