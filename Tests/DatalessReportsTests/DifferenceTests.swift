import DatalessControl
import Testing

@testable import DatalessReports

/// Two literal logs compared.
@Suite struct DifferenceTests {
  private static var after: LogLines {
    var log = LogLines()
    log.session = "ffffffffffff"
    log.mounted()
    log.process(1, pid: 20, "bash")
    log.process(2, pid: 21, "python3", script: "fm.py", parents: [1])
    log.waited(1, "photos/a.jpg", by: 2, thread: 21, from: 1_000, to: 41_000, size: 4_000)
    log.stack(1, id: 1, by: 2, thread: 21, frames: [("load", "fm.py", 42), ("main", "fm.py", 7)], at: 41_600)
    log.waited(2, "photos/<script>|`;", by: 2, thread: 21, from: 50_000, to: 50_500, size: 10)
    log.stack(2, id: 2, by: 2, thread: 21, frames: [("scan", "fm.py", 50), ("main", "fm.py", 7)], at: 51_600)
    log.unmounted(at: 60_000)
    return log
  }

  private static func difference() throws -> RunDifference {
    let (first, second) = (try ReportFolder(ReportTests.log.bytes), try ReportFolder(after.bytes))
    return RunDifference(before: try first.export([]), after: try second.export([]))
  }

  @Test func whatIsNewGoneAndSlowerIsNamed() throws {
    let difference = try Self.difference()
    #expect(difference.totals["files"] == .init(before: 1, after: 2))
    #expect(difference.totals["blocked_ns"] == .init(before: 22_500, after: 40_500))
    #expect(difference.paths.map(\.name) == ["photos/<script>|`;", "photos/a.jpg"])
    #expect(difference.paths.map(\.change) == [.new, .changed])
    #expect(difference.paths[1].blocked == .init(before: 20_500, after: 40_000))
    #expect(difference.programs.map(\.name) == ["python3 fm.py"])
    #expect(difference.stacks.map(\.change) == [.changed, .new])
    #expect(difference.stacks[0].frames == ["load (fm.py:42)", "main (fm.py:7)"])
    let gone = RunDifference(
      before: try ReportFolder(Self.after.bytes).export([]), after: try ReportFolder(ReportTests.log.bytes).export([]))
    #expect(gone.paths.map(\.change) == [.gone, .changed])
    #expect(DifferenceText.lines(gone).contains { $0.hasPrefix("gone ") && $0.hasSuffix("photos/<script>|`;") })
  }

  /// Of a run with `--stacks off` nobody knows where it waited.
  @Test func aStackThatWasNotRecordedBeforeIsNotSaidToBeNew() throws {
    var log = LogLines()
    log.mounted()
    log.process(2, pid: 21, "python3", script: "fm.py")
    log.waited(1, "photos/a.jpg", by: 2, thread: 21, from: 1_000, to: 41_000, size: 4_000)
    log.unmounted(at: 60_000)
    let difference = try Self.compared(log, Self.after)
    #expect(difference.stacks.map(\.change) == [.new, .new])
    #expect(difference.stacks.map(\.isUnrecorded) == [true, true])
    #expect(DifferenceText.lines(difference).contains { $0.hasPrefix("new, or not recorded before ") })
    let gone = try Self.compared(Self.after, log)
    #expect(gone.stacks.map(\.isUnrecorded) == [true, true])
    #expect(DifferenceText.lines(gone).contains { $0.hasPrefix("gone, or not recorded ") })
    // Whoever did not wait at all has no stack that could be missing.
    var idle = LogLines()
    idle.mounted()
    idle.unmounted(at: 60_000)
    #expect(try Self.compared(idle, Self.after).stacks.map(\.isUnrecorded) == [nil, nil])
  }

  @Test func aRunIsNoDifferenceFromItself() throws {
    let folder = try ReportFolder(Self.after.bytes)
    let difference = RunDifference(before: try folder.export([]), after: try folder.export([]))
    #expect(difference.programs.isEmpty && difference.paths.isEmpty && difference.stacks.isEmpty)
    #expect(DifferenceText.lines(difference).last == "no program, no file and no stack differs")
    for measure in DifferenceCondition.Measure.allCases {
      #expect(try DifferenceCondition(parsing: measure.rawValue).failure(of: difference) == nil)
    }
  }

  @Test(
    arguments: [
      ("new-files", "new-files: photos/<script>|`; were not fetched before"),
      ("more-files", "more-files: 2 after 1 before"),
      ("more-files=99%", "more-files: 2 after 1 before, more than 99.00 % beyond"), ("more-files=100%", nil),
      ("longer-waits=79.9%", "longer-waits: 40.5 us after 22.5 us before, more than 79.90 % beyond"),
      ("longer-waits=80%", nil), ("more-waits", nil), ("more-failures", nil),
    ] as [(String, String?)])
  func conditionsFailWithASentence(text: String, words: String?) throws {
    #expect(try DifferenceCondition(parsing: text).failure(of: Self.difference()) == words)
  }

