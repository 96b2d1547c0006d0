@testable import DatalessControl

/// A log for tests of findings: 10 is main thread of `viewer`, process 1; process 2 is `cat`.
struct FindingLog {
  static let millisecond: Int64 = 1_000_000

  var log = LogText()
  private var attempt = 0
  private var attempts: [String: Int] = [:]

  /// - Parameters:
  ///   - options: JSON without braces.
  ///   - mounted: What of `volume.mounted` says what can be written to, as JSON.
  init(options: String = #""observe":"reads""#, mounted: String = #""read_only":true"#) {
    log.add(
      "volume.mounted", at: 0,
      #""source":"/src","mountpoint":"/mnt","options":{\#(options)},"pid":99,\#(mounted)"#)
    log.process(1, pid: 10, "viewer", exe: "/usr/bin/viewer")
    log.process(2, pid: 20, "cat", exe: "/usr/bin/cat")
    log.add("process.seen", at: 0, #""process":3,"pid":null,"comm":null,"exe":null,"unavailable":"pid_namespace""#)
  }

  /// Who waits, and how.
  struct Caller {
    var process: Int? = 1
    /// nil for an intent.
    var thread: Int? = 10
    var isMain: Bool? = true
    var trigger = "read"

    fileprivate var fields: String {
      #""process":\#(process.map { "\($0)" } ?? "null"),"tid":\#(thread.map { "\($0)" } ?? "null"),"main_thread":\#(isMain.map { "\($0)" } ?? "null"),"#
        + #""trigger":"\#(trigger)""#
    }
  }

  static func caller(_ change: (inout Caller) -> Void) -> Caller {
    var caller = Caller()
    change(&caller)
    return caller
  }

  /// - Returns: The attempt's number. Times are milliseconds.
  @discardableResult
  mutating func begin(_ path: String, kind: String = "file", at time: Int64, by caller: Caller = Caller()) -> Int {
    attempt += 1
    attempts[path, default: 0] += 1
    log.add(
      "materialization.started", at: time * Self.millisecond,
      #""attempt":\#(attempt),"path":"\#(path)","kind":"\#(kind)","size":100,"file_attempt":\#(attempts[path] ?? 1),\#(caller.fields)"#
    )
    join(attempt, at: time, by: caller)
    return attempt
  }

  mutating func join(_ attempt: Int, at time: Int64, by caller: Caller = Caller()) {
    log.add("wait.started", at: time * Self.millisecond, #""attempt":\#(attempt),\#(caller.fields)"#)
  }

  /// As the daemon has it: first the waits, then the attempt.
  ///
  /// - Parameters:
  ///   - more: Fields of `wait.finished`, each behind a comma.
  ///   - rest: The same of `materialization.finished`.
  mutating func end(
    _ attempt: Int, _ path: String, kind: String = "file", from start: Int64, to end: Int64,
    by caller: Caller = Caller(),
    more: String = "", rest: String = #","store_ns":0"#
  ) {
    answer(attempt, from: start, to: end, by: caller, more: more)
    log.add(
      "materialization.finished", at: end * Self.millisecond,
      #""attempt":\#(attempt),"path":"\#(path)","kind":"\#(kind)","bytes":100,"outcome":"ok""# + rest)
  }

  mutating func answer(
    _ attempt: Int, from start: Int64, to end: Int64, by caller: Caller = Caller(), more: String = ""
  ) {
    log.add(
      "wait.finished", at: end * Self.millisecond,
      #""attempt":\#(attempt),\#(caller.fields),"blocked_ns":\#((end - start) * Self.millisecond),"outcome":"ok""#
        + more)
  }

  /// A file that is waited for from its beginning to its end.
  mutating func read(
    _ path: String, from start: Int64, to end: Int64, by caller: Caller = Caller(), rest: String = #","store_ns":0"#
  ) {
    self.end(begin(path, at: start, by: caller), path, from: start, to: end, by: caller, rest: rest)
  }

  mutating func list(_ path: String, from start: Int64, to end: Int64, by caller: Caller = Caller()) {
    var caller = caller
    caller.trigger = "readdir"
    self.end(
      begin(path, kind: "directory", at: start, by: caller), path, kind: "directory", from: start, to: end, by: caller)
  }

  /// - Parameter found: As the log has it; nil where it does not tell.
  mutating func lookUp(
    _ name: String, in path: String, found: String?, from start: Int64, to end: Int64, by caller: Caller = Caller()
  ) {
    var caller = caller
    caller.trigger = "lookup"
    let more = found.map { #","name":"\#(name)","found":"\#($0)""# } ?? ""
    self.end(
      begin(path, kind: "directory", at: start, by: caller), path, kind: "directory", from: start, to: end, by: caller,
      more: more)
  }

  mutating func opened(_ path: String, by process: Int = 1, at time: Int64, names: [String] = []) {
    let more = names.isEmpty ? "" : #","names":["\#(names.joined(separator: #"",""#))"]"#
    log.add(
      "handle.closed", at: time * Self.millisecond,
      #""path":"\#(path)","handle":5,"process":\#(process),"size":100,"bytes_read":0,"covered_bytes":0,"high_water_mark":0,"#
        + #""reads":0,"triggered":false"# + more)
  }

  /// A process writes to a file that another one has open. - Parameter locked: As the log has it: `null` with a reason.
  mutating func wrote(
    _ path: String, by process: Int = 1, beside other: String = "2", locked: String = "false", at time: Int64 = 100
  ) {
    log.add(
      "handle.together", at: time * Self.millisecond,
      #""path":"\#(path)","inode":5,"process":\#(process),"tid":10,"main_thread":true,"other":\#(other),"#
        + #""other_writes":false,"locked":\#(locked)"#)
  }

  /// - Parameter fields: Of the record beside its number, as JSON.
  mutating func coordination(_ step: String, _ intent: Int, at time: Int64, _ fields: String) {
    log.add("coordination.\(step)", at: time * Self.millisecond, #""intent":\#(intent),\#(fields)"#)
  }

  mutating func unmount(at time: Int64 = 9_000) {
    log.add(
      "volume.unmounted", at: time * Self.millisecond,
      #""reason":"unmount","opens":{"now":{"direct":0,"page_cache":0,"passthrough":0}},"log_dropped":0"#)
  }

  func summary(isMounted: Bool = false) throws -> SummaryReport {
    var builder = SummaryBuilder()
    for line in log.lines { if let record = LogRecord(line: bytes(line)) { builder.add(record) } }
    return builder.finish(log: bytes("/x.jsonl"), isMounted: isMounted)
  }

  func finding(_ kind: Finding.Kind, isMounted: Bool = false) throws -> Finding {
    let found = try summary(isMounted: isMounted).findings
    return found.first { $0.kind == kind } ?? Finding(kind)
  }
}
