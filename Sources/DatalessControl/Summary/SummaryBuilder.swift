import DatalessCore

/// Adds up one session of a log, record by record: the one that is asked for, or the one that was mounted last.
///
/// Memory, whatever the number of records and of files: some tens of megabytes, some 30 bytes for each directory that
/// somebody waited for, some 500 for each process, and more for files that are read in pieces or by several programs.
/// What does not fit into that is put into files without a name (`SpillPlace`), 60 bytes for each version of a file and
/// each directory that was materialized or opened, and 12 for each path and for each file that a process waited for.
/// With files nothing is put aside: that takes some 90 bytes, another 40 and a name for each, and 30 more while a
/// process waits for one file after the other. What is under way is kept until it ends.
public struct SummaryBuilder: Sendable {
  struct Attempt {
    var process: UInt32?
    var isCommand: Bool
    var path: [UInt8]
    var isFile: Bool
    /// The row of what it materializes.
    var row: Int
    /// The range of the file that it brings in; nil for all of it.
    var part: Range<Int64>?
    var topLevel: Int
    var waiting = 0
    var isFinished = false
    /// CLOCK_MONOTONIC of its end: nobody waits for it any longer.
    var finishedAt: Int64?
  }

  /// Beyond so many, files and directories at the top are counted under `...`.
  private static let topLevelMax = 10_000

  var report = SummaryReport()
  var processes = LogProcesses(keepsRecords: false)
  var groups: SummaryProcesses
  var files: SummaryFiles
  var waits = SummaryWaits()
  var accesses = SummaryAccesses()
  var coordination = SummaryCoordination()
  var wall = IntervalUnion()
  var mainThread: SummaryMainThread
  private var findings: SummaryFindings
  var attempts: [UInt64: Attempt] = [:]
  var topLevel: [SummaryReport.TopLevel] = []
  private var topLevelIndex: [[UInt8]: Int] = [:]
  var sections = SummarySections()
  var refusedItems = RefusedItems()
  var seenRefused: SpilledNumbers
  private var firstMonotonic: Int64?
  private var lastMonotonic: Int64 = 0
  /// The last record that has a time: only of one its text is needed.
  private var lastTimed: LogRecord?
  private var continuity = RecordContinuity()
  private var opens = WatchedOpens()
  private let session: String?
  /// Whether no later session can be meant.
  private let isSessionGiven: Bool
  private let order: FileSummary.Order?
  private let limits: SpillLimits
  /// Records so far, of whatever session.
  public private(set) var recordCount = 0
  private var sessions = SeenSessions()

  /// - Parameters:
  ///   - session: nil for the one that was mounted last; every `volume.mounted` record begins anew.
  ///   - isSessionGiven: Whether it was asked for; false for the last one that was found. Default: true.
  ///   - files: In which order to report on every file; nil for not at all, which saves a path per file.
  ///   - frame: Nanoseconds that a main thread may wait without a hitch. Default: a frame at 60 Hz.
  public init(
    session: String? = nil, isSessionGiven: Bool = true, files order: FileSummary.Order? = nil,
    frame: Int64 = SummaryReport.Hitches.defaultFrame
  ) {
    // Who asks for files looks at each of them again and again.
    self.init(
      session: session, isSessionGiven: isSessionGiven, files: order, frame: frame,
      limits: order == nil ? .standard : .inMemory)
  }

  /// - Parameter limits: Of what stays in memory.
  init(
    session: String? = nil, isSessionGiven: Bool = true, files order: FileSummary.Order? = nil,
    frame: Int64 = SummaryReport.Hitches.defaultFrame, limits: SpillLimits
  ) {
    self.isSessionGiven = session != nil && isSessionGiven
    mainThread = SummaryMainThread(frame: frame)
    findings = SummaryFindings(frame: frame, limits: limits)
    groups = SummaryProcesses(limits: limits)
    seenRefused = SpilledNumbers(limits: limits)
    files = SummaryFiles(keepsFiles: order != nil, limits: limits)
    (self.session, self.order, self.limits) = (session, order, limits)
  }

  /// Why there is no report: what did not fit into memory could not be read again. To be asked for after `finish`,
  /// whose answer is not right then. Always nil with files, as nothing is put aside.
  public var failure: ControlError? { limits.place?.failure }

