import ArgumentParser
import DatalessControl
import DatalessCore
import DatalessDaemon
import DatalessReports
import DatalessScenario
import Glibc

/// `dataless run`: tries one command on a fresh volume.
struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a command on a fresh volume and say what it materialized.",
    usage: "dataless run <source> [<options>] -- <command> ...",
    discussion: """
      Mounts SOURCE on a temporary directory, runs the command with {} in its arguments replaced by that directory \
      (also in the variable DATALESS_MOUNT), unmounts whatever happens, and prints the summary and the log's path to \
      standard error. Expectations are options, and the section 'expect' of the scenario \
      (docs/EXPECTATIONS.md). They count what the command and its descendants do, also those that it leaves \
      running: run waits for them (--wait-children), and with an expectation or --strict-rules for attempts that nobody waits \
      for any more, names who is left then, ends those that use the volume, and unmounts. A signal ends the wait. Files \
      count when the first of their content becomes local, bytes when they do, whatever becomes of the attempt; a caller \
      that cannot be looked at counts as the command's.

      So that the summary can say of every file what was read of it, all reads are recorded (--observe reads): each read(2) of \
      content that is already local is a request to the daemon, without readahead: 33 times as long in steps of 4 KiB, 6 times \
      in steps of 1 MiB, as measured in docs/PERFORMANCE.md. With --observe off, later opens are as fast as on a mount, and what is read through them is \
      unknown.

      --report writes reports when all is over, whole or not at all; what cannot be written is said before the command \
      begins. In GitHub Actions, each violation is an error of the step, and the report in Markdown its summary.

      EXAMPLES
        dataless run ~/project --max-files 9 --report html=run.html --report junit=run.xml -- ./tool {}
        dataless run ~/project --latency 50ms --max-files 0 -- du -s {}

      EXIT STATUS
        The command's own (128 + signal when a signal ended it); 90 something that was expected does not hold; 91 \
      nothing is known not to hold, and of something nobody knows: processes or attempts that could have materialized \
      more were left when the wait was over, or the log does not tell all; \
      92 --strict-rules, and a rule decided nothing; 125 dataless itself failed; 126 the command cannot be executed; \
      127 it was not found.
      """)

  @Argument(
    help: ArgumentHelp("A directory, or synthetic:files=N[,depth=N][,size=MIN..MAX][,seed=N].", valueName: "source"))
  var source: PathArgument

  @OptionGroup var options: VolumeOptions

  @OptionGroup(title: "Expectations") var expected: ExpectationOptions

  @Option(
    help: ArgumentHelp(
      "How long to wait for processes that the command left running, such as 0 or 2m. [default: 10s]",
      valueName: "duration"),
    transform: { text in try VolumeOptions.checked { () throws(FSError) in try DurationText.parse(text) } })
  var waitChildren: Duration = .seconds(10)

  @Flag(help: "End all processes that are left after that, not only those that use the volume.")
  var killChildren = false

  @Option(
    help: ArgumentHelp(
      "Waits of main threads that last longer are hitches, such as 8.3ms for 120 Hz. [default: 16.7ms]",
      valueName: "duration"), transform: FrameOption.parse)
  var frame: FrameOption = FrameOption()

  @Option(help: ArgumentHelp("What is replaced by the mountpoint in the command.", valueName: "str"))
  var replace: String = "{}"

  @Flag(help: "Fail when a rule of the scenario decided nothing; it must have one.")
  var strictRules = false

  @Option(
    help: ArgumentHelp(
      "Write the result as JSON to this file. - is standard output, alone: the command's goes to standard error.",
      valueName: "file"))
  var json: PathArgument?

  @Option(
    help: ArgumentHelp(
      "Write the result as JSON to this open descriptor, as in --json-fd 3 3> result.json.", valueName: "number"))
  var jsonFd: Int32?

  @OptionGroup var reporting: ReportOptions

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"))
  var command: [String]

  func validate() throws {
    if command.isEmpty { throw ValidationError("the command is missing: put it after --, as in -- cat {}/file.") }
    if json != nil, jsonFd != nil { throw ValidationError("give --json or --json-fd, not both.") }
    if let jsonFd, jsonFd < 0 {
      throw ValidationError("malformed --json-fd '\(jsonFd)': expected a descriptor, 0 or more (EINVAL).")
    }
    if reporting.takesStandardOutput {
      throw ValidationError("run's standard output is its command's: name a file for --report (EINVAL).")
    }
    if replace.isEmpty {
      throw ValidationError("malformed --replace '': it must not be empty (EINVAL).")
    }
  }

  /// A `--json` that names no file, because another option or the command follows, means standard output.
  static func completed(_ arguments: [String]) -> [String] {
    let own = arguments.prefix { $0 != "--" }
    guard arguments.first == "run", let index = own.lastIndex(of: "--json"),
      index + 1 == own.endIndex || own[index + 1].hasPrefix("--")
    else { return arguments }
    return arguments[...index] + ["-"] + arguments[(index + 1)...]
  }

  func run() throws {
    let conflict = fileConflict()
    let destination = try destination(conflict)
    let session: RunSession
    let plan: VolumePlan
    let expectations: Expectations
    let isExpecting: Bool
    do {
      if let conflict { throw conflict.failure(status: .runFailed) }
      plan = try options.plan(source: source, observe: .reads)
      if strictRules { try Self.checkStrictRules(plan.scenario) }
      (expectations, isExpecting) = try expect(plan)
      try ReportRequest.check(reporting.reports, log: plan.log)
      session = try RunSession.start(
        plan, command: command.map { ArgumentBytes.decode($0) },
        placeholder: ArgumentBytes.decode(replace), maxFiles: expected.maxFiles, maxBytes: expected.maxBytes,
        say: { Console.note("dataless: \($0)") })
    } catch {
      try fail(error, destination)
    }
    let words = RunMessages()
    if case .directory(let folder) = plan.source { RulePaths.warn(plan.scenario.simulation.rules, folder) }
    for warning in session.volume.warnings { Console.note("dataless: warning: \(warning)") }
    let result = session.runCommand(
      ignoring: InheritedSignals.ignored, output: destination?.isStandardOutput == true ? STDERR_FILENO : nil)
    if case .notStarted(let number) = result {
      words.say(RunReport.notStarted(ArgumentBytes.decode(command[0]), errno: number))
    }
    if result == .statusLost {
      words.say("cannot say how the command ended: its status was taken by somebody else (ECHILD). Run it again.")
    }
    let children = waitForChildren(session, hasExpectation: isExpecting || strictRules)
    let request = RunReport.request(result, children, interruption: session.interruption)
    let answer = finish(session, request: request, words: words)
    session.end(children.left)
    var held = expectations
    let report = RunReport(
      log: session.volume.log, session: session.volume.session, rules: answer?.rules,
      warnings: plan.scenario.warnings, reports: reporting.reports, context: reportContext(plan),
      gitHub: GitHubActions(working: Self.workingDirectory), frame: frame.nanoseconds,
      reader: { record, unread in
        guard isExpecting else { return }
        held.addUnread(unread)
        if let record { held.add(record) }
      },
      judge: { failure in
        if let answer { held.addRun(answer.budget, isCutShort: children.isCutShort) }
        var status = RunStatus(
          result: result, children: children, budget: answer?.budget, hasExpectation: isExpecting || strictRules,
          strictRules: strictRules ? answer?.rules : nil)
        let verdict = isExpecting ? judge(held, session, words: words, failure: failure, status: &status) : nil
        return (status, verdict)
      })
    report.print(words)
    throw CommandExit(code: Self.write(report.answer(words), to: destination, of: report.status).code)
  }

  private func reportContext(_ plan: VolumePlan) -> ReportContext {
    let own = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
    return ReportContext(
      version: Version.current, scenario: String(decoding: plan.scenario.json(pretty: true), as: UTF8.self),
      arguments: own.first == "run" ? Array(own) : nil)
  }

  /// What is expected, and whether anything is.
  private func expect(_ plan: VolumePlan) throws -> (Expectations, isAny: Bool) {
    let folder: [UInt8]? = if case .directory(let path) = plan.source { path } else { nil }
    try ExpectedPaths.check(expected, roots: ExpectedPaths.roots(of: folder))
    let expectations = expected.expectations(plan.scenario)
    for warning in ExpectedPaths.warnings(expectations, folder) { Console.note("dataless: warning: \(warning)") }
    let baseline = try expected.readBaseline()
    return (
      Expectations(expectations, baseline: baseline, session: plan.session), !expectations.isEmpty || baseline != nil
    )
  }

  /// - Parameters:
  ///   - expectations: As the log, which is whole by now, was held against them.
  ///   - failure: Why it could not be read to its end.
  ///   - status: Learns what came of it.
  private func judge(
    _ expectations: Expectations, _ session: RunSession, words: RunMessages, failure: (any Error)?,
    status: inout RunStatus
  ) -> Verdict {
    var verdict = expectations.finish(log: session.volume.log)
    if let failure {
      words.say("\(failure)")
      // Of a log that cannot be read nothing is known.
      if verdict.outcome == .held { verdict.outcome = .unknown }
    } else {
      do throws(ControlError) {
        if let reason = try expected.update(expectations, &verdict) { words.say(reason) }
      } catch {
        words.say("\(error)")
        status.isOutputMissing = true
      }
    }
    status.verdict = verdict.outcome
    return verdict
  }

  /// Ends a run that could not begin.
  private func fail(_ error: any Error, _ destination: JSONDestination?) throws -> Never {
    var failure =
      switch error {
      case let failure as CommandFailure: failure
      case let error as ControlError: CommandFailure(error)
      case let error as LifecycleError: CommandFailure(error)
      case let error as ScenarioError: CommandFailure(error)
      default: CommandFailure("\(error)")
      }
    failure.status = .runFailed
    Console.error(failure)
    try destination?.write(failure.answer)
    throw CommandExit(.runFailed)
  }

  private func waitForChildren(_ session: RunSession, hasExpectation: Bool) -> ChildrenWait {
    let limit = Int(clamping: waitChildren.nanoseconds / 1_000_000)
    var wait = session.waitForChildren(
      milliseconds: limit,
      // Where nothing is expected nobody asks what they bring.
      attempts: { !hasExpectation ? 0 : Int(clamping: status(session)?.budget?.inFlight ?? 0) },
      notice: { wait in
        Console.error(RunChildrenText.notice(wait, limit: HumanText.duration(nanoseconds: waitChildren.nanoseconds)))
      })
    // Those that wait for an answer of the volume.
    let callers = Set(status(session)?.inFlight.flatMap { $0.waiters.map(\.pid) } ?? [])
    if !wait.left.isEmpty { wait.left = session.endChildren(wait.left, waiting: callers, all: killChildren) }
    wait.outsiders = session.outsiders(waiting: callers)
    return wait
  }

  private func status(_ session: RunSession) -> VolumeStatus? {
    guard !session.hasDaemonEnded, let volume = try? VolumeLocator.volume(session.configuration.mountpoint) else {
      return nil
    }
    return try? Blocking.run {
      try await ControlClient.with(volume: volume, timeout: .seconds(5)) { try await $0.status() }
    }
  }

  /// Tells the daemon how the command ended, and learns what it used and what the rules did; nil when the daemon does
  /// not answer.
  private func finish(
    _ session: RunSession, request: RunFinishedRequest, words: RunMessages
  ) -> RunFinishedAnswer? {
    guard !session.hasDaemonEnded, let volume = try? VolumeLocator.volume(session.configuration.mountpoint) else {
      words.say("cannot say what the command used: the volume's daemon ended early (ECONNREFUSED). See the log.")
      return nil
    }
    do {
      return try Blocking.run {
        try await ControlClient.with(volume: volume, timeout: .seconds(5)) { client in
          try await client.runFinished(request)
        }
      }
    } catch {
      words.say("\(error)")
      return nil
    }
  }
}
