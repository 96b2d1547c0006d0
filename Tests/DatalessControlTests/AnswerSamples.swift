@testable import DatalessControl
@testable import DatalessReports

/// One value of every type that only commands print, with all fields, and one with as few as there can be: by the name
/// in docs/schemas/answers.yaml.
enum AnswerSamples {
  typealias Pair = (full: any Encodable & Sendable, least: any Encodable & Sendable)
  private static let odd = WireSamples.odd

  static let all: [String: Pair] = answers.merging(summaries) { first, _ in first }
    .merging(VerdictSamples.all) { first, _ in first }
    .merging(reports) { first, _ in first }

  private static let error = CommandError(
    code: "busy", errno: "EBUSY", message: "is open", path: odd, problems: [WireSamples.problem], exitStatus: 1)
  private static let finding = CheckFinding(
    kind: "lost_content", place: "item 5", message: "m", repair: "r", isDamage: false)
  private static let rule = PolicyAnswer.Rule(name: "r", materialize: false)
  private static let end = RunCommandEnd(exitStatus: 0, signal: "SIGKILL", errno: "ENOENT")

  private static let answers: [String: Pair] = [
    "CommandErrorAnswer": (CommandErrorAnswer(error: error), CommandErrorAnswer(error: error)),
    "CommandError": (error, CommandError(code: "failed", message: "m", exitStatus: 1)),
    "MountAnswer": (
      MountAnswer(
        changes: .kept, device: "0:53", log: odd, mountpoint: odd, pid: 1, session: "0123456789ab", socket: "/run/s",
        source: odd, warnings: ["w"]),
      MountAnswer(
        changes: .refused, device: "0:53", log: bytes("/l"), mountpoint: bytes("/m"), pid: 1, session: "0123456789ab",
        socket: "/s", source: bytes("/s"), warnings: [])
    ),
    "UnmountAnswer": (
      UnmountAnswer(
        mountpoint: odd, log: odd, daemon: .killed, dropped: WireSamples.changes, kept: WireSamples.changes),
      UnmountAnswer(mountpoint: bytes("/m"), log: nil, daemon: .wasDead)
    ),
    "UnaskedVolume": (
      UnaskedVolume(mountpoint: odd, source: odd, userID: .max),
      UnaskedVolume(mountpoint: bytes("/m"), source: bytes("/s"), userID: nil)
    ),
    "PolicyAnswer": (PolicyAnswer(materialize: true, rules: [rule]), PolicyAnswer(materialize: true, rules: [])),
    "PolicyRule": (rule, rule),
    "CheckAnswer": (
      CheckAnswer(
        directory: odd, dryRun: true, items: 1, names: 2, contents: 3, bytes: 4, findings: [finding], findingCount: 1,
        damageCount: 1, repairCount: 1),
      CheckAnswer(
        directory: bytes("/d"), dryRun: false, items: 0, names: 0, contents: 0, bytes: 0, findings: [], findingCount: 0,
        damageCount: 0, repairCount: 0)
    ),
    "CheckFinding": (
      finding, CheckFinding(kind: "foreign_name", place: "p", message: "m", repair: nil, isDamage: false)
    ),
    "DoctorAnswer": (
      DoctorAnswer(
        kernel: "6.18", libfuse: "3.14", version: "0.1.0", userID: .max, mounts: true,
        checks: [DoctorCheck("fuse", .missing, finding: "f", remedy: "r")]),
      DoctorAnswer(kernel: "6.18", libfuse: "unknown", version: "0.1.0", userID: 0, mounts: false, checks: [])
    ),
    "DoctorCheck": (
      DoctorCheck("passthrough", .limited, finding: "f", remedy: "r"), DoctorCheck("fuse", .ok, finding: "f")
    ),
    "ExportAnswer": (
      ExportAnswer(
        directory: odd, target: odd, files: 1, bytes: 2, directories: 3, links: 4,
        failures: [PathFailure(path: odd, errno: "EEXIST", message: "m")], failureCount: 1),
      ExportAnswer(
        directory: bytes("/d"), target: bytes("/t"), files: 0, bytes: 0, directories: 0, links: 0, failures: [],
        failureCount: 0)
    ),
    "RestoreAnswer": (
      RestoreAnswer(
        from: odd, directory: odd, files: 1, bytes: 2, writtenFiles: 3, writtenBytes: 4,
        absent: [InventoryExclusion(reason: "area", files: 1, bytes: 2)],
        failures: [PathFailure(path: odd, errno: "EIO", message: "m")], failureCount: 1),
      RestoreAnswer(
        from: bytes("/o"), directory: bytes("/d"), files: 0, bytes: 0, writtenFiles: 0, writtenBytes: 0, absent: [],
        failures: [], failureCount: 0)
    ),
    "RunCommandEnd": (end, RunCommandEnd()),
    "RunAnswer": (
      RunAnswer(
        exitStatus: 90, reason: "budget_exceeded", messages: ["m"], command: end, budget: WireSamples.budget,
        children: WireSamples.children, rules: WireSamples.rules, log: odd, summary: summary,
        verdict: VerdictSamples.verdict),
      RunAnswer(
        exitStatus: 0, reason: "command", command: RunCommandEnd(), budget: nil, children: WireSamples.children,
        rules: nil, log: bytes("/l"), summary: nil)
    ),
  ]

