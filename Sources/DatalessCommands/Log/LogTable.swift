import DatalessControl
import DatalessCore

/// Turns records into readable rows: one per materialization, with who waited for it and for how long.
///
/// Records of waits, processes, handles and counters have no row unless their type was asked for.
struct LogTable {
  private struct Started {
    var row: LogRow
    var process: UInt32?
    /// Whether the record of its beginning was asked for.
    var isWanted: Bool
    /// Waits that have begun and not ended; those that end after the attempt still tell its path.
    var waiting = 0
    var isFinished = false
  }

  private static let columns: [TextTable.Column] = [
    .init("TIME (UTC)", width: 12), .init("WHO", width: 20, widthMax: 28), .init("WHAT", width: 13, widthMax: 20),
    .init("SIZE", .right, width: 11), .init("BLOCKED", .right, width: 9), .init("OUTCOME", width: 10),
    .init("PATH"),
  ]
  private static let table = TextTable(columns)

  /// Whether every record was asked for by its type, so that none is left out.
  var showsEveryType = false
  /// Whether an attempt is shown when it starts, too: who watches a live volume wants to see what hangs.
  var showsStarts = false
  private let zone: LogZone
  private var started: [UInt64: Started] = [:]
  private var stacks = LogStacks()

  static var header: String { header(.utc) }

  static func header(_ zone: LogZone) -> String {
    guard zone != .utc else { return table.header }
    var columns = columns
    columns[0].title = "TIME (LOCAL)"
    return TextTable(columns).header
  }

  init(showsEveryType: Bool, showsStarts: Bool, zone: LogZone = .utc) {
    self.showsEveryType = showsEveryType
    self.showsStarts = showsStarts
    self.zone = zone
  }

  /// The row of a record; nil when it has none.
  ///
  /// - Parameter isWanted: Whether it was asked for: of another only what later rows tell of it is kept. Default: yes.
  mutating func row(_ record: LogRecord, _ processes: LogProcesses, isWanted: Bool = true) -> LogRow? {
    switch record.type {
    case .materializationStarted:
      let row = makeRow(record, processes)
      if let attempt = record.attempt {
        started[attempt] = Started(row: row, process: record.process, isWanted: isWanted)
      }
      return isWanted && (showsEveryType || showsStarts) ? row : nil
    case .materializationFinished:
      defer { end(record.attempt) { $0.isFinished = true } }
      return isWanted ? makeRow(record, processes) : nil
    case .waitStarted, .waitFinished:
      defer { end(record.attempt) { $0.waiting += record.type == .waitStarted ? 1 : -1 } }
      return isWanted && showsEveryType ? makeRow(record, processes) : nil
    case .waitStack:
      let place = stacks.place(of: record, isShown: isWanted)
      return isWanted ? makeRow(record, processes, stack: place) : nil
    default:
      return isWanted && (showsEveryType || !Self.isQuiet(record.type)) ? makeRow(record, processes) : nil
    }
  }

  private mutating func end(_ attempt: UInt64?, _ body: (inout Started) -> Void) {
    guard let attempt, let index = started.index(forKey: attempt) else { return }
    body(&started.values[index])
    if started.values[index].isFinished, started.values[index].waiting <= 0 { started.remove(at: index) }
  }

  private static func isQuiet(_ type: EventType?) -> Bool {
    switch type {
    case .processSeen, .handleClosed, .handleOpen, .handleUnseen, .handleTogether, .volumeCounters, .accessStarted: true
    default: false
    }
  }

  /// Rows of the attempts that were asked for and have no end in the log, oldest first.
  var unfinished: [LogRow] {
    started.filter { $0.value.isWanted && !$0.value.isFinished }.sorted { $0.key < $1.key }.map { element in
      var row = element.value.row
      row.outcome = "unfinished"
      row.isBad = true
      return row
    }
  }

  /// A row as a line of text.
  ///
  /// - Parameter isColoured: Whether bad news is red, for a terminal.
  static func line(_ row: LogRow, isColoured: Bool = false) -> String {
    let text = table.line([row.time, row.who, row.what, row.size, row.blocked, row.outcome, row.detail])
    return isColoured && row.isBad ? "\u{1b}[31m\(text)\u{1b}[0m" : text
  }

