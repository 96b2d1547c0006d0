import Testing

@testable import DatalessCommands
@testable import DatalessControl

/// Logs that somebody wrote to harm whoever looks at them.
@Suite struct HostileLogTests {
  private static func record(_ text: String) throws -> LogRecord { try partialRecord(text) }

  private static func report(_ lines: [String]) throws -> SummaryReport {
    var builder = SummaryBuilder()
    for line in lines { builder.add(try record(line)) }
    return builder.finish(log: bytes("/x"))
  }

  /// Each level held the one before it twice when its second key of the name meant the first value again.
  @Test func waitersOfWaitersAreNotWrittenAgainForEachKey() throws {
    let line = (0..<14).reduce(#"{"a":1}"#) { inner, _ in #"{"waiters":[\#(inner)],"waiters":[]}"# }
    let expanded = LogExpansion().line(try Self.record(line), LogProcesses(keepsRecords: true))
    #expect(expanded.count == line.utf8.count)
  }

  @Test func onlyTheFirstOfSeveralKeysIsExpanded() throws {
    var processes = LogProcesses(keepsRecords: true)
    processes.add(try Self.record(#"{"type":"process.seen","process":1,"pid":7,"comm":"c"}"#))
    func expanded(_ line: String) throws -> String {
      String(decoding: LogExpansion().line(try Self.record(line), processes), as: UTF8.self)
    }
    let process = #"{"id":1,"pid":7,"comm":"c","parents":[]}"#
    #expect(
      try expanded(#"{"process":1,"process":1,"waiters":[{"process":1},5],"waiters":[{"process":1}]}"#)
        == #"{"process":\#(process),"process":1,"waiters":[{"process":\#(process)},5],"waiters":[{"process":1}]}"#)
    // The second is no process of this record either where the first is none.
    #expect(try expanded(#"{"process":null,"process":1}"#) == #"{"process":null,"process":1}"#)
  }

  /// The daemon writes none.
  @Test func whiteSpaceBetweenFieldsIsLeftOut() throws {
    var processes = LogProcesses(keepsRecords: true)
    processes.add(try Self.record(#"{"type":"process.seen","process":1,"pid":7,"comm":"c"}"#))
    for (line, expected) in [
      (#"{"a" : 1 ,"b":2,"c": [ 3] , "d":"4" ,"e":5}"#, #"{"a":1,"b":2,"c":[ 3],"d":"4","e":5}"#),
      (#" { "a":1,"b":"x, y","c":3 } "#, #"{"a":1,"b":"x, y","c":3}"#),
      (#"{"a":1, "process":1 ,"b":2}"#, #"{"a":1,"process":{"id":1,"pid":7,"comm":"c","parents":[]},"b":2}"#),
      (#"{"process":null,"a":1}"#, #"{"process":null,"a":1}"#), ("{}", "{}"),
      (#"{"waiters":[ ],"a":1}"#, #"{"waiters":[],"a":1}"#),
    ] {
      #expect(String(decoding: LogExpansion().line(try Self.record(line), processes), as: UTF8.self) == expected)
    }
  }

  /// The limit holds for waiters, too: 64 of them, each with 32 ancestors of many bytes.
  @Test func waitersAreExpandedWithinTheLimitOfALine() throws {
    var processes = LogProcesses(keepsRecords: true)
    let long = String(repeating: "x", count: 30_000)
    processes.add(
      try Self.record(#"{"type":"process.seen","process":1,"pid":7,"comm":"c","exe":"\#(long)","argv":["\#(long)"]}"#))
    let parents = Array(repeating: "1", count: 32).joined(separator: ",")
    processes.add(try Self.record(#"{"type":"process.seen","process":2,"pid":8,"parents":[\#(parents)]}"#))
    let waiters = Array(repeating: #"{"process":2}"#, count: 64).joined(separator: ",")
    let line = LogExpansion().line(try Self.record(#"{"waiters":[\#(waiters)]}"#), processes)
    #expect((4 << 20..<5 << 20).contains(line.count))
    #expect(try #require(JSONObject(line)).objects("waiters").count == 64)
  }

  /// A record is a line, which may be long; what is said again with each record of the process is not.
  @Test func whatIsKeptOfAProcessIsWhatIsWrittenOfIt() throws {
    var processes = LogProcesses(keepsRecords: true)
    let fields = (0..<5_000).map { #""x\#($0)":1"# }.joined(separator: ",")
    processes.add(try Self.record(#"{"type":"process.seen","process":1,"pid":7,\#(fields),"comm":"c"}"#))
    #expect(processes[1]?.fields == bytes(#","comm":"c""#))
    #expect(processes[1]?.fieldsOfParent == bytes(#","comm":"c""#))
  }

  @Test func theSignalOfACommandIsEscaped() throws {
    let report = try Self.report([#"{"type":"run.finished","signal":"\u001b]0;x\u0007\u001b[2J"}"#])
    #expect(report.run?.signal == "\u{1b}]0;x\u{7}\u{1b}[2J")
    let lines = SummaryText.lines(report, width: 100)
    #expect(lines.contains { $0.contains(#"\x1b]0;x\x07\x1b[2J"#) } && lines.allSatisfy { isSafe($0) })
  }

  @Test func theLeastNumberIsNoReasonToEnd() throws {
    var table = LogTable(showsEveryType: true, showsStarts: false)
    let finished = try Self.record(
      #"{"type":"materialization.finished","path":"a","waiter_count":-9223372036854775808}"#)
    #expect(table.row(finished, LogProcesses(keepsRecords: false))?.who == "")
    let report = try Self.report([
      #"{"type":"volume.counters","items":{"files":1,"files_empty":-9223372036854775808,"bytes":5}}"#
    ])
    #expect(SummaryText.lines(report, width: 100).contains { $0.hasPrefix("share") })
  }

  /// What one record stands for may be as much as there are numbers: what comes behind it is added, too.
  @Test func theGreatestNumberOfRefusalsIsNoReasonToEnd() throws {
    let report = try Self.report([
      #"{"type":"coordination.finished","intent":5,"outcome":"coordination_busy","others":9223372036854775807}"#,
      #"{"type":"coordination.finished","intent":7,"outcome":"coordination_busy","others":9223372036854775807}"#,
      #"{"type":"coordination.started","intent":9,"path":"x","reads":0,"writes":1}"#,
    ])
    #expect(report.coordination?.intents == .max && report.coordination?.failed == .max)
    #expect(report.coordination?.failures == ["coordination_busy": .max])
    #expect(SummaryText.lines(report, width: 100).contains { $0.contains("failed (coordination_busy") })
  }

  /// One of a million that wait under the same key, and one of a million former files of a path, cost what one of two
  /// does.
  @Test(.timeLimit(.minutes(1))) func manyOfAKindCostTheSameEach() throws {
    let wait = try Self.record(
      #"{"type":"wait.started","monotonic_ns":5,"attempt":1,"process":2,"tid":3,"trigger":"read","offset":0}"#)
    var waits = SummaryWaits()
    for _ in 0..<200_000 { waits.begin(wait) }
    for _ in 0..<199_999 { waits.end(wait) }
    #expect(waits.underWay.count == 1)
    waits.end(wait)
    waits.end(wait)
    #expect(waits.underWay.isEmpty)

    let added = try Self.record(#"{"type":"source.changed","path":"a","change":"added"}"#)
    let closed = try #require(
      HandleRecord(try Self.record(#"{"type":"handle.closed","path":"a","superseded":true,"size":1}"#)))
    var files = SummaryFiles(keepsFiles: false)
    for _ in 0..<60_000 {
      files.unseen(bytes("a"), names: [], by: nil)
      files.changed(added)
    }
    for _ in 0..<60_000 { files.told(closed, isOpen: false, groups: [0], by: [nil]) }
    #expect(files.versions.count == 60_000 && files.versions.allSatisfy(\.isUnseen))
  }

  /// 20,000 sessions, and as many lines that are no records between the records of the first.
  @Test(.timeLimit(.minutes(1))) func manySessionsAndManyLinesThatAreNoneCostTheSameEach() throws {
    var text = (0..<20_000).map { #"{"v":1,"seq":1,"session":"s\#($0)","type":"x"}"# + "\n" }.joined()
    text += (2...20_000).map { "x\n" + #"{"v":1,"seq":\#($0),"session":"s0","type":"x"}"# + "\n" }.joined()
    let file = try TemporaryFile(bytes(text))
    let printer = try LogPrinter(
      LogTarget(log: file.path), filter: LogFilter(types: ["mark"]),
      style: LogPrinter.Style(isJSON: false, isLive: false, isMounted: false))
    try printer.drain()
    try printer.finish()
    // Nobody knows what the others may have had behind their first record.
    #expect(!printer.isNothingMissing)
  }

  /// Waits under one key end in the order in which they began.
  @Test func theOldestOfEqualWaitsEndsFirst() throws {
    var waits = SummaryWaits()
    func wait(_ time: Int) throws -> LogRecord {
      try Self.record(#"{"type":"wait.started","monotonic_ns":\#(time),"attempt":1,"process":2,"tid":3}"#)
    }
    for time in 1...5 { waits.begin(try wait(time)) }
    waits.end(try wait(9))
    waits.end(try wait(9))
    waits.begin(try wait(6))
    #expect(waits.underWay.map(\.start) == [3, 4, 5, 6])
  }
}
