import DatalessCore

/// Adds up what programs coordinate: intents, presenters, and what was brought here for intents.
///
/// Memory: some 200 bytes for each intent and each presenter that has not ended, 16 bytes for each file that was
/// brought for an intent and not read, and nothing for a log without any.
struct SummaryCoordination: Sendable {
  // LIMIT: the daemon has a quarter of so many at once. Further ones are counted, and not among the slowest.
  private static let presentersMax = 65_536
  private static let rowsMax = 16

  private var sum = SummaryReport.Coordination()
  /// Whether the log has any: all else in it is of no interest before.
  private var isUsed = false
  private var joiner = IntentJoiner()
  private var wall = IntervalUnion(limit: 1_024)
  private var longest = GreatestRows<SummaryReport.IntentWait>(limit: Self.rowsMax)
  private var presenters: [UInt64: SummaryReport.SlowPresenter] = [:]
  private var slowest = GreatestRows<SummaryReport.SlowPresenter>(limit: Self.rowsMax)
  private var brought = SummaryBrought()
  /// Whether an intent that was never granted may have waited for content.
  private var hasLostFetches = false

  mutating func add(_ record: LogRecord, _ processes: LogProcesses) {
    switch record.type {
    case .coordinationStarted, .coordinationGranted, .coordinationFinished:
      isUsed = true
      guard let step = joiner.add(record) else { return }
      intent(step, record, processes: processes)
    case .presenterStarted, .presenterAnswered, .presenterFinished:
      isUsed = true
      presenter(record, processes)
    default:
      if isUsed { brought.add(record) }
    }
  }

  /// A wait for an item has ended, or counts up to now.
  mutating func waited(_ wait: CountedWait) {
    if isUsed { brought.waited(wait) }
  }

  /// Counts what has not ended. - Parameter end: As in `IntentJoiner.unfinished`. - Returns: Whether anybody waits.
  mutating func finish(at end: Int64?, _ processes: LogProcesses) -> Bool {
    var isAnybodyWaiting = false
    for step in joiner.unfinished(at: end) {
      if step.isGranted {
        sum.held += 1
        continue
      }
      sum.pending += 1
      let isKept = step.wait?.nanoseconds != nil
      if !isKept { hasLostFetches = true }
      isAnybodyWaiting = isAnybodyWaiting || isKept
      if let wait = step.wait { add(wait, processes, isUnderWay: true) }
    }
    return isAnybodyWaiting
  }

  /// nil for a log without any.
  ///
  /// - Parameters:
  ///   - isGapless: Whether no record is missing.
  ///   - isAllTold: Whether the log tells of every read.
  func report(isGapless: Bool, isAllTold: Bool) -> SummaryReport.Coordination? {
    guard isUsed else { return nil }
    var report = sum
    report.waited.wallNanoseconds = wall.length
    report.waited.setParallelism()
    report.longest = longest.rows
    var slowest = slowest
    for (_, row) in presenters.sorted(by: { $0.key < $1.key }) { Self.rank(row, &slowest) }
    report.slowest = slowest.rows
    report.brought = brought.report(isAllWaited: isGapless && !hasLostFetches, isAllTold: isAllTold)
    return report
  }

  // MARK: - Intents

  private mutating func intent(_ step: IntentJoiner.Step, _ record: LogRecord, processes: LogProcesses) {
    if step.isFirst { sum.intents = sum.intents.plus(1) }
    if step.becomesGranted { sum.granted = sum.granted.plus(1) }
    if let wait = step.wait { add(wait, processes, isUnderWay: false) }
    let json = record.json
    if record.type == .coordinationGranted, step.becomesGranted {
      sum.askingNanoseconds = sum.askingNanoseconds.plus(json.integer("asking_ns") ?? 0)
      sum.materializingNanoseconds = sum.materializingNanoseconds.plus(json.integer("materializing_ns") ?? 0)
    }
    guard record.type == .coordinationFinished else { return }
    let outcome = record.outcome ?? "ended"
    if outcome == "coordination_taken_away" { sum.takenAway = sum.takenAway.plus(1) }
    if step.isGranted { return }
    if !step.isBeforeItsTurn { hasLostFetches = true }
    switch outcome {
    case "cancelled", "ended", "ok": sum.cancelled = sum.cancelled.plus(1)
    default:
      // Those that have no record of their own.
      let others = max(0, json.integer("others") ?? 0)
      sum.intents = sum.intents.plus(others)
      sum.failed = sum.failed.plus(1).plus(others)
      sum.failures[outcome] = (sum.failures[outcome] ?? 0).plus(1).plus(others)
      if outcome == "coordination_deadlock" { sum.deadlocks = sum.deadlocks.plus(1) }
    }
  }

