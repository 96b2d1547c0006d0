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
  }

  private struct Session {
    var processes: LogProcesses
    var filter: LogFilter
    var table: LogTable
  }

  private let log: LogTarget
  private let file: LogFile
  private let style: Style
  private let filter: LogFilter
  private let output = StandardOutput()
  private let expansion = LogExpansion()
  private var sessions: [String: Session] = [:]
  private var recordCount = 0
  /// Whether a record was printed, or a row.
  private var hasPrinted = false
  private var hasHeader = false
  private lazy var isColoured = Colour.isWanted(isTerminal: output.isTerminal)
  /// Whether the volume that is followed was unmounted.
  private(set) var hasEnded = false

  init(_ log: LogTarget, filter: LogFilter, style: Style) throws {
    self.log = log
    self.filter = filter
    self.style = style
    file = try LogFile(path: log.log, owner: log.foreignOwner)
  }

  /// Prints all whole records that the file has by now.
  func drain() throws {
    while let record = try file.next() { try print(record) }
    try output.flush()
  }

  /// Prints what is left at the end: a last line without a newline, attempts without an end.
  ///
  /// - Throws: `ControlError.noRecord` when the whole file had none.
  func finish() throws {
    if let record = file.tornLine() { try print(record) }
    if !style.isJSON, filter.isEmpty, !style.isLive {
      for element in sessions.sorted(by: { $0.key < $1.key }) {
        for var row in element.value.table.unfinished {
          if style.isMounted, element.key == log.session { row.outcome = "in flight" }
          try print(row)
        }
      }
    }
    try output.flush()
    guard recordCount > 0 else { throw ControlError.noRecord(log.log) }
    if !hasPrinted, !filter.isEmpty, !style.isLive {
      Console.note("dataless: nothing in the log matches (of \(HumanText.count(Int64(recordCount), "record"))).")
    }
    if file.malformedLines > 0 {
      let verb = file.malformedLines == 1 ? "is not a record" : "are not records"
      Console.note("dataless: \(HumanText.count(Int64(file.malformedLines), "line")) of the log \(verb); left out.")
    }
  }

  private func print(_ record: LogRecord) throws {
    recordCount += 1
    let id = record.session ?? ""
    guard !log.isVolume || id == log.session else { return }
    if record.type == .volumeUnmounted, id == log.session { hasEnded = true }
    // In place: taking the state out of the dictionary to change it would copy its tables for every record.
    let (isWanted, row) = show(record, &sessions[id, default: newSession()])
    if style.isJSON {
      if isWanted {
        hasPrinted = true
        try output.line(bytes: expansion.line(record, sessions[id]!.processes))
      }
    } else if isWanted, let row {
      try print(row)
    }
  }

  /// The table sees every record: a row about the end of an attempt also says how it began.
  private func show(_ record: LogRecord, _ session: inout Session) -> (isWanted: Bool, row: LogRow?) {
    session.processes.add(record)
    let isWanted = session.filter.accepts(record, session.processes)
    return (isWanted, style.isJSON ? nil : session.table.row(record, session.processes))
  }

  private func newSession() -> Session {
    Session(
      processes: LogProcesses(keepsRecords: style.isJSON), filter: filter,
      table: LogTable(showsEveryType: !filter.types.isEmpty, showsStarts: style.isLive))
  }

  private func print(_ row: LogRow) throws {
    if !hasHeader { try output.line(LogTable.header) }
    hasHeader = true
    hasPrinted = true
    try output.line(LogTable.line(row, isColoured: isColoured))
  }
}
