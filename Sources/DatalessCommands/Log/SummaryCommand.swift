import ArgumentParser
import DatalessControl

/// `dataless summary`: what a log adds up to.
struct SummaryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "summary",
    abstract: "Add up what was materialized, by whom, and whether it was needed.",
    discussion: """
      TARGET is the mountpoint of a volume, or a log file; both give the same answer. Of a file that holds several \
      sessions, the one that was mounted last is meant. Requests are those that reached the volume: what the kernel \
      answers from its caches is not seen. Needless is a file that was fetched for a read and of which at most 5 % was \
      read; header only is a file of which only the first 64 KiB, and at most half, were read.

      EXAMPLES
        dataless summary /mnt/project
        dataless summary run.jsonl --json

      EXIT STATUS
        0 printed; 1 the log cannot be read; 2 wrong use; 3 no such volume.
      """)

  @Argument(help: ArgumentHelp("A mountpoint, or a log file.", valueName: "target"))
  var target: PathArgument

  @Flag(help: "Print one JSON object. [default: text]")
  var json = false

  func run() throws {
    let log = try LogTarget.resolve(target.bytes)
    let flushed = try LogFlush.flush(log)
    let report = try SummaryReport.load(
      log: log.log, session: log.isVolume ? log.session : nil, isMounted: flushed.isMounted, lost: flushed.lost)
    let output = StandardOutput()
    if json {
      try output.json(report)
      return
    }
    for line in SummaryText.lines(report, width: TerminalSize.columns()) { try output.line(line) }
    try output.flush()
  }
}
