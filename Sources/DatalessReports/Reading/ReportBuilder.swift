import DatalessControl
import DatalessCore

/// Reads one session of a log, record by record, for all reports at once.
///
/// Memory: as `SummaryBuilder` with files, some hundred bytes for each process, and what the limits of the parts say.
struct ReportBuilder {
  private struct Names {
    var text: String
    var pid: Int32?
  }

  /// Only records of this session count; nil for all.
  private let session: String?
  private let isSessionGiven: Bool
  /// Lines behind the session's last record that are no records.
  private var behind = UnreadLines()
  private var summary: SummaryBuilder
  private var waits = WaitJoiner()
  private var timeline = Timeline()
  private var stacks = BlockedStacks()
  private var longest = LongestWaits(limit: 1_000)
  private var happenings = Happenings()
  private var directories = DirectoryWaits()
  private var intents = IntentTimeline()
  /// Only for a trace.
  private var slices = IntentSlices()
  private var verdict = LogVerdict()
  private var processes = LogProcesses(keepsRecords: false)
  private var names: [UInt32: Names] = [:]
  private var trace: TraceWriter?
  private var origin: Int64?
  private var last: Int64 = 0
  private var hasEnd = false
  private var options: String?
  private var records: Int64 = 0

  /// - Parameter isSessionGiven: Whether it was asked for; false for the last one that was found. Default: true.
  init(
    session: String?, isSessionGiven: Bool = true, frame: Int64 = SummaryReport.Hitches.defaultFrame,
    trace: TraceWriter?
  ) {
    self.session = session
    self.isSessionGiven = isSessionGiven
    summary = SummaryBuilder(session: session, isSessionGiven: isSessionGiven, files: .needless, frame: frame)
    self.trace = trace
  }

  mutating func addUnread(_ lines: UnreadLines) {
    summary.addUnread(lines)
    behind.add(lines)
  }

  var recordCount: Int { summary.recordCount }

  mutating func add(_ record: LogRecord) throws(ControlError) {
    guard summary.add(record) else { return }
    if let session, record.session != session { return }
    records += 1
    behind = UnreadLines()
    if let time = record.monotonicNanoseconds {
      if origin == nil {
        origin = time
        trace?.origin = time
      }
      last = max(last, time)
    }
    switch record.type {
    case .processSeen:
      processes.add(record)
      if let id = record.process { names[id] = nil }
      return
    case .volumeMounted: options = record.json.raw("options").map { TerminalText.escaped($0) }
    case .volumeUnmounted: hasEnd = true
    default: break
    }
    happenings.add(record)
    intents.add(record, processes)
    verdict.add(record) { id in
      let parents = processes.chain(of: id).dropFirst().map { "\(TerminalText.escaped($0.name))[\($0.pid)]" }
      return (processes[id].map { "\(TerminalText.escaped($0.name))[\($0.pid)]" } ?? "unknown", Array(parents))
    }
    for wait in waits.add(record) { try tell(wait) }
    guard trace != nil else { return }
    for slice in slices.add(record) { try tell(slice) }
    if let answer = IntentSlices.Answer(record) {
      let name = name(ofProcess: answer.process)
      try trace?.add(answer, program: name.text, pid: name.pid)
    }
  }

  /// - Parameters:
  ///   - now: CLOCK_MONOTONIC, up to which waits count that have not ended; nil for the last record's.
  mutating func finish(
    log: [UInt8], context: ReportContext, isMounted: Bool, lost: Int64, now: Int64?
  ) throws(ControlError) -> Report {
    let end = max(now ?? last, last)
    for wait in waits.finish(at: hasEnd ? nil : end) { try tell(wait) }
    intents.finish(at: hasEnd ? nil : end, processes)
    let (summary, files) = self.summary.finishWithTable(log: log, isMounted: isMounted, lost: lost, now: now)
    let report = Report(
      context: context,
      verdict: overall(context, isMounted: isMounted).judged(with: summary.run),
      summary: summary,
      records: records, origin: origin ?? 0, end: hasEnd ? last : end, timeline: timeline, lanes: rowNames(),
      stackTable: waits.stacks, blocked: stacks, longest: longest.sorted, happenings: happenings,
      directories: directories, options: options, intents: intents, files: files)
    if trace != nil { for slice in slices.unfinished(at: hasEnd ? nil : end) { try tell(slice) } }
    try trace?.add(happenings, end: report.end)
    try trace?.finish(
      [
        ("dataless", context.version), ("session", TerminalText.escaped(report.summary.session)),
        ("source", TerminalText.escaped(report.summary.source)), ("log", TerminalText.escaped(report.summary.log)),
        ("waits", String(report.summary.blocked.waits)), ("blocked_ns", String(report.summary.blocked.sumNanoseconds)),
        ("intents", String(report.summary.coordination?.intents ?? 0)),
        ("intents_granted", String(report.summary.coordination?.granted ?? 0)),
      ] + (IncompleteLog.sentence(summary.completeness).map { [("incomplete", $0)] } ?? []))
    return report
  }

  /// What the command knows, else what the log says of budgets; and further checks.
  private func overall(_ context: ReportContext, isMounted: Bool) -> ReportVerdict {
    guard let known = context.verdict else {
      let checks = verdict.final(
        // Who has the scenario has run the command.
        isRunKnown: isMounted || context.scenario != nil,
        isAnotherMeant: !isSessionGiven && behind.ofOtherVersions > 0)
      return ReportVerdict(checks: checks + context.checks)
    }
    return context.checks.isEmpty ? known : ReportVerdict(checks: known.checks + context.checks)
  }

  private mutating func tell(_ wait: ReportWait) throws(ControlError) {
    let name = name(of: wait)
    timeline.add(wait, lanes: waits.lanes)
    stacks.add(wait, program: name.text)
    longest.add(wait, program: name.text, pid: name.pid)
    directories.add(wait)
    let stack: StackTable.Stack? = if case .known(let index) = wait.stack { waits.stacks[index] } else { nil }
    let frames = stack?.frames ?? []
    if let stack, !frames.isEmpty, verdict.asksForStack(of: wait.number) { verdict.add(stack: stack, of: wait) }
    try trace?.add(wait, lane: waits.lanes.lanes[wait.lane], program: name.text, pid: name.pid, frames: frames)
  }

  private mutating func tell(_ slice: IntentSlices.Slice) throws(ControlError) {
    let name = name(ofProcess: slice.process)
    try trace?.add(slice, program: name.text, pid: name.pid)
  }

  private mutating func name(of wait: ReportWait) -> Names {
    wait.isCommand ? Names(text: "dataless materialize") : name(ofProcess: wait.process)
  }

  private mutating func name(ofProcess id: UInt32?) -> Names {
    guard let id else { return Names(text: "unknown") }
    if let known = names[id] { return known }
    let process = processes[id]
    let name = Names(text: process.map { TerminalText.escaped($0.name) } ?? "unknown", pid: process?.pid)
    names[id] = name
    return name
  }

  /// What the rows of the timeline are called, in their order.
  private mutating func rowNames() -> [Report.RowName] {
    timeline.rows.map { row in
      if row.isRest { return Report.RowName(program: "further threads", pid: nil) }
      let process = row.lane.process.flatMap { processes[$0] }
      return Report.RowName(
        program: process.map { TerminalText.escaped($0.name) }
          ?? (row.lane.process == nil ? "unknown or command" : "unknown"),
        pid: process?.pid)
    }
  }
}
