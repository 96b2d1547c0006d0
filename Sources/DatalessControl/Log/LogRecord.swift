public import DatalessCore

/// One line of an event log. Unknown types and fields are kept; a field that is missing or odd reads as nil.
public struct LogRecord: Sendable {
  public let json: JSONObject
  /// nil when the line has none that this version knows.
  public let type: EventType?
  /// Such as `materialization.started`; empty when the line has none.
  public var typeName: String { json.string("type") ?? "" }

  /// The version of the format that this program reads. It grows only when the meaning of a key changes: so a record of
  /// another one may mean anything, and is none.
  static let version: Int64 = 1
  private static let quote = UInt8(ascii: "\"")

  /// - Parameter line: Without its newline. nil when it is not a JSON object, or of another version of the format, or
  ///   lacks what every record has: its version, its session and its type.
  public init?(line: [UInt8]) {
    guard let json = JSONObject(line), json.integer("v") == Self.version, let session = json.raw("session"),
      let type = json.raw("type"), session.first == Self.quote, session.count > 2, type.first == Self.quote
    else { return nil }
    self.init(json)
  }

  /// - Parameter json: Of a record, or as much of one as is looked at.
  init(_ json: JSONObject) {
    self.json = json
    type = json.raw("type").flatMap(Self.eventType)
  }

  /// The version of the format that a line is of; nil for this program's, and for what is no record at all.
  static func otherVersion(of line: [UInt8]) -> Int64? {
    JSONObject(line)?.integer("v").flatMap { $0 == version ? nil : $0 }
  }

  /// By its bytes: finding the case of a string takes longer than all the rest of a line does.
  private static func eventType(_ value: ArraySlice<UInt8>) -> EventType? {
    for (name, type) in types where name.count == value.count && value.elementsEqual(name) { return type }
    guard value.contains(UInt8(ascii: "\\")) else { return nil }
    return JSONText.decode(value).flatMap { EventType(rawValue: String(decoding: $0, as: UTF8.self)) }
  }

  /// As they are written, in quotes; the most frequent first.
  private static let types: [([UInt8], EventType)] = {
    let frequent: [EventType] = [
      .waitStarted, .waitFinished, .materializationStarted, .materializationFinished, .handleClosed,
    ]
    return (frequent + EventType.allCases.filter { !frequent.contains($0) }).map {
      (Array("\"\($0.rawValue)\"".utf8), $0)
    }
  }()

  /// The line as it is in the file.
  public var line: [UInt8] { json.bytes }
  public var session: String? { json.string("session") }
  public var sequence: UInt64? { json.unsigned("seq") }
  /// RFC 3339, UTC.
  public var time: String? { json.string("time") }
  public var monotonicNanoseconds: Int64? { json.integer("monotonic_ns") }
  public var attempt: UInt64? { json.unsigned("attempt") }
  /// The id of the process in this session; nil when unknown.
  public var process: UInt32? { json.unsigned("process").flatMap { UInt32(exactly: $0) } }
  public var outcome: String? { json.string("outcome") }
  /// Whether it was triggered by `dataless materialize` or by a policy that fetches early, and by no program.
  public var isTriggeredByCommand: Bool { json.has("trigger", "command") || json.has("trigger", "eager") }

  /// Whether an intent waits, which does so on a descriptor: no thread of its process is blocked by it.
  public var isTriggeredByIntent: Bool { json.has("trigger", "coordinate") }

  /// Whether the type is `name`, or begins with it and a dot.
  public func isOfType(_ name: String) -> Bool {
    let typeName = type?.rawValue ?? typeName
    return typeName.utf8.starts(with: name.utf8)
      && (typeName.utf8.count == name.utf8.count
        || typeName.utf8[typeName.utf8.index(typeName.utf8.startIndex, offsetBy: name.utf8.count)] == UInt8(ascii: "."))
  }
}

/// The processes of one session of a log, by id, as `process.seen` records introduce them.
public struct LogProcesses: Sendable {
  public struct Process: Sendable {
    public var pid: Int32
    /// nil when it could not be read.
    public var comm: [UInt8]?
    public var exe: [UInt8]?
    /// What an interpreter runs.
    public var script: [UInt8]?
    /// Of systemd, and what runs it in a container; nil outside of any.
    public var unit: [UInt8]?
    public var container: [UInt8]?
    /// Ids, nearest first.
    public var parents: [UInt32]
    /// What `LogExpansion` writes of it, itself and as an ancestor; empty unless `keepsRecords`. Not the record, which
    /// may be as long as a line: it would be searched through with every record of the process.
    var fields: [UInt8]
    var fieldsOfParent: [UInt8]

    /// `python3 fm.py`; `fm.py` where the script was executed itself; `?` where nothing is known.
    public var name: [UInt8] { ProcessName.of(comm: comm, exe: exe, script: script) ?? Array("?".utf8) }
  }

  // LIMIT: the daemon writes less. A log is a file that anybody may have written, and what one line says of a process
  // is said again with every record of it.
  private static let commBytesMax = 64
  private static let exeBytesMax = 4_096
  private static let scriptBytesMax = 255
  static let parentsMax = 32

  private var byID: [UInt32: Process] = [:]
  private let keepsRecords: Bool

  /// - Parameter keepsRecords: Whether arguments and all else are needed later; else only names are kept.
  public init(keepsRecords: Bool) { self.keepsRecords = keepsRecords }

  /// Adds the process that a record introduces, if it does. All records must be of one session.
  public mutating func add(_ record: LogRecord) {
    guard record.type == .processSeen, let id = record.process else { return }
    let fields = keepsRecords ? LogExpansion.fields(of: record.json) : ([], [])
    byID[id] = Process(
      pid: record.json.integer("pid").flatMap { Int32(exactly: $0) } ?? 0,
      comm: record.json.name("comm", "comm_b64").map { Array($0.prefix(Self.commBytesMax)) },
      exe: record.json.name("exe", "exe_b64").map { Array($0.prefix(Self.exeBytesMax)) },
      script: record.json.name("script", "script_b64").map { Array($0.prefix(Self.scriptBytesMax)) },
      unit: record.json.name("unit", "unit_b64").map { Array($0.prefix(Self.scriptBytesMax)) },
      container: record.json.name("container", "container_b64").map { Array($0.prefix(Self.scriptBytesMax)) },
      parents: record.json.integers("parents").prefix(Self.parentsMax).compactMap { UInt32(exactly: $0) },
      fields: fields.0, fieldsOfParent: fields.1)
  }

  public subscript(id: UInt32) -> Process? { byID[id] }

  /// A process and its ancestors, nearest first, as far as they are known.
  public func chain(of id: UInt32) -> [Process] {
    guard let process = byID[id] else { return [] }
    return [process] + process.parents.compactMap { byID[$0] }
  }

  /// Whether a process or one of its ancestors has this command name, this last component of its executable, this
  /// script (`fm.py`), or this name as it is shown (`python3 fm.py`).
  public func isNamed(_ id: UInt32, _ name: [UInt8]) -> Bool {
    chain(of: id).contains { process in
      process.comm == name || process.exe.map { isExecutable($0, named: name) } == true
        || process.script.map { PathBytes.lastComponent($0) == name || process.name == name } == true
    }
  }

  /// Earlier daemons wrote the mark of a removed executable into the log.
  private func isExecutable(_ path: [UInt8], named name: [UInt8]) -> Bool {
    PathBytes.lastComponent(path) == name
      || DeletedMark.removed(from: path).map { PathBytes.lastComponent($0) == name } == true
  }
}