  private mutating func add(_ wait: IntentJoiner.Wait, _ processes: LogProcesses, isUnderWay: Bool) {
    guard let nanoseconds = wait.nanoseconds else {
      sum.unknownWaits += 1
      return
    }
    sum.waited.add(nanoseconds, isUnderWay: isUnderWay)
    wall.insert(from: wait.start, to: wait.start.plus(nanoseconds))
    let (path, base64) = SummaryReport.split(wait.path)
    longest.add(
      nanoseconds,
      SummaryReport.IntentWait(
        intent: wait.intent, path: path, pathBase64: base64, reads: wait.reads, writes: wait.writes,
        process: processes.short(wait.process), waitedNanoseconds: nanoseconds, isUnderWay: isUnderWay,
        outcome: wait.outcome,
        waitsFor: wait.holders.map { holder in
          let path = holder.path.map(SummaryReport.split)
          return SummaryReport.IntentHolder(
            intent: holder.intent, path: path?.text, pathBase64: path?.base64,
            process: processes.short(holder.process))
        }))
  }

  // MARK: - Presenters

  private mutating func presenter(_ record: LogRecord, _ processes: LogProcesses) {
    let json = record.json
    guard let number = json.unsigned("presenter") else { return }
    if record.type == .presenterStarted { sum.presenters += 1 }
    if presenters[number] == nil, presenters.count < Self.presentersMax {
      presenters[number] = SummaryReport.SlowPresenter(
        presenter: number, path: "", process: processes.short(record.process))
    }
    let (path, base64) = SummaryReport.split(json.path ?? [])
    presenters[number]?.path = path
    presenters[number]?.pathBase64 = base64
    switch record.type {
    case .presenterAnswered: answered(number, took: max(0, json.integer("took_ns") ?? 0), outcome: record.outcome)
    case .presenterFinished:
      if let row = presenters.removeValue(forKey: number) { Self.rank(row, &slowest) }
    default: break
    }
  }

  private mutating func answered(_ number: UInt64, took: Int64, outcome: String?) {
    sum.asked += 1
    presenters[number]?.asked += 1
    switch outcome {
    case "withdrawn":
      // How long it would have taken nobody knows.
      sum.withdrawn += 1
      return
    case "timed_out":
      sum.timedOut += 1
      presenters[number]?.timedOut += 1
    default: sum.answered += 1
    }
    guard var row = presenters[number] else { return }
    row.sumNanoseconds = row.sumNanoseconds.plus(took)
    row.longestNanoseconds = max(row.longestNanoseconds, took)
    presenters[number] = row
  }

  private static func rank(
    _ row: SummaryReport.SlowPresenter, _ rows: inout GreatestRows<SummaryReport.SlowPresenter>
  ) {
    if row.asked > 0 { rows.add(row.longestNanoseconds, row) }
  }
}

extension LogProcesses {
  /// Who it is, in few words; nil for one that is not known.
  func short(_ id: UInt32?) -> FileSummary.Process? {
    id.flatMap { self[$0] }.map { process in
      FileSummary.Process(
        pid: process.pid, comm: process.comm.map { String(decoding: $0, as: UTF8.self) },
        script: process.script.map { String(decoding: $0, as: UTF8.self) })
    }
  }
}

/// The rows with the greatest numbers, so many at most; of equal ones the first.
struct GreatestRows<Row: Sendable>: Sendable {
  private struct Entry: Sendable {
    var number: Int64
    var place: Int
    var row: Row
  }

  private let limit: Int
  private var entries: [Entry] = []
  private var count = 0
  /// Rows with no more than this are not among them any more.
  private var threshold = Int64.min

  init(limit: Int) { self.limit = limit }

  mutating func add(_ number: Int64, _ row: @autoclosure () -> Row) {
    guard entries.count < limit || number > threshold else { return }
    entries.append(Entry(number: number, place: count, row: row()))
    count += 1
    guard entries.count >= 2 * limit else { return }
    entries = sorted
    threshold = entries[limit - 1].number
  }

  var rows: [Row] { sorted.map(\.row) }

  private var sorted: [Entry] {
    Array(entries.sorted { ($1.number, $0.place) < ($0.number, $1.place) }.prefix(limit))
  }
}
