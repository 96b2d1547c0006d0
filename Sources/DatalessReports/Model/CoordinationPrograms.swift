import DatalessControl
import DatalessCore

/// What each program coordinated: how many intents it had and what they waited for others, and how long it took to
/// answer as a presenter.
///
/// Memory: some 100 bytes for each program that coordinates.
struct CoordinationPrograms: Sendable {
  struct Intents: Equatable, Sendable {
    var count: Int64 = 0
    /// Those that waited for others, as far as the log says how long; and for how long, altogether and at most.
    var waits: Int64 = 0
    var waited: Int64 = 0
    var longest: Int64 = 0
  }

  struct Answers: Equatable, Sendable {
    /// Questions that have ended.
    var asked: Int64 = 0
    var timedOut: Int64 = 0
    /// What answers took, altogether and at most; those that had no more time count for as long as they had.
    var took: Int64 = 0
    var longest: Int64 = 0
  }

  /// By the program's name, escaped for a terminal.
  private(set) var intents: [String: Intents] = [:]
  private(set) var presenters: [String: Answers] = [:]

  mutating func add(_ step: IntentJoiner.Step, by process: UInt32?, _ processes: LogProcesses) {
    if step.isFirst { intents[Self.name(process, processes), default: Intents()].count += 1 }
    if let wait = step.wait { add(wait, processes) }
  }

  /// An intent has waited for others, or still does.
  mutating func add(_ wait: IntentJoiner.Wait, _ processes: LogProcesses) {
    guard let nanoseconds = wait.nanoseconds else { return }
    let name = Self.name(wait.process, processes)
    var row = intents[name] ?? Intents()
    row.waits += 1
    row.waited = row.waited.plus(nanoseconds)
    row.longest = max(row.longest, nanoseconds)
    intents[name] = row
  }

  /// A presenter has answered, or has not in time. Other records are nothing.
  mutating func answered(_ record: LogRecord, _ processes: LogProcesses) {
    guard record.type == .presenterAnswered else { return }
    let name = Self.name(record.process, processes)
    var row = presenters[name] ?? Answers()
    defer { presenters[name] = row }
    row.asked += 1
    // How long it would have taken nobody knows.
    if record.outcome == "withdrawn" { return }
    if record.outcome == "timed_out" { row.timedOut += 1 }
    let took = max(0, record.json.integer("took_ns") ?? 0)
    row.took = row.took.plus(took)
    row.longest = max(row.longest, took)
  }

  private static func name(_ process: UInt32?, _ processes: LogProcesses) -> String {
    process.flatMap { processes[$0] }.map { TerminalText.escaped($0.name) } ?? "unknown"
  }
}
