import Synchronization

/// Makes the lines of a log by hand.
struct LogText {
  var lines: [String] = []
  var sequence = 0
  var session = "0123456789ab"

  /// Adds a record; `fields` is JSON without braces.
  mutating func add(_ type: String, at nanoseconds: Int64, _ fields: String = "") {
    sequence += 1
    let time = "2026-01-02T03:04:05.\(String(1_000_000_000 + abs(nanoseconds % 1_000_000_000)).dropFirst())Z"
    lines.append(
      "{\"v\":1,\"seq\":\(sequence),\"session\":\"\(session)\",\"time\":\"\(time)\",\"monotonic_ns\":\(nanoseconds),"
        + "\"type\":\"\(type)\"\(fields.isEmpty ? "" : ",")\(fields)}")
  }

  mutating func mounted(at nanoseconds: Int64 = 0) {
    add(
      "volume.mounted", at: nanoseconds, #""source":"/src","mountpoint":"/mnt","options":{},"pid":99,"read_only":true"#)
  }

  mutating func process(_ id: Int, pid: Int, _ comm: String, exe: String, parents: [Int] = []) {
    add(
      "process.seen", at: 0,
      #""process":\#(id),"pid":\#(pid),"comm":"\#(comm)","exe":"\#(exe)","argv":["\#(comm)","-x"],"#
        + #""parents":\#(parents)"#
    )
  }

  mutating func started(
    _ attempt: Int, _ path: String, kind: String = "file", size: Int = 0, trigger: String = "read", by process: Int,
    at nanoseconds: Int64
  ) {
    add(
      "materialization.started", at: nanoseconds,
      #""attempt":\#(attempt),"path":"\#(path)","inode":1,"kind":"\#(kind)","size":\#(size),"trigger":"\#(trigger)","#
        + #""process":\#(process),"tid":7,"main_thread":true"#)
  }

  mutating func waited(_ attempt: Int, by process: Int, from start: Int64, to end: Int64, outcome: String = "ok") {
    add("wait.started", at: start, #""attempt":\#(attempt),"process":\#(process),"tid":7,"trigger":"read""#)
    add(
      "wait.finished", at: end,
      #""attempt":\#(attempt),"process":\#(process),"tid":7,"trigger":"read","blocked_ns":\#(end &- start),"#
        + #""outcome":"\#(outcome)""#)
  }

  mutating func finished(
    _ attempt: Int, _ path: String, kind: String = "file", bytes: Int = 0, outcome: String = "ok", by process: Int,
    blocked: Int64 = 0, waiters: Int = 1, at nanoseconds: Int64
  ) {
    add(
      "materialization.finished", at: nanoseconds,
      #""attempt":\#(attempt),"path":"\#(path)","kind":"\#(kind)","bytes":\#(bytes),"outcome":"\#(outcome)","#
        + #""duration_ns":\#(blocked),"waiter_count":\#(waiters),"waiters":[{"process":\#(process),"tid":7,"#
        + #""trigger":"read","blocked_ns":\#(blocked),"outcome":"\#(outcome)"}]"#)
  }

  mutating func closed(
    _ path: String, by process: Int, size: Int, covered: Int, triggered: Bool = true, at nanoseconds: Int64
  ) {
    add(
      "handle.closed", at: nanoseconds,
      #""path":"\#(path)","inode":1,"handle":1,"process":\#(process),"size":\#(size),"bytes_read":\#(covered),"#
        + #""covered_bytes":\#(covered),"high_water_mark":\#(covered),"reads":1,"triggered":\#(triggered)"#)
  }

  /// The file's bytes, each line with its newline.
  var bytes: [UInt8] { lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] } }

  var records: [String] { lines }
}
