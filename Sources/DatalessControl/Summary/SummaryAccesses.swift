extension SummaryReport {
  /// Calls of one operation that needed no materialization and were delayed.
  public struct Access: Codable, Sendable, Equatable {
    /// `lookup`, `getattr`, `open` or `read`.
    public var operation: String
    public var blocked = Blocked()
    /// Of the calls, those that ended with an errno.
    public var failures: Int64 = 0
    /// Who called, the longest blocked first, at most 16.
    public var callers: [AccessCaller] = []
  }

  /// What processes of one name, executable and script waited for one operation.
  public struct AccessCaller: Codable, Sendable, Equatable {
    /// Absent when unknown.
    public var comm: String?
    public var exe: String?
    /// What an interpreter runs; absent where there is none, or none is known.
    public var script: String?
    public var calls: Int64 = 0
    public var blockedNanoseconds: Int64 = 0
    enum CodingKeys: String, CodingKey {
      case comm, exe, script, calls
      case blockedNanoseconds = "blocked_ns"
    }
  }
}

/// Adds up what delays of accesses took.
struct SummaryAccesses: Sendable {
  private struct Started: Sendable {
    var operation: String
    var caller: Caller
    var start: Int64
  }

  private struct Caller: Hashable, Sendable {
    var comm: [UInt8]?
    var exe: [UInt8]?
    var script: [UInt8]?
  }

  private struct Sum: Sendable {
    var report: SummaryReport.Access
    var wall = IntervalUnion(limit: 1_024)
    var callers: [Caller: SummaryReport.AccessCaller] = [:]
  }

  private static let callersMax = 16
  /// Calls that have begun and not ended, by their number.
  private var started: [UInt64: Started] = [:]
  /// By operation.
  private var sums: [String: Sum] = [:]

  mutating func begin(_ record: LogRecord, _ processes: LogProcesses) {
    guard let number = record.json.unsigned("access"), let start = record.monotonicNanoseconds,
      let operation = record.json.string("operation")
    else { return }
    started[number] = Started(operation: operation, caller: Self.caller(record, processes), start: start)
  }

  mutating func end(_ record: LogRecord, _ processes: LogProcesses) {
    if let number = record.json.unsigned("access") { started[number] = nil }
    guard let blocked = record.json.integer("blocked_ns"), let end = record.monotonicNanoseconds,
      let operation = record.json.string("operation")
    else { return }
    add(
      operation, by: Self.caller(record, processes), from: end.minus(blocked), blocked: blocked, isUnderWay: false,
      isFailed: record.outcome != "ok")
  }

  /// Counts calls that have not ended up to a time. - Returns: Whether there were any.
  mutating func endAll(at end: Int64) -> Bool {
    for call in started.values {
      add(
        call.operation, by: call.caller, from: call.start, blocked: max(0, end.minus(call.start)), isUnderWay: true,
        isFailed: false)
    }
    defer { started = [:] }
    return !started.isEmpty
  }

  /// The longest blocked operation first.
  var report: [SummaryReport.Access] {
    sums.values.map { sum in
      var report = sum.report
      report.blocked.wallNanoseconds = sum.wall.length
      report.blocked.setParallelism()
      let callers = sum.callers.values.sorted {
        ($1.blockedNanoseconds, $1.calls, $0.comm ?? "", $0.exe ?? "", $0.script ?? "")
          < ($0.blockedNanoseconds, $0.calls, $1.comm ?? "", $1.exe ?? "", $1.script ?? "")
      }
      report.callers = Array(callers.prefix(Self.callersMax))
      return report
    }.sorted { ($1.blocked.sumNanoseconds, $0.operation) < ($0.blocked.sumNanoseconds, $1.operation) }
  }

  private mutating func add(
    _ operation: String, by caller: Caller, from start: Int64, blocked: Int64, isUnderWay: Bool, isFailed: Bool
  ) {
    var sum = sums[operation] ?? Sum(report: SummaryReport.Access(operation: operation))
    sum.report.blocked.add(blocked, isUnderWay: isUnderWay)
    if isFailed { sum.report.failures += 1 }
    sum.wall.insert(from: start, to: start.plus(blocked))
    var told =
      sum.callers[caller]
      ?? SummaryReport.AccessCaller(
        comm: caller.comm.map { String(decoding: $0, as: UTF8.self) },
        exe: caller.exe.map { String(decoding: $0, as: UTF8.self) },
        script: caller.script.map { String(decoding: $0, as: UTF8.self) })
    told.calls += 1
    told.blockedNanoseconds = told.blockedNanoseconds.plus(blocked)
    sum.callers[caller] = told
    sums[operation] = sum
  }

  private static func caller(_ record: LogRecord, _ processes: LogProcesses) -> Caller {
    let process = record.process.flatMap { processes[$0] }
    return Caller(comm: process?.comm, exe: process?.exe, script: process?.script)
  }
}
