import DatalessControl

/// Reads a log as far as it goes and prints what is wanted of it; again and again for one that grows.
final class LogPrinter {
  struct Style: Sendable {
    var isJSON: Bool
    /// Whether the log is followed.
    var isLive: Bool
    /// Whether attempts without an end may still be running.
    var isMounted: Bool
  }

  private let file: LogFile
  private let style: Style
  private let output = StandardOutput()
  private let expansion = LogExpansion()
  private var processes: LogProcesses
  private var filter: LogFilter
  private var table: LogTable
  private var hasHeader = false
  /// Whether the last session in the log was unmounted.
  private(set) var hasEnded = false

  init(log: [UInt8], filter: LogFilter, style: Style) throws {
    file = try LogFile(path: log)
    self.style = style
    self.filter = filter
    processes = LogProcesses(keepsRecords: style.isJSON)
    table = LogTable(showsEveryType: !filter.types.isEmpty, showsStarts: style.isLive)
  }

  /// Prints all whole records that the file has by now.
  func drain() throws {
    while let record = try file.next() { try print(record) }
    try output.flush()
  }

  /// Prints what is left at the end: a last line without a newline, attempts without an end.
  func finish() throws {
    if let record = file.tornLine() { try print(record) }
    if !style.isJSON, filter.isEmpty, !style.isLive {
      for var row in table.unfinished {
        if style.isMounted { row.outcome = "in flight" }
        try print(row)
      }
    }
    try output.flush()
    if file.malformedLines > 0 {
      let verb = file.malformedLines == 1 ? "is not a record" : "are not records"
      Console.note("dataless: \(HumanText.count(Int64(file.malformedLines), "line")) of the log \(verb); left out.")
    }
  }

  private func print(_ record: LogRecord) throws {
    processes.note(record)
    if record.type == "volume.mounted" { hasEnded = false }
    if record.type == "volume.unmounted" { hasEnded = true }
    let isWanted = filter.accepts(record, processes)
    if style.isJSON {
      if isWanted { try output.line(bytes: expansion.line(record, processes)) }
      return
    }
    // The table sees every record: a row about the end of an attempt also says how it began.
    if let row = table.row(record, processes), isWanted { try print(row) }
  }

  private func print(_ row: LogRow) throws {
    if !hasHeader { try output.line(LogTable.header) }
    hasHeader = true
    try output.line(LogTable.line(row, isColoured: isColoured))
  }

  private lazy var isColoured = Colour.isWanted(isTerminal: output.isTerminal)
}
