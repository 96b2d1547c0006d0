import TestSupport
import Testing

@testable import DatalessControl

/// Who waited, in the words of its developer: scripts and main threads.
@Suite struct SummaryMainThreadTests {
  private func report(_ log: LogText, now: Int64? = nil) throws -> SummaryReport {
    var builder = SummaryBuilder()
    for line in log.lines { builder.add(try #require(LogRecord(line: bytes(line)))) }
    return builder.finish(log: bytes("/x.jsonl"), isMounted: now != nil, now: now)
  }

  private static func seen(_ log: inout LogText, _ id: Int, pid: Int, _ comm: String, script: String?) {
    let script = script.map { #","script":"\#($0)""# } ?? ""
    log.add(
      "process.seen", at: 0, #""process":\#(id),"pid":\#(pid),"comm":"\#(comm)","exe":"/usr/bin/\#(comm)"\#(script)"#)
  }

  private static func wait(_ log: inout LogText, _ attempt: Int, by id: Int, main: String, from: Int64, to: Int64) {
    let fields = #""attempt":\#(attempt),"process":\#(id),"tid":7,"trigger":"read","main_thread":\#(main)"#
    log.add("wait.started", at: from, fields)
    log.add("wait.finished", at: to, fields + #","blocked_ns":\#(to - from),"outcome":"ok""#)
  }

  @Test func twoToolsOfOneInterpreterAreTwoRows() throws {
    var log = LogText()
    log.mounted()
    Self.seen(&log, 1, pid: 10, "python3", script: "fm.py")
    Self.seen(&log, 2, pid: 11, "python3", script: "backup.py")
    Self.seen(&log, 3, pid: 12, "python3", script: "fm.py")
    Self.seen(&log, 4, pid: 13, "python3", script: nil)
    for id in 1...4 {
      log.started(id, "f\(id)", size: 10, by: id, at: 10)
      log.finished(id, "f\(id)", bytes: 10, by: id, at: 20)
    }
    let report = try report(log)
    #expect(report.processes.map { $0.script ?? "-" }.sorted() == ["-", "backup.py", "fm.py"])
    #expect(report.processes.first { $0.script == "fm.py" }?.pids == [10, 12])
    let text = SummaryText.lines(report, width: 120)
    #expect(text.contains { $0.contains("python3 backup.py[11]") } && text.contains { $0.contains("python3 fm.py  ") })
  }

  /// A stack comes before its wait ends or after it; the second one with a number of its own is a reference.
  @Test(arguments: [(10, 20), (900, 990)]) func theLongestWaitOfAMainThreadHasItsPlace(first: Int64, second: Int64)
    throws
  {
    var log = LogText()
    log.mounted()
    Self.seen(&log, 1, pid: 10, "python3", script: "fm.py")
    log.started(1, "photos/p19.jpg", size: 10, by: 1, at: 0)
    log.started(2, "other", size: 10, by: 1, at: 0)
    func stack(_ attempt: Int, _ number: Int, at time: Int64, main: Bool = true, _ stack: String? = nil) {
      let content = stack.map { #","stack":\#($0)"# } ?? ""
      log.add(
        "wait.stack", at: time,
        #""attempt":\#(attempt),"process":1,"tid":7,"trigger":"read","main_thread":\#(main),"outcome":"ok","stack_id":\#(number)"#
          + content)
    }
    let libc = #"{"found_by":"tables","module":"/lib/libc.so.6","offset":1,"symbol":"read"}"#
    let python = """
      {"complete":true,"end":"outermost","frames":[\(libc)],"interpreted":{"complete":true,"frames":[{"file":"/a/f\\u001bm.py",\
      "function":"load_thumbnail","line":42}],"language":"python","readable":true}}
      """
    let native = #"""
      {"complete":true,"end":"outermost","frames":[\#(libc),{"file":"/s/fm.c","found_by":"tables","line":7,"module":"/bin/fm","offset":2,"symbol":"draw"}]}
      """#
    stack(1, 1, at: 1, main: false, python)
    if first < 500 { stack(1, 1, at: first) }
    stack(2, 2, at: 2, native)
    Self.wait(&log, 1, by: 1, main: "true", from: 0, to: 500)
    Self.wait(&log, 2, by: 1, main: "true", from: 0, to: 100)
    if first > 500 { stack(1, 1, at: first) }
    let longest = try #require(try report(log).mainThread.longest)
    #expect(longest.function == "load_thumbnail" && longest.line == 42)
    let text = SummaryText.lines(try report(log), width: 200)
    #expect(text.contains { $0.contains(#"photos/p19.jpg, load_thumbnail (f\x1bm.py:42)"#) }, "\(text)")
    // Of a longer wait without a stack nothing is told.
    Self.wait(&log, 2, by: 1, main: "true", from: 1000, to: 3000)
    stack(2, 2, at: 3001)
    #expect(try report(log).mainThread.longest?.function == "draw")
    Self.wait(&log, 1, by: 1, main: "true", from: 4000, to: 9000)
  }

  @Test func mainThreadsAreToldApart() throws {
    var log = LogText()
    log.mounted()
    Self.seen(&log, 1, pid: 10, "python3", script: "fm.py")
    log.started(1, "photos/p19.jpg", size: 10, by: 1, at: 0)
    log.started(2, "other", size: 10, by: 1, at: 0)
    Self.wait(&log, 1, by: 1, main: "true", from: 0, to: 151_600_000)
    Self.wait(&log, 2, by: 1, main: "true", from: 151_600_000, to: 151_700_000)
    Self.wait(&log, 2, by: 1, main: "false", from: 0, to: 900_000_000)
    Self.wait(&log, 2, by: 1, main: "null", from: 0, to: 800_000_000)
    let report = try report(log)
    #expect(report.mainThread.blocked.waits == 2)
    #expect(report.mainThread.blocked.sumNanoseconds == 151_700_000)
    #expect(report.mainThread.blocked.wallNanoseconds == 151_700_000)
    #expect(report.mainThread.unknownWaits == 1)
    #expect(report.mainThread.longest?.path == "photos/p19.jpg" && report.mainThread.longest?.script == "fm.py")
    #expect(report.processes.first?.mainThreadBlockedNanoseconds == 151_700_000)
    #expect(report.blocked.waits == 4)
    let text = SummaryText.lines(report, width: 300)
    #expect(
      text.contains(
        "main thread blocked 151.7 ms in 2 waits, longest 151.6 ms: python3 fm.py at photos/p19.jpg; 1 hitch (over 16.7 ms); "
          + "not known of 1 wait more"))
  }

  /// Waits of main threads for more than a frame, of whatever length a frame is.
  @Test(arguments: [
    (Int64(16_700_000), Int64(2), Int64(93_300_000)), (10_000_000, 3, 113_400_000), (1_000_000_000_000, 0, 0),
  ])
  func hitchesAreCounted(frame: Int64, waits: Int64, over: Int64) throws {
    var log = LogText()
    log.mounted()
    Self.seen(&log, 1, pid: 10, "viewer", script: nil)
    log.started(1, "a", size: 10, by: 1, at: 0)
    for (from, to) in [(0, 16_700_000), (20_000_000, 120_000_000), (200_000_000, 226_700_000)] {
      Self.wait(&log, 1, by: 1, main: "true", from: Int64(from), to: Int64(to))
    }
    Self.wait(&log, 1, by: 1, main: "false", from: 0, to: 900_000_000)
    var builder = SummaryBuilder(frame: frame)
    for line in log.lines { builder.add(try #require(LogRecord(line: bytes(line)))) }
    let hitches = builder.finish(log: bytes("/x.jsonl")).mainThread.hitches
    #expect(hitches.frameNanoseconds == frame && hitches.waits == waits)
    #expect(hitches.overNanoseconds == over)
  }

  @Test func hangsAreCountedByWhatBecameOfThem() throws {
    var log = LogText()
    log.mounted()
    Self.seen(&log, 1, pid: 10, "viewer", script: nil)
    log.started(1, "a", size: 10, by: 1, at: 0)
    let fields = #""attempt":1,"process":1,"tid":10,"main_thread":true,"trigger":"read","limit_ns":1"#
    for outcome in ["ok", "ok", "spared", "EPERM"] {
      log.add("watchdog.expired", at: 10, fields)
      log.add("watchdog.signalled", at: 20, fields + #","outcome":"\#(outcome)""#)
    }
    log.add("watchdog.survived", at: 30, fields)
    Self.wait(&log, 1, by: 1, main: "true", from: 0, to: 40)
    let report = try report(log)
    #expect(report.mainThread.hangs == SummaryReport.Hangs(waits: 4, signalled: 2, survived: 1))
    let text = SummaryText.lines(report, width: 300)
    #expect(text.contains { $0.hasSuffix("4 hangs, 2 signalled, 1 survived") }, "\(text)")
  }

  /// What has not ended counts up to now, and is the longest if it is.
  @Test func aWaitThatIsUnderWayCounts() throws {
    var log = LogText()
    log.mounted()
    Self.seen(&log, 1, pid: 10, "node", script: "server.js")
    log.started(1, "a", size: 10, by: 1, at: 10)
    log.add("wait.started", at: 10, #""attempt":1,"process":1,"tid":7,"trigger":"read","main_thread":true"#)
    let report = try report(log, now: 1_000)
    #expect(report.mainThread.blocked.underWay == 1 && report.mainThread.longest?.isUnderWay == true)
    #expect(report.mainThread.longest?.blockedNanoseconds == 990)
  }

  /// A log of another tool, or an older one, says nothing of threads; what `dataless materialize` waits is no thread's.
  @Test func whatIsNotKnownIsSaid() throws {
    var log = LogText()
    log.mounted()
    log.waited(1, by: 1, from: 10, to: 20)
    log.add("wait.finished", at: 30, #""attempt":9,"process":null,"trigger":"command","blocked_ns":10,"outcome":"ok""#)
    let report = try report(log)
    #expect(report.mainThread == SummaryReport.MainThread(unknownWaits: 1))
    #expect(
      SummaryText.lines(report, width: 100).contains(
        "main thread not known: the log does not say of 1 wait which thread it was"))
    #expect(!SummaryText.lines(SummaryReport(), width: 100).contains { $0.hasPrefix("main thread") })
  }

  /// One reader needs no numbers of its own; a second one, and each again, has the same verdicts as ever.
  @Test(arguments: TestSeed.seeds) func eachReaderHasItsOwnReads(seed: UInt64) throws {
    var random = TestRandom(seed: seed)
    for _ in 0..<50 {
      var log = LogText()
      log.mounted()
      for id in 1...3 { log.process(id, pid: id, "t\(id)", exe: "/bin/t\(id)") }
      var covered: [Int: Int] = [:]
      for _ in 0..<random.below(8) {
        let (id, end) = (1 + random.below(3), random.below(1_001))
        log.closed("f", by: id, size: 1_000, covered: end, at: 10)
        covered[id] = max(covered[id] ?? 0, end)
      }
      let report = try report(log)
      for (id, end) in covered {
        let use = try #require(report.processes.first { $0.comm == "t\(id)" }?.use)
        let expected =
          end == 1_000 ? use.whole : end == 0 ? use.openedNotRead : end <= 500 ? use.headerOnly : use.inPart
        #expect(expected == 1 && use.whole + use.openedNotRead + use.headerOnly + use.inPart == 1)
      }
      #expect(report.processes.count { $0.use != SummaryReport.Use() } == covered.count)
    }
  }

  /// Against a set of bytes.
  @Test(arguments: TestSeed.seeds) func coverageIsTheUnionOfItsRanges(seed: UInt64) {
    var random = TestRandom(seed: seed)
    for _ in 0..<200 {
      var (coverage, model) = (ReadCoverage(), Set<Int64>())
      for _ in 0..<random.below(12) {
        let start = Int64(random.oneIn(3) ? 0 : random.below(60))
        let end = start + 1 + Int64(random.below(20))
        coverage.add(covered: end - start, highWaterMark: end, ranges: [start..<end])
        model.formUnion(start..<end)
      }
      #expect(coverage.bytesAtLeast == Int64(model.count) && coverage.bytesAtMost == Int64(model.count))
      #expect(coverage.ranges.flatMap { Array($0) } == model.sorted())
      #expect(zip(coverage.ranges, coverage.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
    }
  }
}