  // MARK: - Reports

  private static let violation = ReportVerdict.Violation(
    "m", path: "a", process: "tar[2]", parents: ["sh[1]"], stack: ["main (fm.py:1)"],
    incomplete: "the chain turns back", file: "fm.py", line: 1, hasFunctionLines: true)
  private static let check = ReportVerdict.Check(
    name: "n", outcome: .failed, message: "m", violations: [violation], warning: "w")
  private static let reportedFrame = ReportFrame(
    name: "main, which begins (fm.py:1)", file: "fm.py", line: 1, isFunctionLine: true, isGuess: true,
    rawFile: Array("fm.py".utf8), nameWithoutLine: "main (fm.py)")
  private static let reportedStack = ReportDocument.Stack(
    program: "tar", trigger: "read", waits: 1, blockedNanoseconds: 2, mainThreadBlockedNanoseconds: 1,
    longestNanoseconds: 2, path: "a", pathBase64: "YQ==", frames: [reportedFrame], isComplete: true,
    unavailable: "dropped", unreadable: "python")
  private static let reportedWait = ReportDocument.Wait(
    program: "tar", pid: 1, tid: 2, isMainThread: true, attempt: 3, path: "a", pathBase64: "YQ==", trigger: "read",
    startNanoseconds: 1, blockedNanoseconds: 2, outcome: "ok", frames: [reportedFrame])
  private static let document = ReportDocument(
    version: "1", verdict: ReportVerdict(checks: [check]), summary: summary, stacks: [reportedStack], stacksOmitted: 0,
    longestWaits: [reportedWait], again: "dataless run / -- true")

  private static let amount = RunDifference.Amount(before: 1, after: 2)
  private static let side = RunDifference.Side(
    log: "/l", session: "0123456789ab", source: "/s", started: "2026-01-02T03:04:05.000000000Z", isComplete: true,
    commandEnd: "SIGKILL")
  private static let row = RunDifference.Row(
    name: "a", change: .new, files: amount, bytes: amount, waits: amount, blocked: amount, frames: ["main"],
    isUnrecorded: true, shown: 0..<1)
  private static let intents = RunDifference.Intents(
    name: "a", change: .new, intents: amount, waits: amount, waited: amount, longest: amount)
  private static let comparedPresenter = RunDifference.Presenter(
    name: "a", change: .changed, asked: amount, timedOut: amount, took: amount, longest: amount)
  private static let difference = RunDifference(
    before: side, after: side, totals: ["files": amount], programs: [row], paths: [row], stacks: [row],
    intents: [intents], presenters: [comparedPresenter])
  private static let differenceWithNewPath: RunDifference = {
    var difference = Self.difference
    difference.firstNewPath = "a"
    return difference
  }()

