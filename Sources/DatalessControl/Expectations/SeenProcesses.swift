import DatalessCore

/// The processes of one session, by the ids of its log: who they are in words, what conditions ask of them, and which
/// of them `dataless run` started.
///
/// Memory: some 500 bytes for each process of the log.
struct SeenProcesses: Sendable {
  struct Process: Sendable {
    /// nil for one that cannot be looked at.
    var pid: Int32?
    var facts: ProcessFacts
    var script: [UInt8]?
    /// Ids, nearest first.
    var parents: [UInt32]
  }

  // LIMIT: the daemon writes less. A log is a file that anybody may have written.
  private static let nameBytesMax = 64
  private static let pathBytesMax = 4_096
  private static let parentsMax = 32

  private var byID: [UInt32: Process] = [:]

  mutating func add(_ record: LogRecord) {
    guard record.type == .processSeen, let id = record.process else { return }
    let json = record.json
    func name(_ value: [UInt8]?, _ max: Int) -> [UInt8]? { value.map { Array($0.prefix(max)) } }
    byID[id] = Process(
      pid: json.integer("pid").flatMap { Int32(exactly: $0) },
      facts: ProcessFacts(
        executable: name(json.name("exe", "exe_b64"), Self.pathBytesMax),
        commandName: name(json.name("comm", "comm_b64"), Self.nameBytesMax),
        cgroup: name(json.name("cgroup", "cgroup_b64"), Self.pathBytesMax),
        uid: json.integer("uid").flatMap { UInt32(exactly: $0) }),
      script: name(json.name("script", "script_b64"), 255),
      parents: json.integers("parents").prefix(Self.parentsMax).compactMap { UInt32(exactly: $0) })
  }

  subscript(id: UInt32) -> Process? { byID[id] }

  /// The id, if it is that of one process alone: those that cannot be looked at share theirs.
  func alone(_ id: UInt32?) -> UInt32? { id.flatMap { byID[$0]?.pid == nil ? nil : $0 } }

  /// The ancestors that are known, nearest first, and whether these are all up to the first process.
  func ancestors(of process: Process) -> (known: [Process], areAll: Bool) {
    let known = process.parents.compactMap { byID[$0] }
    // For whom a thread of the kernel works nobody knows: their parent is no ancestor of whoever that is.
    let last = known.last?.pid ?? process.pid
    return (known, known.count == process.parents.count && last == 1)
  }

  /// The ancestors up to `dataless run` itself, nearest first, those that are not known as nil.
  ///
  /// - Parameter root: Its pid.
  /// - Returns: nil for a process that is not known to be of the run.
  func ancestors(of process: Process, upTo root: Int32) -> [Process?]? {
    let end = process.parents.firstIndex { byID[$0]?.pid == root }
    return end.map { end in process.parents[...end].map { byID[$0] } }
  }

  /// Whether the command of `dataless run` did what this process did. Who may be of it counts as of it, as for budgets:
  /// one that cannot be looked at, one whose ancestors are not known up to the first process, and a thread of the
  /// kernel (a file of the volume behind a loop device is read by one).
  ///
  /// - Parameter root: The pid whose descendants are meant; nil for everybody.
  func isOfRun(_ id: UInt32?, root: Int32?) -> Certainty {
    guard let root, let id else { return .yes }
    // What the log has lost of it is another matter.
    guard let process = byID[id] else { return .unknown }
    let (known, areAll) = ancestors(of: process)
    if known.contains(where: { $0.pid == root }) { return .yes }
    return areAll ? .no : known.count == process.parents.count ? .yes : .unknown
  }

  /// For a verdict; nil for an unknown one.
  func told(_ id: UInt32?) -> (process: Violation.Process, ancestors: [Violation.Process])? {
    guard let process = id.flatMap({ byID[$0] }) else { return nil }
    return (Self.told(process), ancestors(of: process).known.map(Self.told))
  }

  private static func told(_ process: Process) -> Violation.Process {
    func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
    let (comm, exe) = (process.facts.commandName, process.facts.executable)
    return Violation.Process(
      name: text(ProcessName.of(comm: comm, exe: exe, script: process.script)) ?? "?", pid: process.pid,
      comm: text(comm), exe: text(exe), script: text(process.script))
  }
}
