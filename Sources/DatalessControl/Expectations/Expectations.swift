public import DatalessCore

/// Holds what is expected against a log, record by record: against one session of it, the one that is asked for, or the
/// one that was mounted last.
///
/// Memory, whatever the number of records: what is under way, some 500 bytes for each process, and the violations that
/// are told. `max_repeated`, and files that come in parts, take what `FileHistory` says; `max_needless` is decided by
/// `SummaryBuilder`, which says what it takes; a baseline takes its paths.
public struct Expectations: Sendable {
  /// An attempt that is under way, or whose waits are.
  struct Attempt: Sendable {
    var item: LoggedItem
    /// Whether it brings less than the whole file, as far as the log tells.
    var isRange: Bool
    /// Whether it is the first one on its item since the mount.
    var isFirst = false
    /// Of its file, in `summary`; nil without that.
    var row: Int?
    /// Who has asked already: whoever starts an attempt waits for it, too.
    var askers: Set<UInt64> = []
    /// The first caller that each expectation is about, by its index.
    var callers: [Int: LoggedCaller] = [:]
    /// Expectations that may be about it.
    var possible: Set<Int> = []
    var stacks: [Int32: ToldStack] = [:]
    var waiting = 0
    var isFinished = false
    /// CLOCK_MONOTONIC of its end: nobody waits for it any longer.
    var finishedAt: Int64?
  }

  /// A file that has come: what shows it if nobody reads it.
  struct Fetched: Sendable {
    var item: LoggedItem
    var caller: LoggedCaller
    var isKnown: Bool
    var attempt: UInt64?
    /// nil where the log says nothing of one, yet.
    var stack: ToldStack?
    var time: String?
    var monotonic: Int64?
  }

  private let expectations: [Expectation]
  private let session: String?
  var states: [ExpectationState]
  var baseline: Baseline?
  var processes = SeenProcesses()
  var stacks = StackTable()
  /// Which stacks the volume was mounted to take: `off`, `first`, `all`, or a time; nil where the log does not say.
  var stackOption: String?
  var attempts: [UInt64: Attempt] = [:]
  var waits = SummaryWaits()
  /// Delayed calls that are under way, and their stacks.
  var accesses: Set<UInt64> = []
  var accessStacks: [ViolationList.Wait: ToldStack] = [:]
  var ending: SessionEnding
  /// Attempts that others than the command of a run have begun.
  var othersAttempts: Int64 = 0
  /// Only for `forbid_unneeded_blocking`: nil without.
  var lookups: LookupJudge?
  /// Only for `max_together`.
  var together: WritesTogether?
  var history: FileHistory
  /// For whom files were fetched, by the index of the expectation and the file's row in `summary`; only for
  /// `max_needless`.
  var needlessCallers: [Int: [Int: Fetched]] = [:]
  /// Stacks of waits for what had come by then; only for what is judged at the end: `max_needless` and
  /// `forbid_unneeded_blocking`.
  var lateStacks: [ViolationList.Wait: ToldStack] = [:]
  /// Callers that were held against conditions as what they are by now.
  var metCallers: Set<UInt32> = []
  private var summary: SummaryBuilder?
  private var sessions = SeenSessions()
  /// Records so far, of whatever session.
  public private(set) var recordCount = 0

  /// - Parameters:
  ///   - expectations: Names must be unique.
  ///   - baseline: Which paths may be materialized. Default: any.
  ///   - session: nil for the one that was mounted last; every `volume.mounted` record begins anew.
  public init(_ expectations: [Expectation], baseline: Baseline? = nil, session: String? = nil) {
    self.expectations = expectations
    self.baseline = baseline
    self.session = session
    ending = SessionEnding(isSessionGiven: session != nil)
    states = (expectations + (baseline == nil ? [] : [Expectation(.baseline, 0)])).map { ExpectationState($0) }
    history = FileHistory(countsTimes: expectations.contains { $0.measure == .maxRepeated })
    let asksForUse = expectations.contains { $0.measure == .maxNeedless }
    lookups = expectations.contains { $0.measure == .forbidUnneededBlocking } ? LookupJudge() : nil
    together = expectations.contains { $0.measure == .maxTogether } ? WritesTogether() : nil
    summary = asksForUse ? SummaryBuilder(session: session, files: .needless) : nil
  }

