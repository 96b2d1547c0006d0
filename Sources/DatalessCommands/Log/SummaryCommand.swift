public import ArgumentParser
public import DatalessControl
import DatalessReports

/// `dataless summary`: what a log adds up to.
struct SummaryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "summary",
    abstract: "Add up what was materialized, by whom, and whether it was needed.",
    discussion: """
      TARGET is the mountpoint of a volume, or a log file; both give the same answer. Of a file that holds several \
      sessions, the one that was mounted last is meant. Requests are those that reached the volume: what the kernel \
      answers from its caches is not seen. Needless is a file that was fetched for a program and of which at most 5 % was \
      read by anybody; header only is a file of which only the first 64 KiB, and at most half, were read. Where a file was \
      opened again while its content was local, the kernel alone saw the reads: what was used is unknown then, unless the \
      volume was mounted with --observe reads, as `dataless run` does. `chain` is the most directories that had to be \
      listed one after another to reach one path. Of a mounted volume, waits that have not ended count \
      up to now.

      Reports are made in one reading of the log, and written whole or not at all; - is standard output, for one of them.

      EXAMPLES
        dataless summary run.jsonl --report html=run.html --report trace=run.json
        dataless summary /mnt/project --files --sort blocked

      EXIT STATUS
        0 printed; 1 the log cannot be read; 2 usage error; 3 no such volume.
      """)

  @Argument(help: ArgumentHelp("A mountpoint, or a log file.", valueName: "target"), completion: Completions.mountpoint)
  var target: PathArgument

  @Flag(help: "Print one JSON object. [default: text]")
  var json = false

  @Flag(
    help: "Has no effect: `summary` always takes the session that was mounted last. [default: the same]")
  var last = false

  @Flag(help: "Show each file that was tried or opened: bytes, share read, waits, who. [default: totals]")
  var files = false

  @Option(
    help: ArgumentHelp(
      "With --files: needless (needless ones first), blocked (longest first) or bytes (most first). [default: needless]",
      valueName: "order"))
  var sort: FileSummary.Order?

  @Option(
    help: ArgumentHelp("With --files: rows that are shown, 0 for all; JSON has all. [default: 20]", valueName: "n"))
  var limit: Int?

  @Option(
    help: ArgumentHelp(
      "Waits of main threads that last longer are hitches, such as 8.3ms for 120 Hz. [default: 16.7ms]",
      valueName: "duration"), transform: FrameOption.parse)
  var frame: FrameOption = FrameOption()

  @OptionGroup var reporting: ReportOptions

  func validate() throws {
    if reporting.reports.count(where: { $0.isStandardOutput }) + (json ? 1 : 0) > 1,
      reporting.takesStandardOutput
    {
      throw ValidationError("standard output takes one report alone: name files for the others (EINVAL).")
    }
    if let limit, limit < 0 {
      throw ValidationError("malformed --limit \(limit): expected a whole number, 0 or more (EINVAL).")
    }
    if !files, sort != nil || limit != nil {
      throw ValidationError(
        "--\(sort != nil ? "sort" : "limit") belongs to --files: add it, or leave both out (EINVAL).")
    }
  }

  func run() throws {
    let log = try LogTarget.resolve(target.bytes)
    let reports = reporting.reports
    if !reports.isEmpty { try ReportRequest.check(reports, log: log.log) }
    let flushed = try LogFlush.flush(log)
    let loaded: (report: SummaryReport, files: FileTable) = try ProgressLine.whileReadingLogs {
      guard !reports.isEmpty else {
        return try SummaryReport.loadWithTable(
          log: log.log, owner: log.foreignOwner, session: log.isVolume ? log.session : nil,
          isMounted: flushed.isMounted, lost: flushed.lost, keepsFiles: files, frame: frame.nanoseconds)
      }
      let exported = try ReportExporter.export(
        reports, log: log.log, owner: log.foreignOwner, session: log.isVolume ? log.session : nil,
        isMounted: flushed.isMounted, lost: flushed.lost, context: ReportContext(version: Version.current),
        frame: frame.nanoseconds)
      return (exported.summary, exported.files)
    }
    if !reporting.takesStandardOutput { return try show(loaded.report, loaded.files) }
    // Stacks alone have no place to say it.
    let gaps = CompletenessText.gaps(loaded.report.completeness)
    if !gaps.isEmpty {
      Console.note("dataless: warning: the log does not tell all: \(gaps.joined(separator: "; ")).")
    }
  }
}

extension SummaryCommand {
  private func show(_ report: SummaryReport, _ table: FileTable) throws {
    let output = StandardOutput()
    let order = sort ?? .needless
    if json {
      var report = report
      if files { report.files = table.summaries(by: order) }
      try output.json(report)
      return
    }
    let lines: [String]
    if files {
      // Only of those that are shown are there rows.
      let rowsMax = limit ?? 20
      let shown = table.first(rowsMax == 0 ? table.count : rowsMax, by: order).map { table[$0] }
      lines = SummaryFileTable.lines(report, shown: shown, of: table.count)
    } else {
      lines = SummaryText.lines(report, width: TerminalSize.columns())
    }
    try GitHubActions.unobeyed {
      for line in lines { try output.line(line) }
      try output.flush()
    }
  }
}

extension FileSummary.Order: ExpressibleByArgument {}
