import DatalessControl

/// Blocked nanoseconds by stack, one line each: `program;outermost;...;innermost;[operation] 123`, as flamegraph.pl and
/// speedscope read it. The sum of all lines is the session's blocked time.
enum CollapsedWriter {
  static func write(_ report: Report, to file: ReportFile) throws(ControlError) {
    var lines: [String: Int64] = [:]
    for row in report.blocked.rows {
      lines[line(row, report), default: 0] = lines[line(row, report), default: 0].plus(row.blocked)
    }
    for (line, nanoseconds) in lines.sorted(by: { $0.key < $1.key }) where nanoseconds > 0 {
      try file.write("\(line) \(nanoseconds)\n")
    }
    try file.commit()
  }

  private static func line(_ row: BlockedStacks.Row, _ report: Report) -> String {
    var frames = [row.program]
    switch row.stack {
    case .known(let index):
      let stack = report.stackTable[index]
      if !stack.isComplete { frames.append("(incomplete)") }
      frames += stack.frames.reversed().map(\.shortName)
    case .missing(let why): frames.append("(no stack: \(TerminalText.escaped(why)))")
    case .none: frames.append("(no stack)")
    }
    return (frames + ["[\(TerminalText.escaped(row.trigger))]"]).map { EscapedText.frame($0) }.joined(separator: ";")
  }
}
