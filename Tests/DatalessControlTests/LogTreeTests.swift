import DatalessControl
import Testing

@testable import DatalessCommands

/// Rows below the processes that they are of; columns in local time; the last session of a file.
@Suite struct LogTreeTests {
  private static func processes(_ lines: [(id: Int, comm: String, parents: [Int])]) throws -> LogProcesses {
    var log = LogText()
    for line in lines {
      log.process(line.id, pid: line.id * 10, line.comm, exe: "/bin/\(line.comm)", parents: line.parents)
    }
    var processes = LogProcesses(keepsRecords: false)
    for line in log.lines { processes.add(try #require(LogRecord(line: bytes(line)))) }
    return processes
  }

  @Test func rowsStandBelowTheirProcessAndThatBelowItsParent() throws {
    let processes = try Self.processes([
      (1, "init", []), (2, "make", [1]), (3, "cc", [2, 1]), (4, "ld", [2, 1]), (5, "other", []),
    ])
    var tree = LogTree()
    for (row, id) in [("a", 3), ("b", 5), ("c", 4), ("d", 3), ("e", 2)] as [(String, UInt32)] {
      tree.add(row, of: id, processes)
    }
    tree.add("mounted", of: nil, processes)
    tree.add("unknown", of: 99, processes)
    #expect(
      tree.lines == [
        "mounted", "init[10]", "  make[20]", "    e", "    cc[30]", "      a", "      d", "    ld[40]", "      c",
        "other[50]", "  b", "process 99", "  unknown",
      ])
  }

  /// A log that anybody may have written: circles, and a chain as long as the log.
  @Test func everyRowIsPrintedOnceWhateverTheParents() throws {
    var lines: [(id: Int, comm: String, parents: [Int])] = [(1, "a", [2, 1]), (2, "b", [1, 2]), (3, "c", [3])]
    for id in 10..<5_010 { lines.append((id, "d", [id + 1])) }
    let processes = try Self.processes(lines)
    var tree = LogTree()
    let ids = [1, 2, 3] + Array(10..<5_010)
    for id in ids { tree.add("row \(id)", of: UInt32(id), processes) }
    let rows = tree.lines.compactMap { line in line.split(separator: "row ").last.flatMap { Int($0) } }
    #expect(rows.sorted() == ids)
    #expect(tree.lines.allSatisfy { $0.prefix { $0 == " " }.count <= 34 })
  }

  @Test func aProcessIsNamedByItsScript() throws {
    var processes = LogProcesses(keepsRecords: false)
    for (id, fields) in [
      (1, #""comm":"python3","script":"fm.py""#), (2, #""comm":"fm.py","script":"fm.py""#),
      (3, #""comm":"a-very-long-nam","script":"a-very-long-name.sh""#), (4, #""exe":"/usr/bin/node","script":"s.js""#),
      (5, ""), (6, #""comm":"sh""#),
    ] {
      let line = #"{"type":"process.seen","process":\#(id),"pid":\#(id)\#(fields.isEmpty ? "" : ",")\#(fields)}"#
      processes.add(try partialRecord(line))
    }
    let names = (1...6).map { processes[$0].map { String(decoding: $0.name, as: UTF8.self) } }
    #expect(names == ["python3 fm.py", "fm.py", "a-very-long-name.sh", "node s.js", "?", "sh"])
  }

  private static func rows(_ log: LogText, zone: LogZone, showsEveryType: Bool = false) throws -> [LogRow] {
    var table = LogTable(showsEveryType: showsEveryType, showsStarts: false, zone: zone)
    var processes = LogProcesses(keepsRecords: false)
    var rows: [LogRow] = []
    for line in log.lines {
      let record = try #require(LogRecord(line: bytes(line)))
      processes.add(record)
      if let row = table.row(record, processes) { rows.append(row) }
    }
    return rows
  }

  @Test func timesAreOfTheZoneThatIsWanted() throws {
    var log = LogText()
    log.add("mark", at: 678_000_000, #""label":"x""#)
    #expect(try Self.rows(log, zone: .utc).map(\.time) == ["03:04:05.678"])
    #expect(try Self.rows(log, zone: .fixed(-4 * 3600 - 60)).map(\.time) == ["23:03:05.678"])
    #expect(LogTable.header(.local).hasPrefix("TIME (LOCAL)  WHO"))
    #expect(LogTable.header(.utc) == LogTable.header)
  }

  /// Also of a wait that ends after the attempt that it was for; of one whose beginning is lost the number is told.
  @Test func aWaitHasThePathOfItsAttempt() throws {
    var log = LogText()
    log.started(1, "src", kind: "directory", trigger: "lookup", by: 1, at: 10)
    log.add("wait.started", at: 10, #""attempt":1,"process":1,"trigger":"lookup""#)
    log.finished(1, "src", kind: "directory", by: 1, at: 20)
    log.add("wait.finished", at: 20, #""attempt":1,"process":1,"trigger":"lookup","blocked_ns":10,"outcome":"ok""#)
    log.add("wait.finished", at: 20, #""attempt":1,"process":1,"trigger":"lookup","blocked_ns":10,"outcome":"ok""#)
    let waits = try Self.rows(log, zone: .utc, showsEveryType: true).filter { $0.what.hasPrefix("wait") }
    #expect(waits.map(\.detail) == ["src/", "src/", "attempt 1"])
  }

  @Test func onlyAttemptsThatWereAskedForAreUnfinished() throws {
    var log = LogText()
    for number in 1...2 { log.started(number, "f\(number)", by: 1, at: 10) }
    var table = LogTable(showsEveryType: false, showsStarts: false)
    for (number, line) in log.lines.enumerated() {
      let record = try #require(LogRecord(line: bytes(line)))
      _ = table.row(record, LogProcesses(keepsRecords: false), isWanted: number == 1)
    }
    #expect(table.unfinished.map(\.detail) == ["f2"])
  }

  /// One of which no mount is told has lost that record: the one before it is not the last.
  @Test func theLastSessionIsTheOneThatBeganLast() throws {
    func last(_ lines: [String]) throws -> String? {
      let file = try TemporaryFile(bytes(lines.joined(separator: "\n") + "\n"))
      return try LogFile.lastSession(of: file.path).map { "\($0.name) after \($0.earlierSessions)" }
    }
    func line(_ session: String, _ type: String, _ fields: String = "") -> String {
      #"{"v":1,"session":"\#(session)","type":"\#(type)"\#(fields)}"#
    }
    let mounted = line("a", "volume.mounted")
    #expect(try last([mounted, line("b", "volume.mounted"), line("a", "mark")]) == "b after 1")
    #expect(
      try last([mounted, line("a", "mark", #","label":"volume.mounted""#), "torn vv volume.mounted"]) == "a after 0")
    #expect(try last([mounted, line("c", "mark", #","label":"x""#), line("a", "mark")]) == "c after 1")
    #expect(try last([line("c", "mark"), line("d", "mark"), line("c", "mark")]) == "d after 1")
    #expect(try last(["nothing"]) == nil)
    #expect(throws: ControlError.self) { try LogFile.lastSession(of: bytes("/dev/null")) }
  }
}
