import DatalessControl
import DatalessCore
import DatalessDaemon
import DatalessReports
import DatalessScenario
import Glibc
import SystemPackage

/// What `run` says on standard error when the command has ended, and its answer as JSON.
struct RunReport {
  let log: [UInt8]
  private(set) var status: RunStatus
  let rules: RuleCounts?
  /// Of the scenario.
  let warnings: [ScenarioWarning]
  /// nil where nothing is expected.
  let verdict: Verdict?
  private let summary: Result<SummaryReport, any Error>
  /// nil when nobody asked for any.
  private let report: Report?
  private let gitHub: GitHubActions?

  /// What became of the run, as far as the log says it.
  typealias Judgement = (status: RunStatus, verdict: Verdict?)

  /// Reads the log once.
  ///
  /// - Parameters:
  ///   - session: Others may write to the same log, and have begun later.
  ///   - reader: Is told of every record.
  ///   - judge: Called once when all records were told, or reading has failed.
  ///   - reports: Which ones to write. Default: none.
  ///   - context: What they say beside the log. Default: nothing.
  ///   - gitHub: To say it to. Default: nobody.
  ///   - frame: Nanoseconds that a main thread may wait without a hitch. Default: a frame at 60 Hz.
  init(
    log: [UInt8], session: String, rules: RuleCounts?, warnings: [ScenarioWarning] = [],
    reports: [ReportRequest] = [], context: ReportContext = ReportContext(version: Version.current),
    gitHub: GitHubActions? = nil, frame: Int64 = SummaryReport.Hitches.defaultFrame,
    reader: @escaping LogReader, judge: (_ failure: (any Error)?) -> Judgement
  ) {
    (self.log, self.rules, self.warnings, self.gitHub) = (log, rules, warnings, gitHub)
    var judgement: Judgement?
    guard !reports.isEmpty || gitHub != nil else {
      summary = Result { try SummaryReport.load(log: log, session: session, frame: frame, other: reader) }
      report = nil
      (status, verdict) = judge(Self.failure(of: summary))
      return
    }
    let exported = Result {
      try ReportExporter.export(
        reports, log: log, session: session,
        context: {
          let now = judge(nil)
          judgement = now
          return Self.context(context, now.status, verdict: now.verdict)
        }(), frame: frame, other: reader)
    }
    report = try? exported.get()
    summary = exported.map { $0.summary }
    (status, verdict) = judgement ?? judge(Self.failure(of: exported))
    if report == nil, !reports.isEmpty { status.isOutputMissing = true }
  }

  private static func failure<Value>(of result: Result<Value, any Error>) -> (any Error)? {
    if case .failure(let error) = result { error } else { nil }
  }

  /// What was expected.
  private static func context(
    _ context: ReportContext, _ status: RunStatus, verdict: Verdict?
  ) -> ReportContext {
    var context = context
    context.verdict = verdict.map { ReportVerdict($0) }
    if let strict = status.strictRules {
      context.checks.append(
        ReportVerdict.Check(
          name: "--strict-rules", outcome: strict.neverFired > 0 ? .failed : .passed,
          message: strict.neverFired > 0 ? words(unused: strict) : "all rules fired"))
    }
    return context
  }

  /// Prints the summary, which names the log, and what is to be said about budgets, children and rules.
  func print(_ words: RunMessages) {
    gitHub?.stop()
    printSummary(words)
    gitHub?.resume()
    if let report, let problem = gitHub?.tell(report) { words.say(problem) }
  }

  private func printSummary(_ words: RunMessages) {
    do {
      for line in SummaryText.lines(try summary.get(), width: 100) { Console.note(line) }
    } catch {
      words.say("\(error)")
      Console.note("log \(TerminalText.escaped(log))")
    }
    if let verdict {
      for line in VerdictText.lines(verdict) { Console.note(line) }
      for result in verdict.expectations { Self.words(result, status.budget).map { words.say($0) } }
    }
    if let budget = status.budget {
      for excess in budget.exceeded { words.say(Self.words(excess, of: budget)) }
    }
    for line in RunChildrenText.lines(status.children, status.budget, hasExpectation: status.hasExpectation) {
      words.say(line)
    }
    if let strict = status.strictRules, strict.neverFired > 0 { words.say(Self.words(unused: strict)) }
  }

  func answer(_ words: RunMessages) -> RunAnswer {
    RunAnswer(
      exitStatus: status.code, reason: status.reason.rawValue, messages: words.all, command: Self.end(status.result),
      scenarioWarnings: warnings.map { WireProblem($0) }, budget: status.budget, children: RunChildren(status.children),
      rules: rules, log: log, summary: try? summary.get(), verdict: verdict
    )
  }

