import ArgumentParser
import DatalessControl
import DatalessCore
import DatalessReports
import DatalessScenario

/// `dataless check-log`: holds expectations against a log, later and elsewhere.
struct CheckLogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check-log",
    abstract: "Check a log against what is expected.",
    discussion: """
      LOG is a log file, or the mountpoint of a volume. Of a file that holds several sessions, the one that was mounted \
      last is meant. Of a log of `dataless run`, what the command and its descendants did counts, otherwise what \
      everybody did. What the log does not tell (records are missing, the volume has not ended, a caller could not be \
      looked at) is unknown: neither an alarm nor a pass. docs/EXPECTATIONS.md says exactly what is measured.

      EXAMPLES
        dataless check-log run.jsonl --expect ci.yaml
        dataless check-log run.jsonl --max-files 10 --forbid 'secret/**' --json

      EXIT STATUS
        0 all of it holds; 1 the log or a baseline cannot be read or written; 2 usage error, also an invalid file; \
      3 no such volume; 90 something is violated; 91 nothing is, and of something nobody knows.
      """)

  @Argument(help: ArgumentHelp("A log file, or a mountpoint.", valueName: "log"))
  var target: PathArgument

  @Option(
    help: ArgumentHelp(
      "A scenario with a section 'expect', or - for standard input; its rules and settings are not looked at."
        + " [default: the options alone]", valueName: "file"))
  var expect: PathArgument?

  @OptionGroup var options: ExpectationOptions

  @Flag(help: "Print one JSON object. [default: text]")
  var json = false

  /// The file of expectations or the log that a new baseline would replace; nil where each has its own.
  private func fileConflict() -> NamedFile.Conflict? {
    let files = [NamedFile("LOG", target.bytes, isWritten: false)]
    return NamedFile.conflict(
      in: files + (expect.map { [NamedFile("--expect", $0.bytes, isWritten: false)] } ?? [])
        + (options.baselineFile.map { [$0] } ?? []))
  }

  func run() throws {
    if let conflict = fileConflict() { throw conflict.failure(status: .usage) }
    let document = try expect.map { try ScenarioFile.read($0) }
    if let document { ScenarioFile.say(document.warnings) }
    let expectations = options.expectations(document)
    let baseline = try options.readBaseline()
    if expectations.isEmpty, baseline == nil, document?.expectations == nil {
      throw CommandFailure(
        "nothing is expected, so there is nothing to check. Give --expect FILE with a section 'expect', or options such as "
          + "--max-files 10 (EINVAL).", status: .usage)
    }
    let log = try LogTarget.resolve(target.bytes)
    let flushed = try LogFlush.flush(log)
    let read = try ProgressLine.whileReadingLogs {
      try Verdict.read(
        log: log.log, owner: log.foreignOwner,
        Expectations(expectations, baseline: baseline, session: log.isVolume ? log.session : nil))
    }
    try checkPaths(document, roots: read.roots)
    var verdict = read.finish(log: log.log, isMounted: flushed.isMounted, lost: flushed.lost)
    let failure = Self.failure(verdict)
    try MissingOutput.allowed(by: failure) {
      if let reason = try options.update(read, &verdict) { Console.error(reason) }
    }
    try MissingOutput.allowed(by: failure) { try show(verdict, source: read.source) }
    if let failure { throw failure }
  }

  /// Refuses globs that begin with a path of the machine, which the log tells: they match nothing of a volume, so that
  /// what is forbidden by them would hold whatever was done.
  private func checkPaths(_ document: ScenarioDocument?, roots: [(name: String, path: [UInt8])]) throws {
    try ExpectedPaths.check(options, roots: roots)
    guard let document else { return }
    try ScenarioFile.checked { () throws(ScenarioError) in try document.checkExpectedPaths(roots: roots) }
  }

  /// - Parameter source: SOURCE of the volume, as far as the log tells it.
  private func show(_ verdict: Verdict, source: String) throws {
    let output = StandardOutput()
    let gitHub = GitHubActions()
    let errors = gitHub?.errors(ReportVerdict(verdict), source: source) ?? []
    if json {
      for line in errors { Console.note(line) }
      return try output.json(verdict)
    }
    try GitHubActions.unobeyed(in: gitHub) {
      for line in VerdictText.lines(verdict, header: true) { try output.line(line) }
      try output.flush()
    }
    // Behind the text on the same output: on the other one, GitHub could read them while it obeys nothing.
    for line in errors { try output.line(line) }
    try output.flush()
  }

  /// nil when all of it holds.
  private static func failure(_ verdict: Verdict) -> CommandFailure? {
    let names = { (outcome: Verdict.Outcome) in
      verdict.expectations.filter { $0.outcome == outcome }.map(\.name).joined(separator: ", ")
    }
    switch verdict.outcome {
    case .held: return nil
    case .violated:
      return CommandFailure("violated: \(names(.violated)).", status: .violated, code: .violated)
    case .unknown:
      return CommandFailure(
        "nobody knows whether this holds: \(names(.unknown)).", status: .unknown, code: .incomplete)
    }
  }
}