  /// Takes the next record of the log. Records of other sessions, and what was told before, count as
  /// nothing.
  public mutating func add(_ record: LogRecord) {
    recordCount += 1
    if let session {
      guard record.session == session else { return }
    } else if record.session != ending.session {
      if sessions.begins(record, after: ending.session) {
        beginSession()
      } else if ending.session != nil {
        return
      }
    }
    summary?.add(record)
    guard !ending.skips(record) else { return }
    guard ending.note(record) else { return }
    if lookups != nil {
      let path = record.attempt.flatMap { attempts[$0]?.item.path }
      lookups?.note(record, path: path)
    }
    let write = together?.note(record)
    meetCaller(record)
    switch record.type {
    case .volumeMounted: stackOption = record.json.object("options")?.string("stacks")
    case .processSeen:
      processes.add(record)
      if let id = record.process { forgetCaller(id) }
    case .materializationStarted: started(record)
    case .materializationFinished: finished(record)
    case .materializationRefused: refused(record)
    case .waitStarted: waitStarted(record)
    case .waitFinished: waitFinished(record)
    case .waitStack: stackTold(record)
    case .accessStarted: record.json.unsigned("access").map { _ = accesses.insert($0) }
    case .accessFinished: accessFinished(record)
    case .evictionFinished: record.json.path.map { history.evicted($0) }
    case .sourceChanged: changed(record)
    case .refreshFinished: history.refreshEnded()
    case .itemCreated, .itemRenamed, .itemRemoved, .itemPurged: changedHere(record)
    case .handleTogether: if let write { wroteTogether(write, record) }
    default: break
    }
  }

  /// Takes note of lines that are no records: those behind the last record that was added.
  public mutating func addUnread(_ lines: UnreadLines) {
    ending.addUnread(lines)
    summary?.addUnread(lines)
  }

  /// What the daemon has said of the run it has just been told the end of: known where the log could not take that.
  ///
  /// - Parameter isCutShort: Whether it went on when it was no more waited for.
  public mutating func addRun(_ budget: BudgetStatus, isCutShort: Bool) {
    ending.note(budget, isCutShort: isCutShort)
  }

  /// SOURCE of the volume; empty where the log does not tell it.
  public var source: String { ending.source }

  /// Why the command of `dataless run` may have materialized less than it does when it is done, as a sentence without
  /// its end; nil where nothing says so. What it did counts; what it would have done is in no baseline.
  public var cutOff: String? { ending.cutOff }

  /// What no path on the volume begins with, by what messages call it: SOURCE and the mountpoint, as far as the log
  /// tells them and they are absolute.
  public var roots: [(name: String, path: [UInt8])] { ending.roots }

  /// What was materialized so far, as a baseline; nil without one.
  public var materialized: Baseline? { baseline }

  /// The verdict on what was added so far.
  ///
  /// - Parameters:
  ///   - log: The log's path, for the verdict.
  ///   - isMounted: Whether the volume still writes the log: what it has not written yet is not known.
  ///   - lost: Records that the daemon says are not in the file.
  public func finish(log: [UInt8], isMounted: Bool = false, lost: Int64 = 0) -> Verdict {
    var current = self
    let files = summary?.finishWithTable(log: log, isMounted: isMounted, lost: lost).files
    return current.conclude(log: log, gaps: ending.gaps(isMounted: isMounted, lost: lost), files)
  }

  private mutating func beginSession() {
    let ending = SessionEnding(after: ending)
    let (count, sessions) = (recordCount, sessions)
    self = Expectations(expectations, baseline: baseline?.untouched, session: session)
    self.ending = ending
    recordCount = count
    self.sessions = sessions
  }

  // MARK: - Attempts

  private mutating func started(_ record: LogRecord) {
    guard let id = record.attempt else { return }
    attempts[id] = Attempt(
      item: LoggedItem(record.json), isRange: Self.isRange(record.json),
      isFirst: record.json.integer("file_attempt") == 1)
    attempts[id]?.row = summary?.row(ofAttempt: id)
    asked(id, LoggedCaller(record.json), record: record)
  }

