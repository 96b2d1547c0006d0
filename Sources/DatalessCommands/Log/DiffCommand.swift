import ArgumentParser
import DatalessControl
import DatalessReports

/// `dataless diff`: what a second run did otherwise than a first one.
struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare the logs of two runs: what is new, gone, more, less and slower.",
    discussion: """
      BEFORE and AFTER are log files, or mountpoints. Compared are sums, programs by their names, files by their paths, and \
      stacks by their functions, and, where programs coordinate, their intents and how long presenters took to answer; a \
      file counts when content of it was fetched. Lists begin with the greatest difference of time. Of a log that does not \
      tell all, what seems gone may only be missing, and it says so; a condition that cannot be decided then is unknown.

      --fail-on takes new-files, more-files, more-directories, more-bytes, more-waits, longer-waits (blocked time \
      altogether), longer-main-thread, longer-intent-waits (what coordinated accesses waited for others altogether), \
      more-needless, more-failures and more-refusals, each but the first with a tolerance (longer-waits=20%), separated by \
      commas.

      EXAMPLES
        dataless diff main.jsonl branch.jsonl --fail-on new-files,more-bytes,longer-waits=20%
        dataless diff main.jsonl branch.jsonl --report markdown=diff.md --report html=diff.html

      EXIT STATUS
        0 compared; 1 a log cannot be read, or a report not written; 2 usage error; 3 no such volume; 90 a condition of \
      --fail-on is met; 91 none is, and of one nobody knows, because a log does not tell all.
      """)

  @Argument(help: ArgumentHelp("The log of the first run.", valueName: "before"))
  var before: PathArgument

  @Argument(help: ArgumentHelp("The log of the second run.", valueName: "after"))
  var after: PathArgument

  @Option(
    help: ArgumentHelp(
      "Fail when there is more than before, such as new-files,more-bytes,longer-waits=20%. Repeatable. [default: never]",
      valueName: "conditions"),
    transform: Self.conditions)
  var failOn: [[DifferenceCondition]] = []

  @Flag(help: "Print one JSON object. [default: text]")
  var json = false

  @Option(
    name: .customLong("report"),
    help: ArgumentHelp(
      "Also write it: markdown=FILE, html=FILE or json=FILE. Repeatable. [default: none]", valueName: "kind=file"),
    transform: Self.report)
  var reports: [ReportRequest] = []

  func run() throws {
    for argument in [before, after] { try ReportRequest.check(reports, log: argument.bytes) }
    var difference = RunDifference(before: try Self.read(before), after: try Self.read(after))
    difference.judge(failOn.flatMap { $0 })
    let failure = Self.failure(difference)
    try MissingOutput.allowed(by: failure) { try difference.write(reports) }
    let output = StandardOutput()
    try MissingOutput.allowed(by: failure) { try show(difference, on: output) }
    guard let failure else { return }
    try MissingOutput.allowed(by: failure) { try output.failure(failure, json: json) }
    throw CommandExit(failure.status)
  }

  private func show(_ difference: RunDifference, on output: StandardOutput) throws {
    if json { return try output.json(difference) }
    try GitHubActions.unobeyed {
      for line in DifferenceText.lines(difference) { try output.line(line) }
      try output.flush()
    }
  }

  /// nil when no condition is met, and that is known of all.
  private static func failure(_ difference: RunDifference) -> CommandFailure? {
    if !difference.failures.isEmpty {
      return CommandFailure(
        "there is more than before: \(difference.failures.joined(separator: "; ")). The comparison names what.",
        status: .violated)
    }
    guard !difference.unknown.isEmpty else { return nil }
    return CommandFailure(
      "nobody knows whether there is more than before: \(difference.unknown.joined(separator: "; ")).",
      status: .unknown, code: .incomplete)
  }

  private static func read(_ argument: PathArgument) throws -> Report {
    let target = try LogTarget.resolve(argument.bytes)
    let flushed = try LogFlush.flush(target)
    return try ProgressLine.whileReadingLogs {
      try ReportExporter.export(
        [], log: target.log, owner: target.foreignOwner, session: target.isVolume ? target.session : nil,
        isMounted: flushed.isMounted, lost: flushed.lost, context: ReportContext(version: Version.current))
    }
  }

  private static func conditions(_ text: String) throws -> [DifferenceCondition] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map { (part: Substring) in
      do throws(DifferenceCondition.Flaw) {
        return try DifferenceCondition(parsing: part)
      } catch {
        throw ValidationError(
          "malformed --fail-on '\(TerminalText.escaped(ArgumentBytes.decode(part)))': \(error.words) (EINVAL).")
      }
    }
  }

  private static func report(_ text: String) throws -> ReportRequest {
    let bytes = ArgumentBytes.decode(text)
    func malformed(_ words: String) -> ValidationError {
      ValidationError("malformed --report '\(TerminalText.escaped(bytes))': \(words) (EINVAL).")
    }
    let request: ReportRequest
    do throws(ReportRequest.Flaw) {
      request = try ReportRequest(parsing: bytes)
    } catch {
      throw malformed(error.words)
    }
    guard RunDifference.kinds.contains(request.kind), !request.isStandardOutput else {
      throw malformed("a comparison is written as markdown=FILE, html=FILE or json=FILE")
    }
    return request
  }
}
