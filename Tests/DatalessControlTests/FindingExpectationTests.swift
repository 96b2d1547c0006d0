import DatalessCore
import DatalessReports
import Testing

@testable import DatalessCommands
@testable import DatalessControl

/// `max_serial_waits`, `forbid_unneeded_blocking` and `max_together`.
@Suite struct FindingExpectationTests {
  private static func verdict(_ log: FindingLog, _ expected: [Expected]) throws -> Verdict {
    var checked = Expectations(expected)
    for line in log.log.lines { checked.add(try #require(LogRecord(line: bytes(line)))) }
    return checked.finish(log: bytes("/x.jsonl"))
  }

  private static func list(_ count: Int, by caller: FindingLog.Caller = FindingLog.Caller()) -> FindingLog {
    var log = FindingLog()
    for index in 0..<count { log.read("f\(index)", from: Int64(index) * 10, to: Int64(index) * 10 + 10, by: caller) }
    return log
  }

  // MARK: - Lists

  @Test func eachFileBeyondTheBoundIsTold() throws {
    var log = Self.list(5)
    log.unmount()
    let verdict = try Self.verdict(log, [Expected(.maxSerialWaits, 3), Expected(.maxSerialWaits, 5)])
    #expect(verdict.gaps == [] && verdict.expectations.map(\.outcome) == [.violated, .held])
    let result = verdict.expectations[0]
    #expect(result.measured == 5 && result.violationCount == 2 && result.unit == .files)
    #expect(result.words == "at most 3 files waited for one after the other by one process")
    #expect(verdict.violations.map(\.path) == ["f3", "f4"] && verdict.violations.map(\.measured) == [4, 5])
    let violation = try #require(verdict.violations.first)
    #expect(violation.process?.name == "viewer" && violation.attempt == 4 && violation.isMainThread == true)
    #expect(violation.hint.hasPrefix(Finding.Kind.serial.rule) && violation.hint.contains("--stacks first"))
  }

  /// A list of what is meant: other files in between are not looked at.
  @Test func conditionsSayWhichFilesAreMeant() throws {
    var log = FindingLog()
    for index in 0..<3 {
      log.read("photos/\(index)", from: Int64(index) * 20, to: Int64(index) * 20 + 10)
      log.read("music/\(index)", from: Int64(index) * 20 + 10, to: Int64(index) * 20 + 20)
    }
    log.unmount()
    var expected = Expected(.maxSerialWaits, 2)
    expected.match.paths = [try glob("photos/**")]
    let verdict = try Self.verdict(log, [expected])
    #expect(verdict.expectations[0].measured == 3 && verdict.violations.map(\.path) == ["photos/2"])
    expected.match = try .of("cat")
    #expect(try Self.verdict(log, [expected]).outcome == .held)
  }

  @Test func whoMayBeSeveralIsUnknownWhereItMatters() throws {
    var log = Self.list(3, by: FindingLog.caller { $0.process = 3 })
    log.unmount()
    let verdict = try Self.verdict(log, [Expected(.maxSerialWaits, 2), Expected(.maxSerialWaits, 3)])
    #expect(verdict.expectations.map(\.outcome) == [.unknown, .held] && verdict.violations.isEmpty)
    #expect(verdict.expectations[0].reason?.contains("3 files of callers") == true)
  }

  @Test func aListInALogThatLacksRecordsMayBeNone() throws {
    var log = Self.list(5)
    log.log.add("log.dropped", at: 0, #""count":1"#)
    log.unmount()
    let verdict = try Self.verdict(log, [Expected(.maxSerialWaits, 3)])
    #expect(verdict.outcome == .unknown && verdict.violations.isEmpty)
    #expect(verdict.expectations[0].reason?.contains("what looks like 2 violations may be none") == true)
  }

  // MARK: - Lookups

  private static let forbidden = [Expected(.forbidUnneededBlocking, 0)]

  @Test func aLookupThatNothingFollowsIsAViolation() throws {
    var log = FindingLog()
    log.lookUp("a.jpg", in: "photos", found: "file", from: 0, to: 100)
    log.lookUp("b", in: "photos/2024", found: "file", from: 100, to: 200)
    log.lookUp(".git", in: "", found: "absent", from: 200, to: 300)
    var opened = log
    log.unmount()
    let verdict = try Self.verdict(log, Self.forbidden)
    #expect(verdict.outcome == .violated && verdict.expectations[0].measured == 2)
    #expect(
      verdict.expectations[0].unit == .lookups
        && verdict.expectations[0].words == "no lookup that blocked and that nothing followed")
    #expect(verdict.violations.map(\.path) == ["photos/a.jpg", "photos/2024/b"])
    #expect(
      verdict.violations.map(\.kind) == ["file", "file"]
        && verdict.violations.map(\.trigger) == ["lookup", "lookup"])
    #expect(
      verdict.violations.map(\.process?.name) == ["viewer", "viewer"] && verdict.violations.map(\.attempt) == [1, 2])
    opened.opened("photos/a.jpg", by: 2, at: 400)
    opened.opened("photos/2024/b", at: 400)
    opened.unmount()
    #expect(try Self.verdict(opened, Self.forbidden).outcome == .held)
  }