  // MARK: - One record

  /// - Parameter stack: Where a caller stood, of a record that says so. Default: nobody knows.
  private func makeRow(_ record: LogRecord, _ processes: LogProcesses, stack: String? = nil) -> LogRow {
    let json = record.json
    var row = LogRow(time: clock(record.time), who: Self.name(record.process, processes))
    row.process = record.process
    row.detail = json.path.map(Self.path) ?? ""
    switch record.type {
    case .materializationStarted: materializationStarted(json, &row)
    case .materializationFinished: materializationFinished(record, processes: processes, into: &row)
    case .materializationRefused:
      row.what = json.word("trigger") ?? "refused"
      row.outcome = json.word("errno") ?? "refused"
      row.isBad = true
    case .waitStarted, .waitFinished:
      row.what = "wait: " + (json.word("trigger") ?? "?")
      row.blocked = Self.duration(json.integer("blocked_ns"))
      row.outcome = record.json.word("outcome") ?? "started"
      let attempt = record.attempt ?? 0
      row.detail = started[attempt]?.row.detail ?? "attempt \(attempt)"
    case .waitStack: LogRow.stack(record, at: stack, into: &row)
    case .watchdogExpired, .watchdogSignalled, .watchdogSurvived: LogRow.watchdog(record, &row)
    case .accessStarted, .accessFinished:
      row.what = "access: " + (json.word("operation") ?? "?")
      row.size = json.integer("length").map { HumanText.size($0) } ?? ""
      row.blocked = Self.duration(json.integer("blocked_ns"))
      row.outcome = json.word("outcome") ?? "started"
      row.isBad = record.type == .accessFinished && row.outcome != "ok"
      if json.string("kind") == "directory" { row.detail = Self.directory(row.detail) }
      if let gate = json.text("gate") { row.detail += " [gate \(TerminalText.escaped(gate))]" }
      if let rule = json.text("rule") { row.detail += " [\(TerminalText.escaped(rule))]" }
    case .handleClosed, .handleOpen:
      handleClosed(json, &row)
      if record.type == .handleOpen { row.what = "reading" }
    case .handleUnseen:
      row.what = "reopen"
      row.outcome = "unseen"
    case .handleTogether:
      row.what = "together"
      row.outcome = json.bool("locked").map { $0 ? "locked" : "not locked" } ?? "unknown"
      row.isBad = json.bool("locked") == false
    case .evictionFinished, .evictionRefused:
      row.who = json.word("by") ?? ""
      row.what = "evict"
      row.size = json.integer("bytes").map { HumanText.size($0) } ?? ""
      row.outcome = json.word("errno") ?? "ok"
      row.isBad = record.type == .evictionRefused
    case .sourceChanged, .refreshFinished: LogRow.refresh(record, &row)
    case .conflictFound, .conflictResolved: LogRow.conflict(record, &row)
    case .coordinationStarted, .coordinationGranted, .coordinationFinished: LogRow.coordination(record, &row)
    case .presenterStarted, .presenterAnswered, .presenterFinished: LogRow.presenter(record, &row)
    case .itemCreated, .itemRenamed, .itemRemoved, .itemChanged, .itemWritten, .itemPurged:
      LogRow.change(record, &row)
    default: LogRow.other(record, &row)
    }
    if let thread = Self.thread(json) { row.detail += thread }
    return row
  }

  private func materializationStarted(_ json: JSONObject, _ row: inout LogRow) {
    row.what = json.word("trigger") ?? "?"
    if row.what == "command" {
      // What `dataless materialize` asks for has no process of its own in the log.
      if row.who.isEmpty { row.who = "command" }
      row.what = "materialize"
    } else if row.what == "eager", row.who.isEmpty {
      row.who = "policy"
    }
    row.outcome = "started"
    if json.string("kind") == "directory" {
      row.detail = Self.directory(row.detail)
    } else {
      row.size = json.integer("size").map { HumanText.size($0) } ?? ""
    }
  }