  private static func isRange(_ json: JSONObject) -> Bool {
    guard let offset = json.integer("range_offset"), let length = json.integer("range_length") else { return false }
    return offset > 0 || length < json.integer("size") ?? .max
  }

  /// A caller has started an attempt, or joined it.
  mutating func asked(_ id: UInt64, _ caller: LoggedCaller, record: LogRecord) {
    guard var attempt = attempts[id], attempt.askers.insert(caller.key).inserted else { return }
    defer { attempts[id] = attempt }
    let isOfRun = processes.isOfRun(caller.process, root: ending.runRoot)
    guard isOfRun != .no else {
      if attempt.askers.count == 1, caller.trigger != .command, caller.trigger != .eager { othersAttempts += 1 }
      return
    }
    for index in states.indices where states[index].expectation.counts(attempt.item.kind) {
      let isMeant = isOfRun.and(
        states[index].conditions.hold(attempt.item, caller, processes: processes, root: ending.runRoot))
      guard isMeant != .no else { continue }
      if isMeant == .unknown {
        attempt.possible.insert(index)
      } else if attempt.callers[index] == nil {
        attempt.callers[index] = caller
      }
      let evidence = evidence(attempt, id, by: caller, record: record)
      switch states[index].expectation.measure {
      case .forbid, .allow: askedForPath(index, isKnown: isMeant == .yes, evidence)
      case .maxParallel, .minParallel: inFlight(index, isKnown: isMeant == .yes, evidence)
      default: break
      }
    }
  }

  private mutating func askedForPath(_ index: Int, isKnown: Bool, _ evidence: ExpectationState.Evidence) {
    let expectation = states[index].expectation
    var isMatch = ExpectationConditions.matches(expectation.paths, evidence.item)
    // Who reads what is allowed looks its name up before, in directories that lead there.
    if expectation.measure == .allow, isMatch == .no, evidence.item.kind == .directory,
      let path = evidence.item.path, expectation.paths.contains(where: { $0.canMatch(below: path) })
    {
      isMatch = .yes
    }
    guard isMatch != (expectation.measure == .forbid ? .no : .yes) else { return }
    states[index].count(1, isKnown: isKnown && isMatch != .unknown, evidence, processes: processes)
  }

  private mutating func inFlight(_ index: Int, isKnown: Bool, _ evidence: ExpectationState.Evidence) {
    guard isKnown, let process = processes.alone(evidence.caller.process), let attempt = evidence.attempt else {
      states[index].add(possible: 1)
      return
    }
    let time = evidence.monotonic ?? ending.lastMonotonic
    guard let count = states[index].parallelism.begin(attempt, by: process, at: time) else { return }
    if states[index].expectation.measure == .maxParallel {
      states[index].note(
        count.multipliedReportingOverflow(by: 100).partialValue, isKnown: true, evidence, processes: processes)
    }
  }

  func evidence(
    _ attempt: Attempt, _ id: UInt64?, by caller: LoggedCaller, record: LogRecord?
  ) -> ExpectationState.Evidence {
    ExpectationState.Evidence(
      item: attempt.item, caller: caller, attempt: id, stack: caller.threadID.flatMap { attempt.stacks[$0] },
      time: record?.time, monotonic: record?.monotonicNanoseconds)
  }

  private mutating func finished(_ record: LogRecord) {
    let id = record.attempt
    if let id, attempts[id] == nil { adopt(id, record) }
    guard let id, let attempt = attempts[id] else { return }
    let time = record.monotonicNanoseconds ?? ending.lastMonotonic
    for index in states.indices { states[index].parallelism.end(id, at: time) }
    arrived(attempt, id, record: record)
    attempts[id]?.isFinished = true
    attempts[id]?.finishedAt = time
    forget(id)
  }

  /// An attempt of which the log does not tell how it began, nor whether all of the file was meant: a file is rather
  /// counted once than twice.
  private mutating func adopt(_ id: UInt64, _ record: LogRecord) {
    attempts[id] = Attempt(item: LoggedItem(record.json), isRange: true)
    for waiter in record.json.objects("waiters").prefix(64) { asked(id, LoggedCaller(waiter), record: record) }
  }

  mutating func forget(_ id: UInt64) {
    guard let attempt = attempts[id], attempt.isFinished, attempt.waiting <= 0 else { return }
    attempts[id] = nil
  }
}