  /// Takes the next record of the log. - Returns: Whether it counts: those of other sessions do not, as `isMeant` says.
  @discardableResult
  public mutating func add(_ record: LogRecord) -> Bool {
    recordCount += 1
    guard isMeant(record) else { return false }
    guard header(record) else { return true }
    if record.type == .processSeen {
      processes.add(record)
      if let id = record.process { groups.forget(id) }
    }
    opens.note(record)
    findings.add(record, groups: &groups, processes)
    coordination.add(record, processes)
    let json = record.json
    switch record.type {
    case .materializationStarted: started(record)
    case .materializationFinished: finished(record)
    case .materializationRefused: refused(record)
    case .materializationHeld: report.held.attempts += 1
    case .waitStarted:
      record.attempt.map { attempts[$0]?.waiting += 1 }
      waits.begin(record)
    case .waitFinished: waitFinished(record)
    case .waitStack: mainThread.stack(record)
    case .watchdogExpired, .watchdogSignalled, .watchdogSurvived:
      if let type = record.type { mainThread.addHang(type, outcome: json.string("outcome")) }
    case .accessStarted: accesses.begin(record, processes)
    case .accessFinished: accesses.end(record, processes)
    case .handleClosed, .handleOpen: handleTold(record, isOpen: record.type == .handleOpen)
    case .handleUnseen: files.unseen(json.path ?? [], names: json.names, by: process(record.process))
    case .sourceChanged: files.changed(record)
    case .itemCreated, .itemRenamed, .itemRemoved, .itemPurged: files.changedHere(record)
    case .refreshFinished: files.refreshEnded()
    // What a refresh freed was of no use to anybody any more: nobody evicted it.
    case .evictionFinished where json.string("by") == "source": break
    case .evictionFinished:
      if json.string("kind") == "directory" {
        report.evictions.directories += 1
      } else {
        report.evictions.files += 1
        files.evicted(json.path ?? [])
      }
      report.evictions.bytes = report.evictions.bytes.plus(json.integer("bytes") ?? 0)
    case .evictionRefused: report.evictions.refused += 1
    case .mark, .volumeReset: sections.begin(record)
    case .volumeMounted:
      report.source = json.string("source") ?? ""
      report.mountpoint = json.string("mountpoint") ?? ""
      report.keepsChanges = json.object("options")?.string("state") != nil
    case .volumeCounters, .volumeUnmounted: counters(record)
    case .budgetExceeded: exceeded(record)
    case .runStarted:
      report.run = SummaryReport.Run(
        command: json.elements("command").map {
          String(decoding: JSONText.decode(json.bytes[$0]) ?? [], as: UTF8.self)
        }, isCommandWithheld: json.bool("command_withheld") ?? false, exceeded: report.run?.exceeded)
    case .runFinished: runFinished(json)
    default: break
    }
    return true
  }

  /// Takes note of lines that are no records: those behind the last record that was added.
  public mutating func addUnread(_ lines: UnreadLines) { continuity.addUnread(lines) }

  /// The report on what was added so far.
  ///
  /// - Parameters:
  ///   - log: The log's path, for the report.
  ///   - isMounted: Whether the volume still writes the log; if not, an end is missing that is not there.
  ///   - lost: Records that the daemon says are not in the file.
  ///   - now: CLOCK_MONOTONIC, up to which waits count that have not ended. Default: the last record's.
  public func finish(log: [UInt8], isMounted: Bool = false, lost: Int64 = 0, now: Int64? = nil) -> SummaryReport {
    let (report, table) = finishWithTable(log: log, isMounted: isMounted, lost: lost, now: now)
    guard let order else { return report }
    var result = report
    result.files = table.summaries(by: order)
    return result
  }

  /// As `finish`, with files in few bytes rather than in the report; none if they were not asked for.
  public func finishWithTable(
    log: [UInt8], isMounted: Bool = false, lost: Int64 = 0, now: Int64? = nil
  ) -> (report: SummaryReport, files: FileTable) {
    var current = self
    current.report.completeness.note(
      current.continuity.finished(hasEnd: report.unmountReason != nil, isSessionGiven: isSessionGiven))
    current.files.endHandles()
    // In a log that has its end, a wait without one is a record that was lost.
    let end = report.unmountReason == nil ? max(now ?? lastMonotonic, lastMonotonic) : nil
    if let end {
      current.endWaits(at: end)
      if current.accesses.endAll(at: end) { current.noteTime(end) }
    }
    if current.coordination.finish(at: end, processes), let end { current.noteTime(end) }
    return current.finished(log: log, isMounted: isMounted, lost: lost)
  }

