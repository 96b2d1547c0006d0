import DatalessControl
import DatalessCore
import Testing

@testable import DatalessCommands

/// Filters, expansion and columns, over one small log.
@Suite struct LogViewTests {
  private static let log: LogText = {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "make", exe: "/usr/bin/make")
    log.process(2, pid: 11, "cc1", exe: "/usr/lib/gcc/cc1", parents: [1])
    log.started(1, "src", kind: "directory", trigger: "lookup", by: 2, at: 1_000)
    log.waited(1, by: 2, from: 1_000, to: 2_000)
    log.finished(1, "src", kind: "directory", by: 2, blocked: 1_000, at: 2_000)
    log.started(2, "src/a.c", size: 4096, by: 2, at: 3_000)
    log.waited(2, by: 2, from: 3_000, to: 51_203_000)
    log.finished(2, "src/a.c", bytes: 4096, by: 2, blocked: 51_200_000, waiters: 3, at: 51_203_000)
    log.started(3, #"odd\u001b[31m\n"#, size: 10, by: 9, at: 60_000_000)
    log.add("mark", at: 61_000_000, #""label":"half way""#)
    return log
  }()

  private struct Seen {
    var records: [LogRecord] = []
    var processes = LogProcesses(keepsRecords: true)
  }

  private static func accepted(_ filter: LogFilter) throws -> [String] {
    var filter = filter
    var seen = Seen()
    for line in log.lines {
      let record = try #require(LogRecord(line: bytes(line)))
      seen.processes.add(record)
      if filter.accepts(record, seen.processes) { seen.records.append(record) }
    }
    return seen.records.map { "\($0.typeName) \($0.attempt ?? 0)" }
  }

  @Test func filterByType() throws {
    #expect(
      try Self.accepted(LogFilter(types: ["materialization.finished", "mark"])) == [
        "materialization.finished 1", "materialization.finished 2", "mark 0",
      ])
    #expect(try Self.accepted(LogFilter(types: ["wait"])).count == 4)
  }