  /// It may be told when the wait is over, as names of interpreters take their time.
  @Test func aLookupHasItsStack() throws {
    var log = FindingLog()
    let stack =
      #""stack":{"complete":true,"end":"outermost","frames":[{"module":"/bin/fm","offset":1,"symbol":"ask","found_by":"tables"}]}"#
    let told = #""attempt":1,"process":1,"tid":10,"outcome":"ok","stack_id":1,\#(stack)"#
    log.lookUp("a", in: "d", found: "file", from: 0, to: 100)
    log.log.add("wait.stack", at: 200_000_000, told)
    log.unmount()
    let violations = try Self.verdict(log, Self.forbidden).violations
    #expect(violations.map { $0.stack?.frames.first?.symbol } == ["ask"])
  }

  @Test func whatTheLogDoesNotTellOfIsUnknown() throws {
    let all = #""observe":"reads""#
    for (found, options) in [("symlink", all), ("file", ""), (nil, all), ("directory", all)] {
      var log = FindingLog(options: options)
      log.lookUp("a", in: "d", found: found, from: 0, to: 100)
      log.unmount()
      let verdict = try Self.verdict(log, Self.forbidden)
      #expect(verdict.outcome == .unknown && verdict.violations.isEmpty)
      #expect(verdict.expectations[0].reason?.contains("1 lookup") == true)
    }
    var log = FindingLog()
    log.lookUp("a", in: "d", found: "file", from: 0, to: 100)
    #expect(try Self.verdict(log, Self.forbidden).outcome == .unknown)
  }

  @Test func conditionsAreAboutWhatWasLookedUp() throws {
    var log = FindingLog()
    log.lookUp("a", in: "d", found: "file", from: 0, to: 100)
    log.lookUp("a", in: "e", found: "file", from: 100, to: 200)
    log.unmount()
    func verdict(_ change: (inout RuleMatch) throws -> Void) throws -> [String?] {
      var expected = Self.forbidden[0]
      try change(&expected.match)
      return try Self.verdict(log, [expected]).violations.map(\.path)
    }
    #expect(try verdict { $0.paths = [try glob("d/*")] } == ["d/a"])
    #expect(try verdict { $0.kind = .directory } == [])
    #expect(try verdict { $0.triggers = [.lookup] } == ["d/a", "e/a"])
    #expect(try verdict { $0 = try .of("cat") } == [])
  }

  // MARK: - Writes beside others

  private static let writable = #""read_only":false,"together":true"#