  private func finished(
    log: [UInt8], isMounted: Bool, lost: Int64
  ) -> (report: SummaryReport, files: FileTable) {
    var result = report
    result.log = String(decoding: log, as: UTF8.self)
    result.ended = lastTimed?.time
    result.durationNanoseconds = lastMonotonic.minus(firstMonotonic ?? lastMonotonic)
    result.completeness.lostRecords = max(result.completeness.lostRecords, lost)
    result.completeness.unfinishedAttempts = Int64(attempts.values.count { !$0.isFinished })
    result.completeness.isMounted = isMounted && report.unmountReason == nil
    result.completeness.isEndMissing = !isMounted && report.unmountReason == nil
    result.completeness.isComplete =
      result.completeness.lostRecords == 0 && result.completeness.malformedLines == 0
      && result.completeness.misplacedRecords == nil && !result.completeness.isEndMissing
    let isAllTold = opens.areAllTold && result.completeness.isComplete
    (result.materialized.distinctFiles, result.materialized.distinctBytes) = files.distinct
    result.blocked.wallNanoseconds = wall.length
    result.blocked.setParallelism()
    result.use = files.use(isAllTold: isAllTold)
    result.repeated = files.repeated
    result.longestDirectoryChain = files.longestChain
    result.processes = groups.summaries(files.usesByGroup(isAllTold: isAllTold))
    result.refused = refusedItems.sum
    result.access = accesses.report
    let isGapless = result.completeness.lostRecords == 0 && result.completeness.malformedLines == 0
    result.coordination = coordination.report(isGapless: isGapless, isAllTold: isAllTold)
    result.mainThread = mainThread.report
    result.topLevelDirectories = topLevel.sorted {
      ($1.bytes, $1.files, $1.directories, $0.path) < ($0.bytes, $0.files, $0.directories, $1.path)
    }
    result.findings = findings.report(result.completeness, groups: groups, processes)
    result.sections = sections.finish(report.requestsReachingTheVolume ?? [:])
    return (result, files.table(isAllTold: isAllTold))
  }

  // MARK: - Any record

  /// Whether a record is of the session, and none that was told before.
  private mutating func isMeant(_ record: LogRecord) -> Bool {
    if let session {
      guard record.session == session else { return false }
    } else if record.session != report.session {
      let isLater = sessions.begins(record, after: report.session)
      guard isLater || report.session.isEmpty else { return false }
      if isLater { beginSession() }
    }
    return !continuity.skips(record)
  }

  private mutating func beginSession() {
    let earlier = report.completeness.earlierSessions + 1
    let (count, continuity, sessions) = (recordCount, RecordContinuity(after: continuity), sessions)
    self = SummaryBuilder(files: order, frame: mainThread.frame, limits: limits)
    (self.continuity, self.sessions) = (continuity, sessions)
    report.completeness.earlierSessions = earlier
    recordCount = count
  }

  /// - Returns: Whether it has its keys, as of `RecordContinuity.note`.
  private mutating func header(_ record: LogRecord) -> Bool {
    if report.session.isEmpty, let session = record.session { report.session = session }
    if record.json.raw("time")?.first == UInt8(ascii: "\"") {
      if report.started == nil { report.started = record.time }
      lastTimed = record
    }
    if let monotonic = record.monotonicNanoseconds { noteTime(monotonic) }
    let isWhole = continuity.note(record)
    // The last counters may know of more.
    report.completeness.lostRecords = max(report.completeness.lostRecords, continuity.lostRecords)
    return isWhole
  }

  /// What the report covers goes up to here.
  mutating func noteTime(_ monotonic: Int64) {
    if firstMonotonic == nil { firstMonotonic = monotonic }
    lastMonotonic = max(lastMonotonic, monotonic)
  }

  private mutating func counters(_ record: LogRecord) {
    let json = record.json
    if let requests = json.object("requests_reaching_the_volume") {
      report.requestsReachingTheVolume = Dictionary(requests.counts.map { ($0.name, $0.value) }) { $1 }
    }
    if let items = json.object("items") {
      report.known = SummaryReport.Known(
        files: items.integer("files") ?? 0, emptyFiles: items.integer("files_empty") ?? 0,
        directories: items.integer("directories") ?? 0, bytes: items.integer("bytes") ?? 0)
    }
    if let rules = json.object("rules").flatMap(RuleCounts.init) { report.rules = rules.count > 0 ? rules : nil }
    if let changes = json.object("changes") {
      report.changes = ChangeCounts(
        dirtyFiles: changes.integer("dirty_files") ?? 0, dirtyBytes: changes.integer("dirty_bytes") ?? 0,
        namesMade: changes.integer("names_made") ?? 0, namesRemoved: changes.integer("names_removed") ?? 0,
        otherAttributes: changes.integer("other_attributes") ?? 0)
    }
    report.completeness.lostRecords = max(report.completeness.lostRecords, json.integer("log_dropped") ?? 0)
    if record.type == .volumeUnmounted { report.unmountReason = json.string("reason") ?? "" }
  }

  mutating func topLevel(of path: [UInt8], isFile: Bool) -> Int {
    var name = path.firstIndex(of: PathBytes.slash).map { Array(path[..<$0]) } ?? (isFile ? [] : path)
    if name.isEmpty { name = Array(".".utf8) }
    if let index = topLevelIndex[name] { return index }
    if topLevel.count >= Self.topLevelMax { name = Array("...".utf8) }
    if let index = topLevelIndex[name] { return index }
    topLevelIndex[name] = topLevel.count
    topLevel.append(SummaryReport.TopLevel(name))
    return topLevel.count - 1
  }
}