  /// Rounded, 400,001 bytes read as 400,005 do.
  @Test(
    arguments: [
      ("more-bytes", "bytes", 399_997, 400_001, "more-bytes: 400,001 bytes after 399,997 bytes before"),
      (
        "longer-waits", "blocked_ns", 3_000_000_001, 3_000_000_002,
        "longer-waits: 3,000,000,002 ns after 3,000,000,001 ns before"
      ),
      ("more-bytes", "bytes", 400_000, 900_000, "more-bytes: 878.9 KiB after 390.6 KiB before"),
    ] as [(String, String, Int64, Int64, String)])
  func whatReadsTheSameIsToldExactly(
    condition: String, total: String, before: Int64, after: Int64, words: String
  ) throws {
    var difference = try Self.difference()
    difference.totals[total] = .init(before: before, after: after)
    #expect(try DifferenceCondition(parsing: condition).failure(of: difference) == words)
  }

  @Test(arguments: ["", "more", "new-files=1%", "more-bytes=", "more-bytes=x%", "more-bytes=-1%", "more-bytes=20"])
  func wrongConditionsAreRefused(text: String) {
    #expect(throws: DifferenceCondition.Flaw.self) { try DifferenceCondition(parsing: text) }
  }

  @Test func noLanguageHasMarkupOfAName() throws {
    var difference = try Self.difference()
    difference.judge([try DifferenceCondition(parsing: "new-files")])
    let markdown = DifferenceText.markdown(difference)
    #expect(markdown.hasPrefix("### :x: dataless: new-files&#58; photos/&#60;script&#62;"))
    let text = MarkdownText.withoutCode(markdown)
    #expect(!text.contains("<script") && !text.contains("`"))
    let page = DifferenceText.page(difference)
    #expect(!page.contains("<script") && page.contains("default-src 'none'; style-src 'sha256-"))
    let folder = try ReportFolder([])
    try difference.write([.init(kind: .json, path: Array("\(folder.path)/json".utf8))])
    let json = try #require(JSONObject(Array(try folder.text(.json).utf8.dropLast())))
    #expect(json.objects("paths").map { $0.string("change") } == ["new", "changed"])
  }

  // MARK: - Logs that do not tell all

  /// - Parameter rest: Lines that are missing at the end of the second run's log.
  private static func cut(_ rest: Int) -> [UInt8] { after.lines.dropLast(rest).flatMap { Array($0.utf8) + [0x0a] } }

  private static func judged(_ before: [UInt8], _ after: [UInt8], _ conditions: String...) throws -> RunDifference {
    var difference = RunDifference(
      before: try ReportFolder(before).export([]), after: try ReportFolder(after).export([]))
    difference.judge(try conditions.map { try DifferenceCondition(parsing: $0) })
    return difference
  }

  private static let missingEnd =
    "it ends without an unmount: the daemon was killed, the log's disk was full, or the file was cut"
  private static let gap = "does not tell all (\(missingEnd))"