  private static let reports: [String: Pair] = [
    "RunDifference": (differenceWithNewPath, difference),
    "DifferenceSide": (
      side, RunDifference.Side(log: "/l", session: "0123456789ab", source: "/s", started: nil, isComplete: true)
    ),
    "DifferenceAmount": (amount, amount),
    "DifferenceIntents": (intents, intents), "DifferencePresenter": (comparedPresenter, comparedPresenter),
    "DifferenceRow": (
      row,
      RunDifference.Row(
        name: "a", change: .gone, files: amount, bytes: amount, waits: amount, blocked: amount, frames: nil)
    ),
    "ReportDocument": (document, document),
    "ReportVerdict": (document.verdict, ReportVerdict(checks: [])),
    "ReportCheck": (check, ReportVerdict.Check(name: "n", outcome: .none, message: "m")),
    "ReportViolation": (violation, ReportVerdict.Violation("m")),
    "ReportStack": (
      reportedStack,
      ReportDocument.Stack(
        program: "tar", trigger: "read", waits: 1, blockedNanoseconds: 2, mainThreadBlockedNanoseconds: 1,
        longestNanoseconds: 2, frames: [])
    ),
    "ReportWait": (
      reportedWait,
      ReportDocument.Wait(program: "tar", trigger: "read", startNanoseconds: 1, blockedNanoseconds: 2, frames: [])
    ),
    "ReportFrame": (reportedFrame, ReportFrame(name: "main")),
  ]

  // MARK: - Summaries

  private static let leastBlocked = {
    var blocked = SummaryReport.Blocked()
    blocked.wallNanoseconds = nil
    return blocked
  }()
  private static let blocked: SummaryReport.Blocked = {
    var blocked = SummaryReport.Blocked()
    blocked.parallelism = 1.5
    return blocked
  }()

  private static let waiting = SummaryReport.Waiting(
    attempt: 1, path: "a", pathBase64: "/w==", trigger: "read", pid: 2, tid: 3, comm: "tar", script: "a.py",
    threadName: "io", blockedNanoseconds: 4)
  private static let caller = SummaryReport.AccessCaller(
    comm: "tar", exe: "/bin/tar", script: "a.py", calls: 1, blockedNanoseconds: 2)
  private static let access = SummaryReport.Access(operation: "read", blocked: blocked, failures: 1, callers: [caller])
  private static let holder = SummaryReport.IntentHolder(intent: 1, path: "a", pathBase64: "/w==", process: reader)
  private static let intentWait = SummaryReport.IntentWait(
    intent: 2, path: "a", pathBase64: "/w==", reads: 1, writes: 1, process: reader, waitedNanoseconds: 4,
    isUnderWay: true, outcome: "granted", waitsFor: [holder])
  private static let presenter = SummaryReport.SlowPresenter(
    presenter: 3, path: "a", pathBase64: "/w==", process: reader, asked: 1, timedOut: 1, sumNanoseconds: 5,
    longestNanoseconds: 5)
  private static let brought: SummaryReport.Brought = {
    var brought = SummaryReport.Brought()
    (brought.sparedNanoseconds, brought.unreadFiles) = (1, 2)
    return brought
  }()
  private static let coordination: SummaryReport.Coordination = {
    var coordination = SummaryReport.Coordination()
    (coordination.longest, coordination.slowest, coordination.brought) = ([intentWait], [presenter], brought)
    coordination.failures = ["coordination_busy": 1]
    return coordination
  }()
  private static let chain = SummaryReport.Chain(length: 1, path: "a", pathBase64: "/w==", durationNanoseconds: 2)
  private static let topLevel = SummaryReport.TopLevel(path: "a", pathBase64: "/w==")
  private static let section = SummaryReport.Section(
    label: "m", time: "2026-01-02T03:04:05.000000000Z", requestsReachingTheVolume: ["read": 1])
  private static let excess = SummaryReport.Excess(
    budget: "files", limit: 1, used: 2, path: "a", pathBase64: "/w==", process: "tar[2]")
  private static let run = SummaryReport.Run(
    command: ["tar"], isCommandWithheld: true, exitStatus: 0, signal: "SIGKILL", notStarted: "ENOENT",
    interruptedBy: "SIGTERM", exceeded: excess, gap: "x")
  private static let repeated = SummaryReport.Repeated(items: 1, attemptsMax: 2, path: "a", pathBase64: "/w==")
  private static let ancestor = ProcessSummary.Ancestor(pid: 1, comm: "sh", exe: "/bin/sh", script: "a.sh")