  @Test func eachFileThatIsWrittenBesideOthersIsTold() throws {
    var log = FindingLog(mounted: Self.writable)
    log.wrote("notes.txt")
    log.wrote("notes.txt", at: 200)
    log.wrote("d/other", at: 300)
    log.wrote("locked", locked: "true", at: 400)
    log.unmount()
    let verdict = try Self.verdict(log, [Expected(.maxTogether, 1), Expected(.maxTogether, 2)])
    #expect(verdict.gaps == [] && verdict.expectations.map(\.outcome) == [.violated, .held])
    let result = verdict.expectations[0]
    #expect(result.measured == 2 && result.violationCount == 1 && result.unit == .files && verdict.warnings.isEmpty)
    #expect(
      result.words == "at most 1 file written to while others had them open, without a lock or an intent")
    let violation = try #require(verdict.violations.first)
    #expect(violation.path == "d/other" && violation.process?.name == "viewer" && violation.other?.name == "cat")
    #expect(violation.kind == "file" && violation.trigger == "write" && violation.attempt == nil)
    #expect(
      violation.hint == Finding.Kind.together.rule + " 'dataless log --type handle.together' says when it was.")
    let text = VerdictText.lines(verdict)
    #expect(text.contains("  d/other by viewer[10] main thread beside cat[20] write"), "\(text)")
    let told = ReportVerdict(verdict).checks[0].violations.map(\.message)
    #expect(told.first?.hasPrefix("viewer[10] (beside cat[20]) write d/other: ") == true, "\(told)")
  }

  @Test func conditionsAreAboutWhoWrites() throws {
    var log = FindingLog(mounted: Self.writable)
    log.wrote("a/1")
    log.wrote("b/1", by: 2, beside: "1", at: 200)
    log.unmount()
    func paths(_ change: (inout RuleMatch) throws -> Void) throws -> [String?] {
      var expected = Expected(.maxTogether, 0)
      try change(&expected.match)
      return try Self.verdict(log, [expected]).violations.map(\.path)
    }
    #expect(try paths { $0 = try .of("cat") } == ["b/1"])
    #expect(try paths { $0.paths = [try glob("a/*")] } == ["a/1"])
    #expect(try paths { $0.triggers = [.write] } == ["a/1", "b/1"])
    #expect(try paths { $0.triggers = [.read] } == [])
  }

  @Test func anIntentOfEitherIsNoViolation() throws {
    var log = FindingLog(mounted: Self.writable)
    log.coordination("granted", 1, at: 50, #""path":"","reads":0,"writes":1,"process":2"#)
    log.wrote("notes.txt")
    log.unmount()
    let verdict = try Self.verdict(log, [Expected(.maxTogether, 0)])
    #expect(verdict.outcome == .held && verdict.expectations[0].measured == 0)
  }

  @Test func ofWritesThatNobodySawNothingIsClaimed() throws {
    var log = FindingLog(mounted: Self.writable)
    log.wrote("a", beside: "null", locked: #"null,"reason":"unseen""#)
    log.unmount()
    let verdict = try Self.verdict(log, [Expected(.maxTogether, 0), Expected(.maxTogether, 1)])
    #expect(verdict.expectations.map(\.outcome) == [.unknown, .held] && verdict.violations.isEmpty)
    #expect(verdict.expectations[0].reason?.contains("1 file (a) written to beside others") == true)
    // Each program counts, and each file is named once.
    var several = FindingLog(mounted: Self.writable)
    for process in 1...3 { several.wrote("a", by: process, beside: "null", locked: #"null,"reason":"unseen""#) }
    several.unmount()
    let ofSeveral = try Self.verdict(several, [Expected(.maxTogether, 2), Expected(.maxTogether, 3)])
    #expect(ofSeveral.expectations.map(\.outcome) == [.unknown, .held])
    #expect(ofSeveral.expectations[0].reason?.hasPrefix("1 file (a) written to beside others") == true)
    var old = FindingLog(mounted: #""read_only":false"#)
    old.unmount()
    let ofOld = try Self.verdict(old, [Expected(.maxTogether, 0)])
    #expect(ofOld.outcome == .unknown && ofOld.expectations[0].reason?.contains("of an older version") == true)
    var lost = FindingLog(mounted: Self.writable)
    lost.wrote("a")
    lost.log.add("log.dropped", at: 0, #""count":1"#)
    lost.unmount()
    #expect(try Self.verdict(lost, [Expected(.maxTogether, 0)]).outcome == .unknown)
    var readOnly = FindingLog()
    readOnly.unmount()
    let nothing = try Self.verdict(readOnly, [Expected(.maxTogether, 0)])
    #expect(nothing.outcome == .held && nothing.warnings.first?.contains("nothing can violate it") == true)
  }
}