  private static func end(_ result: CommandRunner.Result) -> RunCommandEnd {
    switch result {
    case .ended(.exited(let status)): RunCommandEnd(exitStatus: status)
    case .ended(.signalled(let signal)): RunCommandEnd(signal: SignalName.of(signal))
    case .notStarted(let number): RunCommandEnd(errno: Errno(rawValue: number).name)
    case .statusLost: RunCommandEnd()
    }
  }

  /// One line for what does not hold, or of which nobody knows; nil for what holds, and for a budget, which has a line
  /// of its own.
  static func words(_ result: ExpectationResult, _ budget: BudgetStatus?) -> String? {
    let sentence = "\(TerminalText.escaped(result.name)): \(VerdictText.sentence(result))"
    switch result.outcome {
    case .held: return nil
    case .violated:
      if budget?.exceeded.contains(where: { "max_\($0.budget)" == result.name }) == true { return nil }
      return "expectation violated: \(sentence)."
    case .unknown:
      return "nobody knows whether an expectation holds: \(sentence): \(TerminalText.harmless(result.reason ?? ""))."
    }
  }

  static func words(unused rules: RuleCounts) -> String {
    let names = rules.unused.prefix(10).map { TerminalText.escaped($0.name) }.joined(separator: ", ")
    let more = rules.neverFired > 10 ? " and \(rules.neverFired - 10) more" : ""
    return "rules that never fired: \(names)\(more), of \(rules.count). "
      + "Check what they match (dataless explain), or run without --strict-rules."
  }

  /// One line for an exceeded budget: how much there was in the end and how much may be, then who went beyond it first,
  /// at what.
  static func words(_ excess: BudgetExcess, of budget: BudgetStatus) -> String {
    let isBytes = excess.budget == "bytes"
    func amount(_ count: Int64) -> String {
      isBytes ? "\(count) bytes (\(ByteSize.format(count)))" : HumanText.count(count, "file")
    }
    let option = isBytes ? "--max-bytes" : "--max-files"
    var by = ""
    if let process = excess.process {
      let name = process.exeBytes ?? process.comm.map { Array($0.utf8) }
      let script = process.script.map { " " + TerminalText.escaped($0) } ?? ""
      by = " by process \(process.pid)" + (name.map { " (\(TerminalText.escaped($0))\(script))" } ?? "")
      if process.pid == 0 { by = " by a process that could not be looked at, which counts as the command's" }
    }
    return "budget exceeded: \(amount(isBytes ? budget.bytes : budget.files)) materialized, \(option) \(excess.limit); "
      + "exceeded first\(by) at '\(TerminalText.escaped(excess.pathBytes))', then \(amount(excess.used))."
  }

  /// - Parameter interruption: A signal that told us to end while the command ran.
  static func request(
    _ result: CommandRunner.Result, _ children: ChildrenWait, interruption: Int32?
  ) -> RunFinishedRequest {
    var request = RunFinishedRequest(
      interruptedBy: interruption.map { SignalName.of($0) }, children: RunChildren(children))
    switch result {
    case .ended(.exited(let status)): request.exitStatus = status
    case .ended(.signalled(let signal)): request.signal = SignalName.of(signal)
    case .notStarted(let number):
      request.exitStatus = (number == ENOENT ? ExitStatus.notFound : .notExecutable).rawValue
      request.notStarted = Errno(rawValue: number).name
    case .statusLost: break
    }
    return request
  }

  static func notStarted(_ command: [UInt8], errno number: Int32) -> String {
    let errno = Errno(rawValue: number)
    let remedy =
      errno == .noSuchFileOrDirectory ? "Check its name and $PATH." : "Check that it is an executable file (chmod +x)."
    return "cannot run '\(TerminalText.escaped(command))': \(errno.description) (\(errno.name)). \(remedy)"
  }
}

extension RunChildren {
  init(_ wait: ChildrenWait) {
    let end =
      switch wait.end {
      case .noneLeft: "none_left"
      case .timeUp: "time_up"
      case .interrupted: "interrupted"
      case .volumeEnded: "volume_ended"
      case .unknown: "unknown"
      }
    self.init(
      waitedNanoseconds: wait.milliseconds * 1_000_000, end: end, left: wait.left.map { RunChild($0) },
      notLookedAt: Int64(wait.notLookedAt), outsiders: wait.outsiders.map { RunChild($0) })
  }
}

extension RunChild {
  fileprivate init(_ process: RemainingProcess) {
    self.init(
      process: WireProcess(pid: process.pid, comm: process.comm, exe: process.exe),
      holds: process.holds.map { holds in RemainingProcess.Hold.allCases.filter(holds.contains).map(\.rawValue) },
      ended: process.wasEnded)
  }
}
