import DatalessControl

/// When intents waited for others, and for whom: lanes for each process, in as many pieces as the timeline of threads
/// has at most; and sums for each program.
struct IntentTimeline: Sendable {
  /// Those for whom an intent waited that are named.
  private static let holdersShown = 3

  private(set) var timeline = Timeline()
  /// One for each row of `timeline`.
  private(set) var names: [Report.RowName] = []
  private(set) var programs = CoordinationPrograms()
  private var joiner = IntentJoiner()
  private var lanes = ThreadLanes()

  mutating func add(_ record: LogRecord, _ processes: LogProcesses) {
    guard let step = joiner.add(record) else { return programs.answered(record, processes) }
    programs.add(step, by: record.process, processes)
    if let wait = step.wait { add(wait, processes, isUnderWay: false) }
  }

  /// - Parameter end: Up to when those count that wait; nil in a log that has its end.
  mutating func finish(at end: Int64?, _ processes: LogProcesses) {
    for step in joiner.unfinished(at: end) {
      guard let wait = step.wait else { continue }
      programs.add(wait, processes)
      add(wait, processes, isUnderWay: true)
    }
    names = timeline.rows.map { row in
      if row.isRest { return Report.RowName(program: "further processes", pid: nil) }
      let process = row.lane.process.flatMap { processes[$0] }
      return Report.RowName(program: process.map { TerminalText.escaped($0.name) } ?? "unknown", pid: process?.pid)
    }
  }

  /// What of a wait is not known is in no piece.
  private mutating func add(_ wait: IntentJoiner.Wait, _ processes: LogProcesses, isUnderWay: Bool) {
    guard let nanoseconds = wait.nanoseconds else { return }
    var piece = ReportWait(
      kind: .intent, number: wait.intent, path: wait.path, trigger: Self.words(wait, processes), process: wait.process,
      start: wait.start, end: wait.start.plus(nanoseconds), outcome: Self.outcome(wait))
    piece.isUnderWay = isUnderWay
    piece.lane = lanes.lane(of: piece)
    timeline.add(piece, lanes: lanes)
  }

  /// Who waits no longer has got what it asked for, or has not.
  private static func outcome(_ wait: IntentJoiner.Wait) -> String {
    switch wait.outcome {
    case "granted": "ok"
    case "cancelled", "ended": "cancelled"
    case let outcome: outcome ?? ""
    }
  }

  /// `to write, behind sync[12] (intent 5)`: not escaped.
  private static func words(_ wait: IntentJoiner.Wait, _ processes: LogProcesses) -> String {
    var holders = wait.holders.prefix(holdersShown).map { holder in
      let process = holder.process.flatMap { processes[$0] }
      let name = process.map { "\(String(decoding: $0.name, as: UTF8.self))[\($0.pid)]" } ?? "unknown"
      return "\(name) (intent \(holder.intent))"
    }
    let more = wait.holders.count - holders.count
    if more > 0 { holders.append("and \(more) more") }
    let use = CoordinationText.use(reads: wait.reads, writes: wait.writes)
    return "to \(use), behind " + holders.joined(separator: ", ")
  }
}