  private static let process: ProcessSummary = {
    var process = ProcessSummary()
    (process.comm, process.exe, process.script) = ("tar", "/bin/tar", "a.py")
    (process.unit, process.container) = ("a.service", "docker:0123456789ab")
    (process.pids, process.ancestors, process.startedBy) = ([2], [ancestor], ancestor)
    return process
  }()

  private static let reader = FileSummary.Process(pid: 1, comm: "tar", script: "a.py")
  private static let file: FileSummary = {
    var file = FileSummary()
    (file.path, file.pathBase64) = WirePath.split(odd)
    (file.readShare, file.use, file.processes, file.mappedBytes) = (0.5, "in_part", [reader], 1)
    return file
  }()

  private static let wait = SummaryReport.LongestWait(
    attempt: 1, path: "a", pathBase64: "/w==", trigger: "read", pid: 2, comm: "python3", exe: "/usr/bin/python3",
    script: "fm.py", blockedNanoseconds: 4, isUnderWay: true, function: "load", file: "fm.py", line: 42,
    hasFunctionLines: true, unreadable: "python")
  private static let mainThread = SummaryReport.MainThread(
    blocked: blocked, longest: wait, unknownWaits: 1, hitches: SummaryReport.Hitches(),
    hangs: SummaryReport.Hangs())

  private static let place: FindingPlace = {
    var place = FindingPlace()
    let process = Violation.Process(name: "tar", pid: 2, comm: "tar", exe: "/bin/tar", script: "a.py")
    (place.process, place.listedBy, place.other, place.stack) = (process, process, process, WireSamples.stack)
    (place.sparedNanoseconds, place.lists, place.hitches, place.leadNanoseconds) = (1, 1, 1, 1)
    (place.attempt, place.threadID, place.paths) = (1, 2, [FindingPlace.Path(odd)])
    return place
  }()
  private static let usage: Finding = {
    var finding = Finding(.serial)
    (finding.places, finding.reasons, finding.sparedNanoseconds) = ([place], ["r"], 1)
    return finding
  }()

  private static let summary: SummaryReport = {
    var report = SummaryReport()
    report.findings = [usage]
    (report.started, report.ended) = ("2026-01-02T03:04:05.000000000Z", "2026-01-02T03:04:06.000000000Z")
    report.unmountReason = "unmount"
    (report.waiting, report.access, report.coordination) = ([waiting], [access], coordination)
    (report.failures, report.refusals, report.triggers) = (["EIO": 1], ["EDEADLK": 1], ["read": 1])
    (report.longestDirectoryChain, report.mainThread) = (chain, mainThread)
    (report.processes, report.topLevelDirectories, report.sections) = ([process], [topLevel], [section])
    report.requestsReachingTheVolume = ["read": 1]
    (report.run, report.rules, report.files) = (run, WireSamples.rules, [file])
    report.changes = WireSamples.changes
    report.blocked = blocked
    return report
  }()

  private static let rates = TopRates(files: 1.5, directories: 0, bytes: 2, failures: 0, requests: 3)
  private static let top = TopAnswer(
    mountpoint: [0x2f, 0xff], uptimeNanoseconds: 1, waiting: 1, attempts: 1,
    totals: MaterializedCounts(files: 1, directories: 2, bytes: 3, failures: 4, refusals: 5), perSecond: rates,
    callers: [WireSamples.blocked],
    intents: [WaitingIntent(intent: WireSamples.coordination.intents[0], holders: [])])

