import DatalessCore
import Testing

@testable import DatalessControl

/// Swift Testing has a type of this name, too.
typealias Expected = DatalessCore.Expectation

/// A log for tests of expectations, and what becomes of it.
struct ExpectationLog {
  var log = LogText()
  /// Of the next attempt.
  private var attempt = 0
  private var attempts: [String: Int] = [:]

  /// Processes: 1 (the first one), 2 (sh), 3 (python3 fm.py, below sh), 4 (tar, below the first one).
  init(isRun: Bool = false) {
    log.mounted()
    if isRun { log.add("run.started", at: 0, #""command":["fm.py"],"pid":10"#) }
    log.process(1, pid: 1, "init", exe: "/sbin/init")
    log.process(2, pid: 10, "sh", exe: "/bin/sh", parents: [1])
    log.add(
      "process.seen", at: 0,
      #""process":3,"pid":11,"comm":"python3","exe":"/usr/bin/python3","script":"fm.py","uid":1000,"#
        + #""cgroup":"/user.slice","parents":[2,1]"#)
    log.process(4, pid: 12, "tar", exe: "/bin/tar", parents: [1])
  }

  /// What one attempt is.
  struct Step {
    var kind = "file"
    var size = 100
    var trigger = "read"
    var process = 3
    var thread = 11
    var isMain: Bool? = true
    var start: Int64 = 1_000
    var end: Int64 = 2_000
    var outcome = "ok"
    var bytes: Int?
  }

  static func step(_ change: (inout Step) -> Void) -> Step {
    var step = Step()
    change(&step)
    return step
  }

  @discardableResult
  mutating func start(_ path: String, _ step: Step = Step()) -> Int {
    attempt += 1
    attempts[path, default: 0] += 1
    let main = step.isMain.map { ",\"main_thread\":\($0)" } ?? ""
    let caller = #""process":\#(step.process),"tid":\#(step.thread)\#(main)"#
    log.add(
      "materialization.started", at: step.start,
      #""attempt":\#(attempt),"path":"\#(path)","kind":"\#(step.kind)","size":\#(step.size),"trigger":"\#(step.trigger)","#
        + #""file_attempt":\#(attempts[path] ?? 1),\#(caller)"#)
    log.add("wait.started", at: step.start, #""attempt":\#(attempt),"trigger":"\#(step.trigger)",\#(caller)"#)
    return attempt
  }

  mutating func end(_ attempt: Int, _ path: String, _ step: Step = Step()) {
    let main = step.isMain.map { ",\"main_thread\":\($0)" } ?? ""
    let caller = #""process":\#(step.process),"tid":\#(step.thread)\#(main),"trigger":"\#(step.trigger)""#
    let bytes = step.bytes ?? (step.outcome == "ok" && step.kind == "file" ? step.size : 0)
    log.add(
      "materialization.finished", at: step.end,
      #""attempt":\#(attempt),"path":"\#(path)","kind":"\#(step.kind)","bytes":\#(bytes),"outcome":"\#(step.outcome)","#
        + #""waiter_count":1,"waiters":[{\#(caller)}]"#)
    log.add(
      "wait.finished", at: step.end,
      #""attempt":\#(attempt),\#(caller),"blocked_ns":\#(step.end &- step.start),"outcome":"\#(step.outcome)""#)
  }

  /// One attempt from its start to its end.
  mutating func take(_ path: String, _ change: (inout Step) -> Void = { _ in }) {
    let step = Self.step(change)
    end(start(path, step), path, step)
  }

  mutating func evict(_ path: String) {
    log.add("eviction.finished", at: 3_000, #""path":"\#(path)","kind":"file","bytes":100,"by":"command""#)
  }

  mutating func unmount(files: Int = 1_000) {
    log.add(
      "volume.unmounted", at: 9_000,
      #""reason":"unmount","items":{"files":\#(files),"directories":20,"bytes":100000,"directories_dataless":0},"log_dropped":0"#
    )
  }

  /// - Parameter command: How it ended, as fields.
  mutating func finishRun(
    files: Int, bytes: Int, inFlight: Int = 0, end: String = "none_left", command: String = #""exit_status":0"#
  ) {
    log.add(
      "run.finished", at: 8_000,
      #"\#(command),"budgets":{"files":\#(files),"bytes":\#(bytes),"in_flight":\#(inFlight)},"children":{"end":"\#(end)"}"#
    )
  }

  func verdict(
    _ expectations: [Expected], baseline: Baseline? = nil, isMounted: Bool = false
  ) throws -> Verdict {
    var checked = Expectations(expectations, baseline: baseline)
    for line in log.lines { checked.add(try #require(LogRecord(line: bytes(line)))) }
    return checked.finish(log: bytes("/x.jsonl"), isMounted: isMounted)
  }
}

/// A glob that is one.
func glob(_ text: String) throws -> PathPattern { try PathPattern(parsing: bytes(text)) }

extension RuleMatch {
  /// Of one program, by the last component of its executable.
  static func of(_ program: String) throws -> RuleMatch {
    var match = RuleMatch()
    var process = ProcessMatch()
    process.executables = [try glob(program)]
    match.process = process
    return match
  }
}