  private func materializationFinished(_ record: LogRecord, processes: LogProcesses, into row: inout LogRow) {
    let json = record.json
    let start = record.attempt.flatMap { started[$0] }
    let waiters = json.objects("waiters")
    let first = start?.process ?? waiters.first?.unsigned("process").flatMap { UInt32(exactly: $0) }
    row.process = first
    row.who = first == nil ? start?.row.who ?? "" : Self.name(first, processes)
    let others = (json.integer("waiter_count") ?? Int64(waiters.count)).minus(1)
    if others > 0 { row.who += " +\(others)" }
    row.what = start?.row.what ?? waiters.first?.word("trigger") ?? "?"
    row.blocked = Self.duration(waiters.compactMap { $0.integer("blocked_ns") }.max())
    row.outcome = record.json.word("outcome") ?? "?"
    row.isBad = row.outcome != "ok"
    if json.string("kind") == "directory" {
      row.detail = Self.directory(row.detail)
      row.size = json.integer("entries").map { HumanText.count($0, "entry", plural: "entries") } ?? ""
    } else {
      row.size = json.integer("bytes").map { HumanText.size($0) } ?? ""
    }
    // As the name of the process: of the first who waited.
    if let thread = waiters.first.flatMap(Self.thread) { row.detail += thread }
    if let message = json.text("message") { row.detail += " (\(TerminalText.escaped(message)))" }
    if let rule = json.text("rule") { row.detail += " [\(TerminalText.escaped(rule))]" }
  }

  private func handleClosed(_ json: JSONObject, _ row: inout LogRow) {
    row.what = "close"
    row.size = json.integer("covered_bytes").map { HumanText.size($0) } ?? ""
    guard let size = json.integer("size"), let covered = json.integer("covered_bytes") else { return }
    // Pages that were cached before may have been used unseen; whole units count more than was read.
    let isLeast = json.bool("cached_before") == true && covered < size
    let isMost = (json.integer("covered_unit") ?? 1) > 1
    let share = HumanText.percent(covered, of: size)
    switch (isLeast, isMost) {
    case (true, true): row.outcome = "unknown"
    case (true, false): row.outcome = covered <= 0 ? "unknown" : "\(share) or more"
    case (false, true): row.outcome = "up to \(share)"
    case (false, false): row.outcome = covered <= 0 ? "not read" : share
    }
    if isMost, !row.size.isEmpty { row.size = "<= " + row.size }
  }

  // MARK: - Cells

  /// `03:04:05.678` of a time stamp, in the zone that is wanted.
  private func clock(_ time: String?) -> String {
    guard let time else { return "" }
    let bytes = Array(time.utf8)
    guard bytes.count >= 23 else { return TerminalText.escaped(bytes) }
    if zone != .utc, let seconds = UTCTime.seconds(rfc3339: time) {
      // `2026-01-02T03:04:05Z` of the local clock.
      let wall = UTCTime.rfc3339(seconds: seconds + Int64(zone.offset(at: seconds)), nanoseconds: 0).utf8
      return TerminalText.escaped(Array(wall.dropFirst(11).prefix(8)) + bytes[19..<23])
    }
    return TerminalText.escaped(Array(bytes[11..<23]))
  }

  /// `comm[pid]`, with the script of an interpreter as far as there is room: `python3 fm.py[4711]`.
  private static func name(_ id: UInt32?, _ processes: LogProcesses) -> String {
    guard let id else { return "" }
    guard let process = processes[id] else { return "process \(id)" }
    let name = TerminalText.escaped(process.name)
    let pid = "[\(process.pid)]"
    let room = columns[1].widthMax - pid.utf8.count
    return name.utf8.count <= room || name.count <= room ? name + pid : name.prefix(room - 1) + "~" + pid
  }

  /// ` [thread thumbnailer]`; nil where it is called as its process.
  private static func thread(_ caller: JSONObject) -> String? {
    caller.name("thread_name", "thread_name_b64").map { " [thread \(TerminalText.escaped($0))]" }
  }

  private static func path(_ bytes: [UInt8]) -> String { bytes.isEmpty ? "." : TerminalText.escaped(bytes) }
  private static func directory(_ path: String) -> String { path == "." ? "./" : path + "/" }
  private static func duration(_ nanoseconds: Int64?) -> String {
    nanoseconds.map { HumanText.duration(nanoseconds: $0) } ?? ""
  }
}