  private static let summaries: [String: Pair] = [
    "TopAnswer": (
      top,
      TopAnswer(
        mountpoint: [0x2f], uptimeNanoseconds: 1, waiting: 0, attempts: 0,
        totals: MaterializedCounts(files: 0, directories: 0, bytes: 0, failures: 0, refusals: 0), callers: [])
    ),
    "TopRates": (rates, rates),
    "SummaryReport": (summary, SummaryReport()),
    "Finding": (usage, Finding(.prefetch)),
    "FindingPlace": (place, FindingPlace()),
    "FindingPath": (FindingPlace.Path(odd), FindingPlace.Path(bytes("a"))),
    "SummaryCompleteness": (
      SummaryReport.Completeness(otherVersion: 2, misplacedRecords: 3), SummaryReport.Completeness()
    ),
    "SummaryMaterialized": (SummaryReport.Materialized(), SummaryReport.Materialized(distinctBytes: nil)),
    "SummaryKnown": (SummaryReport.Known(), SummaryReport.Known()),
    "SummaryBlocked": (blocked, leastBlocked),
    "SummaryMainThread": (mainThread, SummaryReport.MainThread()),
    "SummaryHitches": (SummaryReport.Hitches(), SummaryReport.Hitches()),
    "SummaryHangs": (SummaryReport.Hangs(), SummaryReport.Hangs()),
    "SummaryLongestWait": (wait, SummaryReport.LongestWait(trigger: "read", blockedNanoseconds: 4)),
    "SummaryWaiting": (
      waiting, SummaryReport.Waiting(attempt: 1, path: "a", trigger: "read", blockedNanoseconds: 4)
    ),
    "SummaryUse": (SummaryReport.Use(), SummaryReport.Use()),
    "SummaryRefused": (SummaryReport.Refused(), SummaryReport.Refused()),
    "SummaryAccess": (access, SummaryReport.Access(operation: "read")),
    "SummaryAccessCaller": (caller, SummaryReport.AccessCaller()),
    "SummaryCoordination": (coordination, SummaryReport.Coordination()),
    "SummaryIntentWait": (intentWait, SummaryReport.IntentWait(intent: 2, path: "a", waitedNanoseconds: 4)),
    "SummaryIntentHolder": (holder, SummaryReport.IntentHolder(intent: 1)),
    "SummarySlowPresenter": (presenter, SummaryReport.SlowPresenter(presenter: 3, path: "a")),
    "SummaryBrought": (brought, SummaryReport.Brought()),
    "WaitingIntent": (
      WaitingIntent(
        intent: WireSamples.coordination.intents[0], holders: WireSamples.coordination.intents, unlisted: 5),
      WaitingIntent(intent: WireSamples.coordination.intents[0], holders: [])
    ),
    "SummaryHeld": (SummaryReport.Held(), SummaryReport.Held()),
    "SummaryEvictions": (SummaryReport.Evictions(), SummaryReport.Evictions()),
    "SummaryRepeated": (repeated, SummaryReport.Repeated()),
    "SummaryChain": (chain, SummaryReport.Chain(length: 1, path: "a", durationNanoseconds: 2)),
    "SummaryTopLevel": (topLevel, SummaryReport.TopLevel(path: "a")),
    "SummarySection": (section, SummaryReport.Section()),
    "SummaryRun": (run, SummaryReport.Run()),
    "SummaryExcess": (
      excess, SummaryReport.Excess(budget: "files", limit: 1, used: 2, path: "a", process: "tar[2]")
    ),
    "ProcessSummary": (process, ProcessSummary()),
    "ProcessSummaryAncestor": (ancestor, ProcessSummary.Ancestor(pid: 1)),
    "FileSummary": (file, FileSummary()),
    "FileSummaryProcess": (reader, FileSummary.Process(pid: 1)),
  ]
}
