public import DatalessControl

/// What a command knows about a run beside its log.
public struct ReportContext: Sendable {
  /// Of dataless.
  public var version: String
  /// Default: what the log says of budgets.
  public var verdict: ReportVerdict?
  /// Further things that were expected.
  public var checks: [ReportVerdict.Check] = []
  /// What was simulated, as text; nil when it is not known.
  public var scenario: String?
  /// The words of `dataless run` before `--`, beginning with `run`; nil when they are not known.
  public var arguments: [String]?

  public init(
    version: String, verdict: ReportVerdict? = nil, scenario: String? = nil, arguments: [String]? = nil
  ) {
    (self.version, self.verdict) = (version, verdict)
    (self.scenario, self.arguments) = (scenario, arguments)
  }
}

/// One session of a log, as all reports but the trace are made of it.
public struct Report: Sendable {
  struct RowName: Sendable {
    var program: String
    var pid: Int32?
  }

  let context: ReportContext
  public let verdict: ReportVerdict
  /// Without its files.
  public internal(set) var summary: SummaryReport
  /// Of the session.
  let records: Int64
  /// CLOCK_MONOTONIC of the first record, and of the last one, or now.
  let origin: Int64
  let end: Int64
  let timeline: Timeline
  /// One for each row of the timeline.
  let lanes: [RowName]
  let stackTable: StackTable
  let blocked: BlockedStacks
  /// The longest first.
  let longest: [LongestWaits.Entry]
  let happenings: Happenings
  let directories: DirectoryWaits
  /// Settings at the mount: JSON, escaped for a terminal.
  let options: String?
  /// What intents waited for others.
  var intents = IntentTimeline()
  /// Each version of a file that was tried or opened.
  public var files = FileTable()

  /// Frames of a stack, innermost first; empty where there is none.
  func frames(_ stack: ReportStack) -> [ReportFrame] {
    if case .known(let index) = stack { stackTable[index].frames } else { [] }
  }

  /// Those of the program and what it called, for a line of text.
  func stackText(_ stack: ReportStack, framesMax: Int) -> String {
    if case .known(let index) = stack { stackTable[index].text(framesMax: framesMax) } else { "" }
  }

  /// A command line that does the same again, as far as it is known. The words of the command itself are those that
  /// the log keeps.
  var commandLine: String {
    guard let run = summary.run, !run.command.isEmpty else {
      return "dataless mount \(ShellText.word(summary.source)) MOUNTPOINT"
    }
    let own = context.arguments ?? ["run", summary.source]
    let words = (["dataless"] + own + ["--"] + run.command).map { ShellText.word($0) }
    return words.joined(separator: " ") + (run.isCommandWithheld ? " ..." : "")
  }
}
