import DatalessControl
import DatalessCore

/// Reads a log as far as it goes and prints what is wanted of it; again and again for one that grows.
///
/// Several sessions may share a file, also at the same time: ids of processes and attempts hold within one.
final class LogPrinter {
  struct Style: Sendable {
    var isJSON: Bool
    /// Whether the log is followed.
    var isLive: Bool
    /// Whether attempts without an end may still be running.
    var isMounted: Bool
    /// In which zone times of rows are.
    var zone = LogZone.utc
    /// Whether rows are grouped by process and printed at the end.
    var isTree = false
  }

  private struct Session {
    var processes: LogProcesses
    var filter: LogFilter
    var table: LogTable
    var tree = LogTree()
    var continuity = RecordContinuity()
    var hasEnd = false
    /// Of the lines of the file that are no records, those that `continuity` knows of.
    var told: UnreadLines

    /// Takes note of all lines of the file so far that are no records: the numbers of its own say whether one of those
    /// is missing.
    mutating func tell(_ unread: UnreadLines) {
      continuity.addUnread(unread.since(told))
      told = unread
    }
  }

  private let log: LogTarget
  private let file: LogFile
  private let style: Style
  private let filter: LogFilter
  private let output = StandardOutput()
  private let expansion = LogExpansion()
  private var sessions: [String: Session] = [:]
  /// Sessions in the order of their first records.
  private var order: [String] = []
  /// The only session that is wanted; nil for all.
  private let session: String?
  /// Of the first and the last record.
  private var firstTime: String?
  private var lastTime: String?
  private var recordCount = 0
  private var hasSaidVersion = false
  /// Whether a record was printed, or a row.
  private var hasPrinted = false
  private var hasHeader = false
  private lazy var isColoured = Colour.isWanted(isTerminal: output.isTerminal)
  /// Whether the volume that is followed was unmounted.
  private(set) var hasEnded = false

  /// - Parameter session: The only one that is wanted; nil for all of the file. Default: the volume's, if the target
  ///   is one.
  init(_ log: LogTarget, filter: LogFilter, style: Style, session: String? = nil) throws {
    self.log = log
    self.session = session ?? (log.isVolume ? log.session : nil)
    self.filter = filter
    self.style = style
    file = try LogFile(path: log.log, owner: log.foreignOwner)
  }

  /// Prints all whole records that the file has by now.
  func drain() throws {
    while let record = try file.next() { try print(record) }
    try output.flush()
    // Whoever follows a log would wait for its end to learn why nothing comes.
    if style.isLive { sayVersion() }
  }

  /// Prints what is left at the end: a last line without a newline, attempts without an end.
  ///
  /// - Throws: `ControlError.noRecord` when the whole file had none.
  func finish() throws {
    if let record = file.tornLine() { try print(record) }
    if !style.isJSON, filter.takesBeginnings, !style.isLive {
      for id in order {
        for var row in sessions[id]?.table.unfinished ?? [] {
          if style.isMounted, id == log.session { row.outcome = "in flight" }
          try print(row, of: id)
        }
      }
    }
    if style.isTree { try printTrees() }
    try output.flush()
    guard recordCount > 0 else { throw ControlError.noRecord(log.log, file.unread) }
    if !hasPrinted, !filter.isEmpty, !style.isLive {
      Console.note("dataless: nothing in the log matches (of \(records)).")
    }
    sayVersion()
    let lines = file.unread.count - file.unread.ofOtherVersions
    guard lines > 0 else { return }
    let count = HumanText.count(Int64(lines), "line")
    Console.note(
      isNothingMissing
        ? "dataless: \(UnreadLines.harmless(Int64(lines)))."
        : "dataless: \(count) of the log \(lines == 1 ? "is not a record" : "are not records"); left out.")
  }

  /// Says once that there are records of another version of the format.
  private func sayVersion() {
    guard let version = file.unread.version, !hasSaidVersion else { return }
    hasSaidVersion = true
    Console.note("dataless: the log has records \(UnreadLines.words(version: version)). They are left out.")
  }

  /// Whether the numbers of all records that are meant prove that none of theirs is missing.
  var isNothingMissing: Bool {
    file.unread.version == nil && !order.isEmpty
      && order.allSatisfy { id in
        guard var session = sessions[id] else { return false }
        session.tell(file.unread)
        let known = session.continuity.finished(hasEnd: session.hasEnd, isSessionGiven: self.session != nil)
        return known.lostRecords == 0 && known.malformedLines == 0
      }
  }

  /// `12 records`; with their times if these were asked for, which may be why nothing matches.
  private var records: String {
    let count = HumanText.count(Int64(recordCount), "record")
    guard filter.since != nil || filter.until != nil, let firstTime, let lastTime else { return count }
    return "\(count), from \(TerminalText.escaped(firstTime)) to \(TerminalText.escaped(lastTime))"
  }

  private func printTrees() throws {
    let trees = order.compactMap { id in sessions[id].map { (id, $0.tree.lines) } }.filter { !$0.1.isEmpty }
    for (id, lines) in trees {
      if trees.count > 1 { try output.line("session \(TerminalText.escaped(id))") }
      for line in lines { try output.line(line) }
    }
  }

  private func print(_ record: LogRecord) throws {
    recordCount += 1
    let id = record.session ?? ""
    if filter.since != nil || filter.until != nil, let time = record.time {
      firstTime = firstTime ?? time
      lastTime = time
    }
    guard session == nil || id == session else { return }
    if sessions[id] == nil { order.append(id) }
    if record.type == .volumeUnmounted, id == log.session { hasEnded = true }
    // In place: taking the state out of the dictionary to change it would copy its tables for every record.
    let (isWanted, row) = show(record, &sessions[id, default: newSession()])
    if style.isJSON {
      if isWanted {
        hasPrinted = true
        try output.line(bytes: expansion.line(record, sessions[id]!.processes))
      }
    } else if let row {
      try print(row, of: id)
    }
  }

  /// The table sees every record: a row about the end of an attempt also says how it began.
  private func show(_ record: LogRecord, _ session: inout Session) -> (isWanted: Bool, row: LogRow?) {
    session.processes.add(record)
    // Each session when it has a record, rather than all for each line: a file may have many of both.
    session.tell(file.unread)
    session.continuity.note(record)
    if record.type == .volumeUnmounted { session.hasEnd = true }
    let isWanted = session.filter.accepts(record, session.processes)
    return (isWanted, style.isJSON ? nil : session.table.row(record, session.processes, isWanted: isWanted))
  }

  private func newSession() -> Session {
    Session(
      processes: LogProcesses(keepsRecords: style.isJSON), filter: filter,
      table: LogTable(showsEveryType: !filter.types.isEmpty, showsStarts: style.isLive, zone: style.zone),
      told: file.unread)
  }

  private func print(_ row: LogRow, of session: String) throws {
    if !hasHeader { try output.line(LogTable.header(style.zone)) }
    hasHeader = true
    hasPrinted = true
    let line = LogTable.line(row, isColoured: isColoured)
    guard style.isTree else { return try output.line(line) }
    if let processes = sessions[session]?.processes { sessions[session]?.tree.add(line, of: row.process, processes) }
  }
}