  @Test func aLogThatIsCutIsNoPass() throws {
    let difference = try Self.judged(Self.after.bytes, Self.cut(6), "new-files", "more-bytes")
    #expect(difference.failures.isEmpty && difference.unknown.count == 2)
    #expect(
      difference.unknown.first
        == "new-files: there is no more than before in what the logs tell, but the log after \(Self.gap)")
    let lines = DifferenceText.lines(difference)
    #expect(lines.contains { $0.hasPrefix("unknown: more-bytes: ") })
    #expect(lines.contains { $0.hasPrefix("gone, or missing ") && $0.hasSuffix("photos/<script>|`;") }, "\(lines)")
    #expect(lines[1].hasSuffix("; its log does not tell all: \(Self.missingEnd)"))
    #expect(DifferenceText.markdown(difference).contains("* unknown: new-files"))
    #expect(DifferenceText.page(difference).contains("<span class=\"word\">unknown</span> new-files"))
    let folder = try ReportFolder([])
    try difference.write([.init(kind: .json, path: Array("\(folder.path)/json".utf8))])
    let json = try #require(JSONObject(Array(try folder.text(.json).utf8.dropLast())))
    #expect(json.raw("unknown").map { String(decoding: $0, as: UTF8.self) }?.hasPrefix(#"["new-files"#) == true)
    #expect(json.raw("failures") == Array("[]".utf8)[...])
  }

  /// More records cannot make fewer new files, but fewer needless ones.
  @Test func whatIsBeyondAConditionStaysSoWhateverTheSecondLogLacks() throws {
    let difference = try Self.judged(ReportTests.log.bytes, Self.cut(1), "new-files", "more-failures")
    #expect(difference.failures == ["new-files: photos/<script>|`; were not fetched before"])
    #expect(difference.unknown.count == 1 && difference.unknown[0].hasPrefix("more-failures: there is no more"))
    let needless = try Self.judged(Self.cut(1), Self.after.bytes, "more-needless")
    #expect(needless.failures.isEmpty && needless.unknown.count == 1)
  }

  /// The record of a wait's end is lost, but not that of what it waited for: it is not longer for it.
  @Test func aWaitIsNoLongerForALostEnd() throws {
    func made(isLost: Bool) -> LogLines {
      var log = LogLines()
      log.mounted()
      log.process(1, pid: 10, "tool")
      log.waited(1, "a", by: 1, thread: 10, from: 1_000, to: 3_000, isEnded: !isLost)
      if isLost {
        log.add(
          "materialization.finished", at: 3_000,
          #""attempt":1,"path":"a","kind":"file","bytes":1000,"outcome":"ok","waiters":[]"#)
      }
      log.add("mark", at: 60_000, #""label":"late""#)
      if !isLost { log.unmounted(at: 61_000) }
      return log
    }
    let (whole, cut) = (made(isLost: false), made(isLost: true))
    let difference = try Self.judged(whole.bytes, cut.bytes, "longer-waits", "longer-main-thread")
    #expect(difference.failures.isEmpty && difference.unknown.count == 2)
    #expect(difference.totals["blocked_ns"] == .init(before: 2_000, after: 2_000))
    let report = try ReportFolder(cut.bytes).export([])
    #expect(report.longest.map(\.wait.blocked) == [2_000])
  }

  @Test func whatTheFirstLogLacksMayHaveBeenThere() throws {
    let difference = try Self.judged(Self.cut(6), Self.after.bytes, "new-files", "more-failures")
    #expect(difference.failures.isEmpty)
    #expect(
      difference.unknown
        == ["new-files: photos/<script>|`; were not fetched before, but the log before \(Self.gap)"])
    #expect(DifferenceText.lines(difference).contains { $0.hasPrefix("new, or missing before ") })
  }

  // MARK: - Coordination

  /// One that waits for another, which is asked about it.
  ///
  /// - Parameter waited: nil for one that is given up after the other has ended: nobody knows how long it waited.
  private static func coordinated(waited: Int?, answer: Int, outcome: String = "ok") -> LogLines {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "editor")
    log.process(2, pid: 12, "sync|")
    let own = #""path":"a","reads":0,"writes":1,"process":1"#
    let other = #""path":"a","reads":1,"writes":0,"process":2"#
    log.add("coordination.started", at: 1_000, #""intent":1,\#(own)"#)
    log.add("coordination.granted", at: 1_000, #""intent":1,\#(own),"waited_ns":0,"asking_ns":0,"materializing_ns":0"#)
    log.add("coordination.started", at: 2_000, #""intent":2,\#(other),"waits_for":[1],"waits_at":"a""#)
    log.add("coordination.finished", at: 3_000, #""intent":1,\#(own),"outcome":"ok","held_ns":2000"#)
    log.add(
      "presenter.answered", at: 4_000,
      #""presenter":9,"path":"a","process":1,"intent":2,"what":"read","took_ns":\#(answer),"outcome":"\#(outcome)""#)
    if let waited {
      log.add(
        "coordination.granted", at: 5_000,
        #""intent":2,\#(other),"waited_ns":\#(waited),"asking_ns":0,"materializing_ns":0"#)
      log.add("coordination.finished", at: 6_000, #""intent":2,\#(other),"outcome":"ok","held_ns":1000"#)
    } else {
      log.add("coordination.finished", at: 6_000, #""intent":2,\#(other),"outcome":"cancelled""#)
    }
    log.unmounted(at: 9_000)
    return log
  }

  private static func compared(_ before: LogLines, _ after: LogLines) throws -> RunDifference {
    let (first, second) = (try ReportFolder(before.bytes), try ReportFolder(after.bytes))
    return RunDifference(before: try first.export([]), after: try second.export([]))
  }

  /// What an intent waits for content blocks no thread: it is neither slower nor a wait more.
  @Test func contentForIntentsIsNoWait() throws {
    var log = Self.coordinated(waited: 1_000, answer: 100)
    let plain = try Self.compared(Self.after, log)
    let wait = #""attempt":9,"process":2,"tid":null,"main_thread":null,"trigger":"coordinate""#
    log.add("materialization.started", at: 5_000, #"\#(wait),"path":"b","kind":"file","size":10"#)
    log.add("wait.started", at: 5_000, wait)
    log.add("wait.finished", at: 8_000, #"\#(wait),"blocked_ns":3000,"outcome":"ok""#)
    let brought = try Self.compared(Self.after, log)
    for name in ["waits", "blocked_ns", "longest_wait_ns"] {
      #expect(brought.totals[name] == plain.totals[name], "\(name)")
    }
    #expect(brought.programs.map(\.blocked) == plain.programs.map(\.blocked))
    let report = try ReportFolder(log.bytes).export([])
    #expect(report.lanes.isEmpty && report.longest.isEmpty && report.blocked.rows.isEmpty)
  }

  @Test func intentsAndPresentersAreCompared() throws {
    let slow = Self.coordinated(waited: 3_000, answer: 5_000, outcome: "timed_out")
    let difference = try Self.compared(Self.coordinated(waited: 1_000, answer: 100), slow)
    #expect(difference.totals["intents"] == .init(before: 2, after: 2))
    #expect(difference.totals["intents_waited_ns"] == .init(before: 1_000, after: 3_000))
    #expect(difference.totals["longest_intent_wait_ns"] == .init(before: 1_000, after: 3_000))
    #expect(difference.totals["presenters_timed_out"] == .init(before: 0, after: 1))
    // What the editor's intents did is the same.
    #expect(difference.intents.map(\.name) == ["sync|"] && difference.intents.map(\.change) == [.changed])
    #expect(difference.intents[0].waited == .init(before: 1_000, after: 3_000))
    #expect(difference.intents[0].intents == .init(before: 1, after: 1))
    #expect(difference.presenters.map(\.name) == ["editor"])
    #expect(difference.presenters[0].longest == .init(before: 100, after: 5_000))
    let text = DifferenceText.lines(difference)
    #expect(text.contains { $0.hasPrefix("intents waited") && $0.contains("+2.0 us (+200.0 %)") }, "\(text)")
    #expect(text.contains { $0.hasPrefix("slower") && $0.hasSuffix("sync|") }, "\(text)")
    #expect(text.contains { $0.hasPrefix("CHANGE") && $0.hasSuffix("PRESENTER") }, "\(text)")
    let markdown = DifferenceText.markdown(difference)
    #expect(markdown.contains("| change | asked | timed out | took | longest | |\n|---|--:|--:|--:|--:|---|"))
    #expect(markdown.contains("intents of &#40;1&#41;") && !markdown.contains("sync|"))
    #expect(DifferenceText.page(difference).contains("<h2>presenter (1)</h2>"))
  }

  @Test func aRunThatCoordinatesIsNewBesideOneThatDoesNot() throws {
    let difference = try Self.compared(Self.after, Self.coordinated(waited: 1_000, answer: 100))
    #expect(difference.intents.map(\.name) == ["sync|", "editor"])
    #expect(difference.intents.map(\.change) == [.new, .new] && difference.presenters.map(\.change) == [.new])
    #expect(difference.totals["intents"] == .init(before: 0, after: 2))
    #expect(try Self.difference().totals["intents"] == nil)
  }

  /// What some intents waited is in no sum: those before may have waited as long as what is beyond, and with those
  /// after it may be more.
  @Test func longerIntentWaitsAreDecidedOnlyWhereAllIsKnown() throws {
    let condition = try DifferenceCondition(parsing: "longer-intent-waits")
    let (short, long) = (Self.coordinated(waited: 1_000, answer: 0), Self.coordinated(waited: 3_000, answer: 0))
    let beyond = "longer-intent-waits: 3.0 us after 1.0 us before"
    #expect(try condition.outcome(of: Self.compared(short, long)) == .failed(beyond))
    #expect(try condition.outcome(of: Self.compared(long, short)) == .held)
    #expect(try condition.failure(of: Self.compared(Self.after, long)) != nil)
    let unknown = Self.coordinated(waited: nil, answer: 0)
    #expect(
      try condition.outcome(of: Self.compared(unknown, long))
        == .unknown(
          "longer-intent-waits: 3.0 us after 0 ns before, but the log before does not tell how long 1 intent waited"))
    #expect(
      try condition.outcome(of: Self.compared(short, unknown))
        == .unknown(
          "longer-intent-waits: there is no more than before in what the logs tell, but the log after does not tell "
            + "how long 1 intent waited"))
    // What nobody knows of the first cannot make more of what the second has.
    #expect(try condition.outcome(of: Self.compared(unknown, Self.after)) == .held)
    #expect(try DifferenceCondition(parsing: "more-waits").outcome(of: Self.compared(unknown, unknown)) == .held)
  }
}
