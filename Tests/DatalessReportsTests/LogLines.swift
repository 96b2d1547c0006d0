import DatalessControl
import Glibc

@testable import DatalessReports

/// Makes the lines of a log by hand, and reports of them.
struct LogLines {
  private(set) var lines: [String] = []
  var session = "0123456789ab"
  private var sequence = 0

  init() {}

  /// Adds a record; `fields` is JSON without braces.
  mutating func add(_ type: String, at nanoseconds: Int64, _ fields: String = "") {
    sequence += 1
    let time = "2026-01-02T03:04:05.\(String(1_000_000_000 + nanoseconds % 1_000_000_000).dropFirst())Z"
    lines.append(
      "{\"v\":1,\"seq\":\(sequence),\"session\":\"\(session)\",\"time\":\"\(time)\",\"monotonic_ns\":\(nanoseconds),"
        + "\"type\":\"\(type)\"\(fields.isEmpty ? "" : ",")\(fields)}")
  }

  mutating func mounted(at nanoseconds: Int64 = 0, source: String = "/src") {
    sequence = 0
    add(
      "volume.mounted", at: nanoseconds,
      #""source":"\#(source)","mountpoint":"/mnt","options":{"observe":"reads"},"pid":99,"read_only":true"#)
  }

  mutating func unmounted(at nanoseconds: Int64) { add("volume.unmounted", at: nanoseconds, #""reason":"unmount""#) }

  /// - Parameter name: As it stands in JSON.
  mutating func process(_ id: Int, pid: Int, _ name: String, script: String? = nil, parents: [Int] = []) {
    add(
      "process.seen", at: 0,
      #""process":\#(id),"pid":\#(pid),"comm":"\#(name)","exe":"/usr/bin/\#(name)","parents":\#(parents)"#
        + (script.map { #","script":"\#($0)""# } ?? ""))
  }

  /// An attempt with one wait, from its beginning to its end.
  ///
  /// - Parameters:
  ///   - path: As it stands in JSON.
  ///   - threadName: As `path`.
  mutating func waited(
    _ attempt: Int, _ path: String, by process: Int, thread: Int, isMain: Bool = true, from start: Int64, to end: Int64,
    size: Int = 1_000, kind: String = "file", outcome: String = "ok", isEnded: Bool = true, threadName: String? = nil
  ) {
    let trigger = kind == "file" ? "read" : "readdir"
    let caller =
      #""process":\#(process),"tid":\#(thread),"main_thread":\#(isMain),"trigger":"\#(trigger)""#
      + (threadName.map { #","thread_name":"\#($0)""# } ?? "")
    add(
      "materialization.started", at: start,
      #""attempt":\#(attempt),"path":"\#(path)","kind":"\#(kind)","size":\#(size),"handle":\#(attempt),\#(caller)"#)
    add("wait.started", at: start, #""attempt":\#(attempt),\#(caller)"#)
    guard isEnded else { return }
    add(
      "wait.finished", at: end,
      #""attempt":\#(attempt),\#(caller),"blocked_ns":\#(end - start),"outcome":"\#(outcome)""#)
    let bytes = outcome == "ok" && kind == "file" ? size : 0
    add(
      "materialization.finished", at: end,
      #""attempt":\#(attempt),"path":"\#(path)","kind":"\#(kind)","bytes":\#(bytes),"outcome":"\#(outcome)","#
        + #""duration_ns":\#(end - start),"waiter_count":1,"waiters":[{\#(caller)}]"#)
  }

  mutating func closed(_ path: String, handle: Int, by process: Int, size: Int, covered: Int, at nanoseconds: Int64) {
    add(
      "handle.closed", at: nanoseconds,
      #""path":"\#(path)","inode":1,"handle":\#(handle),"process":\#(process),"size":\#(size),"bytes_read":\#(covered),"#
        + #""covered_bytes":\#(covered),"high_water_mark":\#(covered),"reads":1,"triggered":true"#)
  }

  /// Python frames, innermost first, each `function file line`; a reference to an earlier stack without.
  mutating func stack(
    _ attempt: Int, id: Int, by process: Int, thread: Int, frames: [(String, String, Int)]?, at nanoseconds: Int64
  ) {
    let list = frames?.map { #"{"function":"\#($0.0)","file":"\#($0.1)","line":\#($0.2)}"# }.joined(separator: ",")
    let stack = list.map {
      #","stack":{"complete":true,"end":"outermost","frames":[],"interpreted":{"language":"python","readable":true,"#
        + #""complete":true,"frames":[\#($0)]}}"#
    }
    add(
      "wait.stack", at: nanoseconds,
      #""attempt":\#(attempt),"process":\#(process),"tid":\#(thread),"outcome":"ok","stack_id":\#(id)"# + (stack ?? ""))
  }

  var bytes: [UInt8] { lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] } }
}

/// A directory with a log, for reports beside it; removed with its owner.
final class ReportFolder {
  let path: String
  var log: String { path + "/log.jsonl" }

  init(_ log: [UInt8]) throws {
    var template = Array("/tmp/dataless-reports-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure.errno(errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    try write(log, to: "log.jsonl")
  }

  enum Failure: Error { case errno(CInt) }

  deinit {
    for name in names { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    guard let stream = fopen("\(path)/\(name)", "w") else { throw Failure.errno(errno) }
    fwrite(bytes, 1, bytes.count, stream)
    fclose(stream)
  }

  var names: [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Writes a report of each kind, under the name of its kind.
  @discardableResult
  func export(
    _ kinds: [ReportKind] = ReportKind.allCases, context: ReportContext = ReportContext(version: "0")
  ) throws -> Report {
    try ReportExporter.export(
      kinds.map { ReportRequest(kind: $0, path: Array("\(path)/\($0.rawValue)".utf8)) }, log: Array(log.utf8),
      context: context)
  }

  func text(_ kind: ReportKind) throws -> String {
    String(decoding: try FileBytes.read("\(path)/\(kind.rawValue)"), as: UTF8.self)
  }
}