  @Test func filterByPathTakesWaitsAlong() throws {
    #expect(
      try Self.accepted(LogFilter(path: PathPattern(bytes("*.c")))) == [
        "materialization.started 2", "wait.started 2", "wait.finished 2", "materialization.finished 2",
      ])
  }

  @Test func filterByProcessOrAncestor() throws {
    for name in ["cc1", "make"] {
      #expect(try Self.accepted(LogFilter(types: ["materialization.finished"], process: bytes(name))).count == 2)
    }
    #expect(try Self.accepted(LogFilter(process: bytes("gcc"))).isEmpty)
    #expect(try Self.accepted(LogFilter(process: bytes("mak"))).isEmpty)
  }

  @Test func expandsProcessesEverywhereAndNothingElse() throws {
    var processes = LogProcesses(keepsRecords: true)
    var output: [String] = []
    for line in Self.log.lines {
      let record = try #require(LogRecord(line: bytes(line)))
      processes.add(record)
      output.append(String(decoding: LogExpansion().line(record, processes), as: UTF8.self))
    }
    #expect(output[0] == Self.log.lines[0])
    let process =
      #"{"id":2,"pid":11,"tid":7,"comm":"cc1","exe":"/usr/lib/gcc/cc1","argv":["cc1","-x"],"#
      + #""parents":[{"id":1,"pid":10,"comm":"make","exe":"/usr/bin/make","argv":["make","-x"]}]}"#
    #expect(output[4] == Self.log.lines[4].replacing(#""process":2"#, with: #""process":"# + process))
    let finished = try #require(LogRecord(line: bytes(output[10])))
    #expect(finished.type == .materializationFinished)
    #expect(finished.json.objects("waiters").first?.object("process")?.integer("pid") == 11)
    #expect(finished.json.integer("waiter_count") == 3)
    // A process that was never introduced keeps its id.
    #expect(output[11].contains(#""process":{"id":9},"tid":7"#))
    for line in output { #expect(LogRecord(line: bytes(line)) != nil) }
  }

  private static func rows(showsEveryType: Bool = false, showsStarts: Bool = false) throws -> [String] {
    var table = LogTable(showsEveryType: showsEveryType, showsStarts: showsStarts)
    var processes = LogProcesses(keepsRecords: false)
    var rows: [String] = []
    for line in log.lines {
      let record = try #require(LogRecord(line: bytes(line)))
      processes.add(record)
      if let row = table.row(record, processes) { rows.append(LogTable.line(row)) }
    }
    return rows + table.unfinished.map { LogTable.line($0) }
  }

  @Test func columns() throws {
    #expect(
      try [LogTable.header] + Self.rows() == [
        "TIME (UTC)    WHO                   WHAT                  SIZE    BLOCKED  OUTCOME     PATH",
        "03:04:05.000                        mounted                                            /src on /mnt",
        "03:04:05.000  cc1[11]               lookup                         1.0 us  ok          src/",
        "03:04:05.051  cc1[11] +2            read               4.0 KiB    51.2 ms  ok          src/a.c",
        "03:04:05.061                        mark                                               half way",
        #"03:04:05.060  process 9             read                  10 B             unfinished  odd\x1b[31m\n"#,
      ])
  }

  @Test func threadsThatHaveANameOfTheirOwnAreCalledByIt() throws {
    func detail(_ type: String, _ fields: String) throws -> String? {
      let record = try partialRecord(#"{"type":"\#(type)","attempt":1,"path":"x"\#(fields)}"#)
      var table = LogTable(showsEveryType: true, showsStarts: true)
      return table.row(record, LogProcesses(keepsRecords: false))?.detail
    }
    let thread = #""process":3,"tid":12,"thread_name":"io\u001b[2J""#
    #expect(try detail("materialization.refused", "," + thread) == #"x [thread io\x1b[2J]"#)
    #expect(
      try detail("materialization.finished", #","outcome":"EIO","message":"m","waiters":[{\#(thread)},{"process":4}]"#)
        == #"x [thread io\x1b[2J] (m)"#)
    #expect(try detail("materialization.finished", #","waiters":[{"process":4}]"#) == "x")
  }

  @Test func aRowHasTheLongestWaitAndFailuresAreBadNews() throws {
    func row(_ outcome: String) throws -> LogRow {
      let record = try partialRecord(
        #"{"type":"materialization.finished","attempt":1,"path":"a","kind":"file","bytes":0,"outcome":"\#(outcome)","#
          + #""waiter_count":3,"waiters":[{"blocked_ns":2000},{"blocked_ns":3000},{"blocked_ns":1000}]}"#)
      var table = LogTable(showsEveryType: false, showsStarts: false)
      let row = table.row(record, LogProcesses(keepsRecords: false))
      return try #require(row)
    }
    #expect(try row("ok").blocked == "3.0 us")
    #expect(try !row("ok").isBad)
    #expect(try row("EIO").isBad)
    #expect(try row("cancelled").isBad)
  }

  /// What the log says of a handle is the least where pages were cached before, and the most where whole units are
  /// counted.
  @Test(
    arguments: [
      ("", 500, "50.0 %"), ("", 0, "not read"), (#","cached_before":true"#, 500, "50.0 % or more"),
      (#","cached_before":true"#, 0, "unknown"), (#","cached_before":true"#, 1_000, "100 %"),
      (#","covered_unit":4096"#, 500, "up to 50.0 %"), (#","covered_unit":4096,"cached_before":true"#, 500, "unknown"),
    ])
  func aHandleSaysHowMuchOfTheFileWasReadAndWhetherThatIsKnown(fields: String, covered: Int, outcome: String) throws {
    let record = try partialRecord(
      #"{"type":"handle.closed","path":"a","size":1000,"covered_bytes":\#(covered)\#(fields)}"#)
    var table = LogTable(showsEveryType: true, showsStarts: false)
    #expect(table.row(record, LogProcesses(keepsRecords: false))?.outcome == outcome)
  }

  /// Two sessions of one file number their attempts alike.
  @Test func filterByPathTellsSessionsApart() throws {
    var filter = LogFilter(path: PathPattern(bytes("*.c")))
    func accepts(_ session: String, _ type: String, _ fields: String) throws -> Bool {
      let line = #"{"session":"\#(session)","type":"\#(type)","attempt":1\#(fields)}"#
      return filter.accepts(try partialRecord(line), LogProcesses(keepsRecords: false))
    }
    #expect(try accepts("a", "materialization.started", #","path":"x.c""#))
    #expect(try !accepts("b", "materialization.started", #","path":"x.h""#))
    #expect(try accepts("a", "wait.started", ""))
    #expect(try !accepts("b", "wait.started", ""))
  }

  /// A log that anybody may have written: of a few bytes it makes no gigabytes, and no line that cannot be read again.
  @Test func whatALogSaysOfProcessesIsNotWrittenWithoutEnd() throws {
    var processes = LogProcesses(keepsRecords: true)
    let long = String(repeating: "x", count: 20_000)
    func seen(_ id: Int, _ fields: String) throws {
      processes.add(try partialRecord(#"{"type":"process.seen","process":\#(id),"pid":1,\#(fields)}"#))
    }
    try seen(
      1,
      #""comm":"\#(long)","exe":"\#(long)","argv":["\#(long)"],"script":{"a":1},"uid":[[1]],"cgroup":"\#(long)\#(long)""#
    )
    try seen(2, #""comm":"c","parents":[\#(Array(repeating: "1", count: 100_000).joined(separator: ","))]"#)
    #expect(processes.chain(of: 2).count == 33)
    #expect(processes.chain(of: 2).allSatisfy { ($0.comm?.count ?? 0) <= 64 && ($0.exe?.count ?? 0) <= 4_096 })
    let waiters = Array(repeating: #"{"process":2,"tid":5}"#, count: 1_000).joined(separator: ",")
    let record = try partialRecord(#"{"type":"x","process":2,"waiters":[\#(waiters)]}"#)
    let line = LogExpansion().line(record, processes)
    #expect(line.count < 6 << 20)
    let again = try #require(JSONObject(line))
    #expect(again.objects("waiters").count == 1_000)
    let parent = try #require(again.object("process")?.objects("parents").first)
    #expect(parent.keys == ["id", "pid", "comm", "exe", "argv"])
  }

  /// Words that are ours in a log of ours can be anything in another.
  @Test(
    arguments: [
      ("configuration.changed", "by"), ("materialization.released", "errno"), ("materialization.refused", "trigger"),
      ("wait.finished", "outcome"), ("materialization.finished", "outcome"), ("eviction.refused", "errno"),
      ("source.changed", "change"), ("refresh.finished", "by"), ("run.finished", "signal"), ("wait.started", "trigger"),
      ("materialization.started", "trigger"), ("item.renamed", "old_path"), ("item.created", "linked_from"),
    ])
  func noWordOfALogReachesTheTerminalAsItIs(type: String, key: String) throws {
    let record = try partialRecord(#"{"type":"\#(type)","\#(key)":"\u001b[2J"}"#)
    var table = LogTable(showsEveryType: true, showsStarts: true)
    let shown = table.row(record, LogProcesses(keepsRecords: false))
    let row = try #require(shown)
    #expect(LogTable.line(row).contains(#"\x1b[2J"#) && isSafe(LogTable.line(row)))
  }

  @Test func everyTypeHasARow() throws {
    #expect(try Self.rows(showsEveryType: true).count == Self.log.lines.count + 1)
    #expect(try Self.rows(showsStarts: true).count == 5 + 3)
  }

  @Test func badNewsIsRedOnlyWhenAsked() {
    var row = LogRow(time: "t", who: "w")
    row.isBad = true
    #expect(!LogTable.line(row).contains("\u{1b}"))
    #expect(LogTable.line(row, isColoured: true).hasPrefix("\u{1b}[31m"))
  }

  @Test func unknownRecordsAreShownAsTheyAre() throws {
    let record = try partialRecord(#"{"type":"new.thing","value":"\u001b"}"#)
    var table = LogTable(showsEveryType: false, showsStarts: false)
    let made = table.row(record, LogProcesses(keepsRecords: false))
    let row = try #require(made)
    #expect(row.what == "new.thing")
    #expect(row.detail == #"{"type":"new.thing","value":"\\u001b"}"#)
  }
}
