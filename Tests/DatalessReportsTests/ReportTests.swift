import DatalessControl
import SchemaCheck
import Testing

@testable import DatalessReports

/// All reports of literal logs.
@Suite struct ReportTests {
  /// Two threads of one program, a directory and a file each, one failure, one stack that comes late.
  static var log: LogLines {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "bash")
    log.process(2, pid: 11, "python3", script: "fm.py", parents: [1])
    log.waited(1, "photos", by: 2, thread: 11, from: 1_000, to: 2_000, kind: "directory")
    log.waited(2, "photos/a.jpg", by: 2, thread: 11, from: 10_000, to: 30_500, size: 4_000)
    log.stack(2, id: 1, by: 2, thread: 11, frames: [("load", "fm.py", 42), ("main", "fm.py", 7)], at: 30_600)
    log.waited(3, "photos/b.jpg", by: 2, thread: 12, isMain: false, from: 20_000, to: 21_000, outcome: "EIO")
    log.stack(3, id: 1, by: 2, thread: 12, frames: nil, at: 21_500)
    log.closed("photos/a.jpg", handle: 2, by: 2, size: 4_000, covered: 100, at: 40_000)
    log.unmounted(at: 50_000)
    return log
  }

  @Test func theTraceHasTheWaitsOfTheLog() throws {
    let folder = try ReportFolder(Self.log.bytes)
    let report = try folder.export()
    let trace = try Trace(folder.text(.trace))
    #expect(trace.spans("wait").count == Int(report.summary.blocked.waits))
    #expect(trace.spans("wait").map(\.duration).reduce(0, +) == report.summary.blocked.sumNanoseconds)
    #expect(trace.spans("wait").map(\.duration) == [1_000, 1_000, 20_500].sorted() || trace.spans("wait").count == 3)
    #expect(Set(trace.spans("wait").map(\.thread)) == [11, 12])
    #expect(trace.names(of: "process_name") == ["python3 fm.py", "volume"])
    #expect(trace.names(of: "thread_name") == ["main thread", "thread 12", "what happened"])
    #expect(trace.text.contains("load (fm.py:42) \\u003c main (fm.py:7)"))
    #expect(trace.text.contains("\"cat\":\"failed\""))
  }

  /// What a thread calls itself is in the record, and a stack in the first one that has it: of a delayed call here.
  @Test func threadsHaveTheirNamesAndWaitsTheStacksOfCalls() throws {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "app")
    log.add(
      "wait.stack", at: 900,
      #""access":1,"process":1,"tid":12,"outcome":"ok","stack_id":1,"stack":{"complete":true,"end":"outermost","#
        + #""frames":[],"interpreted":{"language":"python","readable":true,"complete":true,"#
        + #""frames":[{"function":"culprit","file":"fm.py","line":4}]}}"#)
    log.waited(2, "a", by: 1, thread: 12, isMain: false, from: 1_000, to: 2_000, threadName: #"thumb\"s"#)
    log.stack(2, id: 1, by: 1, thread: 12, frames: nil, at: 2_100)
    log.unmounted(at: 3_000)
    let folder = try ReportFolder(log.bytes)
    try folder.export([.trace, .collapsed, .html])
    #expect(try Trace(folder.text(.trace)).names(of: "thread_name").first == #"thread 12 'thumb"s'"#)
    #expect(try folder.text(.collapsed) == "app;culprit (fm.py:4);[read] 1000\n")
    #expect(try folder.text(.html).contains("thumb"))
  }

  @Test func collapsedStacksSumUpToTheBlockedTime() throws {
    let folder = try ReportFolder(Self.log.bytes)
    let report = try folder.export([.collapsed])
    let lines = try folder.text(.collapsed).split(separator: "\n")
    #expect(
      lines == [
        "python3 fm.py;(no stack);[readdir] 1000", "python3 fm.py;main (fm.py:7);load (fm.py:42);[read] 21500",
      ])
    #expect(report.summary.blocked.sumNanoseconds == 22_500)
  }

  @Test func theJSONHasStacksAndTheLongestWaits() throws {
    let folder = try ReportFolder(Self.log.bytes)
    try folder.export([.json])
    let json = try #require(JSONObject(Array(try folder.text(.json).utf8.dropLast())))
    #expect(json.integer("format") == 1)
    #expect(json.object("summary")?.object("materialized")?.integer("files") == 1)
    #expect(json.object("summary")?.objects("files").count == 2)
    #expect(json.objects("stacks").map { $0.integer("blocked_ns") } == [21_500, 1_000])
    #expect(json.objects("stacks").first?.objects("frames").first?.string("name") == "load (fm.py:42)")
    #expect(json.objects("longest_waits").map { $0.integer("start_ns") } == [10_000, 1_000, 20_000])
    #expect(json.objects("longest_waits").map { $0.bool("main_thread") } == [true, true, false])
  }

  @Test func markdownSaysWhatJUnitSays() throws {
    let folder = try ReportFolder(Self.log.bytes)
    var context = ReportContext(version: "0")
    context.checks = [
      ReportVerdict.Check(
        name: "--max-files 0", outcome: .failed, message: "1 file materialized",
        violations: [.init("one too many", path: "photos/a.jpg", process: "python3 fm.py[11]", file: "fm.py", line: 42)]
      )
    ]
    try folder.export([.markdown, .junit], context: context)
    let markdown = try folder.text(.markdown)
    #expect(markdown.hasPrefix("### :x: dataless: 1 of 1 expectations did not hold"))
    #expect(markdown.contains("* :x: `--max-files 0`: 1 file materialized"))
    #expect(markdown.contains("one too many"))
    let junit = try folder.text(.junit)
    #expect(junit.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""))
    #expect(junit.contains("<failure message=\"1 file materialized\""))
    #expect(junit.contains("at: fm.py:42"))
    #expect(try XMLCheck.problem(in: junit) == nil)
  }

  /// What held because nobody was looked at passed, and says so.
  @Test func whatLookedAtNobodySaysSo() throws {
    var result = ExpectationResult(
      name: "thumbnails.max_wait", measure: "max_wait", words: "no wait of viewer", unit: .nanoseconds, bound: 1)
    result.warning = "no caller in the log is the one that is meant, so <nothing> was looked at."
    var verdict = Verdict()
    verdict.expectations = [result]
    let folder = try ReportFolder(Self.log.bytes)
    var context = ReportContext(version: "0")
    context.verdict = ReportVerdict(verdict)
    try folder.export([.markdown, .junit, .json], context: context)
    let junit = try folder.text(.junit)
    #expect(junit.contains("<system-out>warning: no caller in the log is the one that is meant, so &lt;nothing&gt;"))
    #expect(junit.contains("failures=\"0\" errors=\"0\" skipped=\"0\""))
    #expect(try XMLCheck.problem(in: junit) == nil)
    #expect(try folder.text(.markdown).contains("\n  * warning: no caller in the log"))
    let json = try #require(JSONObject(Array(try folder.text(.json).utf8.dropLast())))
    #expect(json.object("verdict")?.objects("checks").map { $0.string("warning") } == [result.warning])
  }

  /// What was expected held; the command's own end is no less of the run.
  @Test(arguments: [
    (#""exit_status":7"#, "failed", "the command ended with status 7; the expectation held"),
    (#""signal":"SIGKILL""#, "failed", "the command was ended by SIGKILL; the expectation held"),
    (#""children":{}"#, "unknown", "nobody knows how the command ended; the expectation held"),
    (#""exit_status":0"#, "passed", "the expectation held"),
  ])
  func aCommandThatFailedIsNoPass(end: String, outcome: String, message: String) throws {
    var log = LogLines()
    log.mounted()
    log.add("run.started", at: 10, #""command":["sh"],"pid":10"#)
    log.add("run.finished", at: 20, end)
    log.unmounted(at: 30)
    let folder = try ReportFolder(log.bytes)
    let check = ReportVerdict.Check(name: "--max-files 9", outcome: .passed, message: "0 files")
    let report = try folder.export(
      context: ReportContext(version: "0", verdict: ReportVerdict(checks: [check])))
    #expect(report.verdict.outcome.rawValue == outcome && report.verdict.message == message)
    let json = try #require(JSONObject(Array(try folder.text(.json).utf8.dropLast())))
    #expect(json.object("verdict")?.string("outcome") == outcome)
    let junit = try folder.text(.junit)
    #expect(junit.contains("<error message=\"\(EscapedText.markup(message))\"") == (outcome == "unknown"))
    #expect(try XMLCheck.problem(in: junit) == nil)
    let symbol = ["failed": ":x:", "unknown": ":grey_question:", "passed": ":white_check_mark:"][outcome] ?? ""
    for text in [try folder.text(.markdown), report.stepSummary] {
      #expect(text.hasPrefix("### \(symbol) dataless: \(EscapedText.markdown(message))"), "\(text)")
    }
    let html = try folder.text(.html)
    let failure = outcome == "failed" ? message.split(separator: "; ")[0] + "; " : ""
    #expect(html.contains("<title>\(outcome): \(failure)"))
    #expect(html.contains("\"outcome\":\"\(outcome)\""))
  }

  @Test func aCommandThatFailedIsAFailureWhereNothingWasExpected() throws {
    var log = LogLines()
    log.mounted()
    log.add("run.started", at: 10, #""command":["sh"],"pid":10"#)
    log.add("run.finished", at: 20, #""exit_status":7"#)
    let verdict = try ReportFolder(log.bytes).export().verdict
    #expect(verdict.outcome == .failed)
    #expect(verdict.message == "the command ended with status 7; nothing was expected")
  }

  @Test func aStackMayComeBeforeOrAfterTheEndOfItsWait() throws {
    var log = LogLines()
    log.stack(1, id: 7, by: 1, thread: 10, frames: [("early", "a.py", 1)], at: 5)
    log.waited(1, "a", by: 1, thread: 10, from: 10, to: 20)
    for attempt in 2...40 {
      log.waited(attempt, "b", by: 1, thread: 10, from: Int64(attempt) * 100, to: Int64(attempt) * 100 + 1)
    }
    log.stack(39, id: 7, by: 1, thread: 10, frames: nil, at: 5_000)
    // So late that nobody waits for it any more.
    log.stack(2, id: 7, by: 1, thread: 10, frames: nil, at: 5_000)
    var joiner = WaitJoiner(unresolvedMax: 8)
    var waits: [ReportWait] = []
    for line in log.lines { waits += joiner.add(try #require(LogRecord(line: Array(line.utf8)))) }
    #expect(waits.count == 26)
    waits += joiner.finish(at: 6_000)
    #expect(waits.compactMap(\.number).sorted() == Array(1...40))
    #expect(waits.filter { $0.stack == .known(0) }.compactMap(\.number).sorted() == [1, 39])
  }

  @Test func whatIsUnderWayCountsUntilTheLastRecord() throws {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "cat")
    log.waited(1, "a", by: 1, thread: 10, from: 10, to: 20, isEnded: false)
    log.add("mark", at: 510, #""label":"now""#)
    let folder = try ReportFolder(log.bytes)
    let report = try folder.export()
    #expect(report.summary.blocked.sumNanoseconds == 500)
    #expect(try folder.text(.collapsed) == "cat;(no stack);[read] 500\n")
    #expect(try Trace(folder.text(.trace)).spans("wait").map(\.duration) == [500])
  }

  /// The clock of the machine does not matter, that of the log may be anything.
  @Test func aClockThatGoesBackGivesNoNegativeTimes() throws {
    var log = LogLines()
    log.mounted(at: 1_000)
    log.process(1, pid: 10, "cat")
    log.add("materialization.started", at: 900, #""attempt":1,"path":"a","kind":"file","size":1,"process":1,"tid":1"#)
    log.add("wait.started", at: 900, #""attempt":1,"process":1,"tid":1,"trigger":"read""#)
    log.add(
      "wait.finished", at: 100, #""attempt":1,"process":1,"tid":1,"trigger":"read","blocked_ns":-5,"outcome":"ok""#)
    let folder = try ReportFolder(log.bytes)
    try folder.export()
    #expect(try Trace(folder.text(.trace)).spans("wait").map(\.duration) == [0])
  }

  @Test func theLastSessionCounts() throws {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "old")
    log.waited(1, "a", by: 1, thread: 10, from: 10, to: 20)
    log.session = "ffffffffffff"
    log.mounted(at: 100)
    log.process(1, pid: 10, "new")
    log.waited(1, "b", by: 1, thread: 10, from: 110, to: 140)
    let folder = try ReportFolder(log.bytes)
    let report = try folder.export()
    #expect(report.summary.session == "ffffffffffff")
    #expect(try folder.text(.collapsed) == "new;(no stack);[read] 30\n")
    #expect(try Trace(folder.text(.trace)).spans("wait").map(\.start) == [10])
  }

  @Test func aCutLogIsReportedAsFarAsItGoes() throws {
    let whole = Self.log.bytes
    for cut in [1, 200, whole.count / 2, whole.count - 3] {
      let folder = try ReportFolder(Array(whole.prefix(cut)))
      guard cut > 300 else {
        #expect(throws: ControlError.self) { try folder.export() }
        #expect(folder.names == ["log.jsonl"])
        continue
      }
      let report = try folder.export()
      #expect(!report.summary.completeness.isComplete)
      _ = try Trace(folder.text(.trace))
      #expect(try XMLCheck.problem(in: folder.text(.junit)) == nil)
      #expect(try folder.text(.junit).contains("<error message=\"The log does not tell all ("))
      #expect(try folder.text(.junit).contains("failures=\"0\" errors=\"1\" skipped=\"0\""))
      #expect(try folder.text(.markdown).contains("\n:warning: The log does not tell all"))
      #expect(try folder.text(.trace).contains("\"incomplete\":\"The log does not tell all"))
      #expect(try folder.text(.json).contains("\"complete\":false"))
    }
  }

  @Test func anEmptyLogLeavesNoReport() throws {
    let folder = try ReportFolder([])
    #expect(throws: ControlError.self) { try folder.export() }
    #expect(folder.names == ["log.jsonl"])
  }

  @Test func unknownTypesAndKeysOfALaterVersionAreLeftOut() throws {
    var log = Self.log
    log.add("wait.dreamed", at: 60_000, #""attempt":2,"process":{"a":[1]},"tid":"x""#)
    log.add("wait.finished", at: 60_000, #""attempt":"x","process":-1,"tid":null,"blocked_ns":1.5,"outcome":7"#)
    let folder = try ReportFolder(log.bytes)
    #expect(try folder.export().summary.blocked.waits == 3)
  }

  @Test func reportsAreThereWholeOrNotAtAll() throws {
    let folder = try ReportFolder(Self.log.bytes)
    try folder.export()
    #expect(folder.names == (["log.jsonl"] + ReportKind.allCases.map(\.rawValue)).sorted())
    try folder.write(Array("kept".utf8), to: "junit")
    #expect(throws: ControlError.self) {
      try ReportExporter.export(
        [.init(kind: .junit, path: Array("\(folder.path)/junit".utf8))], log: Array("\(folder.path)/nolog".utf8),
        context: ReportContext(version: "0"))
    }
    #expect(try folder.text(.junit) == "kept")
  }

  @Test func whatCannotBeWrittenIsSaidBefore() throws {
    let folder = try ReportFolder(Self.log.bytes)
    func problem(_ path: String, log: String? = nil) -> String {
      do {
        try ReportRequest.check([ReportRequest(kind: .json, path: Array(path.utf8))], log: log.map { Array($0.utf8) })
        return ""
      } catch {
        return error.message
      }
    }
    #expect(problem("\(folder.path)/none/r.json").hasSuffix("(ENOENT). Make its directory first (mkdir -p)."))
    #expect(problem(folder.path).hasSuffix("(EISDIR). Name a file in it."))
    #expect(problem(folder.log, log: folder.log).contains("which is the log"))
    #expect(problem("\(folder.path)/r.json") == "")
    #expect(folder.names == ["log.jsonl"])
    let twice = ReportRequest(kind: .json, path: Array("\(folder.path)/r".utf8))
    #expect(throws: ControlError.self) { try ReportRequest.check([twice, twice], log: nil) }
  }

  @Test func aRequestIsAKindAndAFile() throws {
    #expect(try ReportRequest(parsing: Array("trace=a=b".utf8)) == ReportRequest(kind: .trace, path: Array("a=b".utf8)))
    for text in ["trace", "trace=", "pdf=x", "=x", ""] {
      #expect(throws: ReportRequest.Flaw.self) { try ReportRequest(parsing: Array(text.utf8)) }
    }
  }

  /// CI servers take tests of one name for one.
  @Test func expectationsOfTheSameWordsAreTwoTests() {
    var verdict = Verdict()
    verdict.expectations = ["one.max_bytes", "max_bytes"].map { name in
      var result = ExpectationResult(
        name: name, measure: "max_bytes", words: "at most 1,999 bytes materialized", unit: .bytes, bound: 1_999,
        outcome: .violated)
      result.measured = 2_000
      return result
    }
    let checks = ReportVerdict(verdict).checks
    let names = ["one.max_bytes: at most 1,999 bytes materialized", "at most 1,999 bytes materialized"]
    #expect(checks.map(\.name) == names)
    // Rounded, both are 2.0 KiB.
    #expect(checks.map(\.message) == ["2,000 bytes, at most 1,999 bytes", "2,000 bytes, at most 1,999 bytes"])
  }
}
