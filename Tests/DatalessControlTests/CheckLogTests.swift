import DatalessCore
import Glibc
import Testing

@testable import DatalessCommands
@testable import DatalessControl

/// `dataless check-log` as a function, and what it prints.
@Suite struct CheckLogTests {
  private static func check(_ log: ExpectationLog, _ options: [String]) throws -> Int32 {
    let file = try TemporaryFile(log.log.bytes)
    return DatalessCommand.execute(["check-log", String(decoding: file.path, as: UTF8.self)] + options)
  }

  private static func log(isEnded: Bool = true) -> ExpectationLog {
    var log = ExpectationLog()
    log.take("photos/a")
    log.take("secret/b", { ($0.start, $0.end) = (5_000, 9_000) })
    if isEnded { log.unmount() }
    return log
  }

  @Test(
    arguments: [
      (["--max-files", "2"], 0), (["--max-files", "1"], 90), (["--max-bytes", "200"], 0), (["--max-bytes", "199"], 90),
      (["--max-wait", "4us"], 0), (["--max-main-thread", "3us"], 90), (["--forbid", "secret/**"], 90),
      (["--forbid", "a", "--forbid", "x/*"], 90), (["--allow", "photos/**"], 90),
      (["--allow", "photos/**", "--allow", "secret/*"], 0), (["--min-parallel", "1.5"], 90),
      (["--max-parallel", "1"], 0),
      (["--max-dirs", "0", "--max-refusals", "0", "--max-repeated", "0"], 0), (["--max-files", "1", "--json"], 90),
    ] as [([String], Int32)])
  func theStatusSaysWhetherItHolds(options: [String], status: Int32) throws {
    #expect(try Self.check(Self.log(), options) == status)
    // Without its end, a log is no pass; and what more records could undo is no violation.
    let isFirm = status == 90 && options[0] != "--min-parallel"
    #expect(try Self.check(Self.log(isEnded: false), options) == (isFirm ? 90 : 91))
  }

  @Test func aFileOfExpectationsAndABaseline() throws {
    let expect = try TemporaryFile(bytes("expect: [{max_files: 1}]"))
    let (empty, other) = (try TemporaryFile(bytes("expect: []")), try TemporaryFile(bytes("latency: 1s")))
    func path(_ file: TemporaryFile) -> String { String(decoding: file.path, as: UTF8.self) }
    #expect(try Self.check(Self.log(), ["--expect", path(expect)]) == 90)
    #expect(try Self.check(Self.log(), ["--expect", path(empty)]) == 0)
    #expect(try Self.check(Self.log(), ["--expect", path(other)]) == 2)
    let new = "/tmp/dataless-baseline-\(UInt64.random(in: 0 ... .max))"
    #expect(try Self.check(Self.log(), ["--baseline", new]) == 1)
    // A log that does not tell all makes no baseline.
    #expect(try Self.check(Self.log(isEnded: false), ["--baseline", new, "--update-baseline"]) == 91)
    #expect(try Self.check(Self.log(), ["--baseline", new]) == 1)
    #expect(try Self.check(Self.log(), ["--baseline", new, "--update-baseline"]) == 0)
    #expect(try Self.check(Self.log(), ["--baseline", new]) == 0)
    var log = Self.log(isEnded: false)
    log.take("c")
    log.unmount()
    #expect(try Self.check(log, ["--baseline", new]) == 90)
    #expect(try Self.check(log, ["--baseline", path(expect), "--update-baseline"]) == 1)
    unlink(new)
  }

  /// The log's SOURCE is /src, its mountpoint /mnt. What began with them would hold whatever was done.
  @Test(arguments: ["--forbid", "--allow"], ["/src/secret/**", "/mnt/secret", "/src", "{a,/mnt/**}"])
  func pathsOfTheMachineAreRefused(option: String, glob: String) throws {
    #expect(try Self.check(Self.log(), [option, glob]) == 2)
    let expect = try TemporaryFile(bytes("expect: [{\(option.dropFirst(2)): \"\(glob)\"}]"))
    #expect(try Self.check(Self.log(), ["--expect", String(decoding: expect.path, as: UTF8.self)]) == 2)
    // The volume itself may have such paths.
    #expect(try Self.check(Self.log(), ["--forbid", String(glob.drop { $0 == "/" })]) == (glob.hasPrefix("{") ? 2 : 0))
    #expect(try Self.check(Self.log(), ["--forbid", "/srcs/**"]) == 0)
  }

  @Test func rulesOfAFileOfExpectationsAreNotLookedAt() throws {
    let expect = try TemporaryFile(
      bytes("rules: [{match: {path: /src/a}, fault: EIO}]\nexpect: [{max_files: 2, match: {path: \"*\"}}]"))
    #expect(try Self.check(Self.log(), ["--expect", String(decoding: expect.path, as: UTF8.self)]) == 0)
  }

  /// Rounded, 1,999 bytes read as 2,000 do.
  @Test func whatIsMeasuredReadsOtherwiseThanItsBound() throws {
    var log = ExpectationLog()
    log.take("a", { ($0.size, $0.end) = (2_000, 500_501_000) })
    log.unmount()
    let lines = VerdictText.lines(
      try log.verdict([Expected(.maxBytes, 1_999), Expected(.maxWait, 500_460_000), Expected(.maxBytes, 2_000)]))
    #expect(lines.contains("VIOLATED  max_bytes: at most 1,999 bytes materialized; 2.0 KiB (2,000 bytes)"))
    #expect(lines.contains("VIOLATED  max_wait: nobody blocked for longer than 500,460,000 ns; 500,500,000 ns"))
    #expect(lines.contains { $0.hasPrefix("  a blocked 500,500,000 ns by ") }, "\(lines)")
    #expect(lines.contains("held      max_bytes: at most 2.0 KiB materialized; 2.0 KiB (2,000 bytes)"))
  }

  @Test func everyViolationIsTold() throws {
    var log = Self.log(isEnded: false)
    for index in 0..<30 { log.take("many/\(index)") }
    log.unmount()
    let expected = try [
      Expected(.maxFiles, 1), Expected(.forbid, paths: [glob("secret/**")]), Expected(.maxDirectories, 0),
    ]
    let lines = VerdictText.lines(try log.verdict(expected), header: true)
    #expect(lines[0] == "session 0123456789ab of /x.jsonl")
    #expect(lines[1] == "3 expectations: 2 violated, 1 held")
    #expect(lines[2] == "VIOLATED  max_files: at most 1 file materialized; 32 files")
    #expect(lines[3] == "  secret/b by python3 fm.py[11] main thread read")
    #expect(lines[4] == "    below sh[10] < init[1]")
    #expect(lines[5].hasPrefix("    2026-01-02T03:04:05.000009000Z, attempt 2"))
    #expect(lines.contains("  and 11 more (--json names up to 1000 paths)"))
    #expect(lines.contains { $0.hasPrefix("  look at: Does the program need this content?") })
    #expect(lines.contains("VIOLATED  forbid: nothing of secret/** materialized or attempted"))
    #expect(lines.last == "held      max_dirs: at most 0 directories listed; 0 directories")
  }

  @Test func whatIsUnknownSaysWhy() throws {
    let verdict = try Self.log(isEnded: false).verdict([Expected(.maxFiles, 9), Expected(.minParallel, 200)])
    let lines = VerdictText.lines(verdict)
    #expect(lines[0] == "2 expectations: 2 unknown")
    #expect(lines[1] == "UNKNOWN   max_files: at most 9 files materialized; at least 2 files")
    #expect(lines[2] == "  it ends before the volume was unmounted")
    let message = try #require(RunReport.words(verdict.expectations[0], nil))
    #expect(message.hasPrefix("nobody knows whether an expectation holds: max_files:"))
  }

  /// Names are anybody's: nothing of them reaches a terminal as it is.
  @Test func nothingOfALogIsObeyedByATerminal() throws {
    let evil = #"\u001b]0;x\u0007\n::add-mask::x\u202e<script>"#
    var log = ExpectationLog()
    log.log.add(
      "process.seen", at: 0,
      #""process":9,"pid":99,"comm":"\#(evil)","exe":"/\#(evil)","script":"\#(evil)","parents":[2,1]"#)
    let number = log.start(evil, ExpectationLog.step { $0.process = 9 })
    log.log.add(
      "wait.stack", at: 1_500,
      #""attempt":\#(number),"process":9,"tid":11,"outcome":"ok","stack_id":1,"stack":{"complete":true,"end":"\#(evil)","#
        + #""frames":[{"module":"\#(evil)","offset":1,"symbol":"\#(evil)","found_by":"tables"}]}"#)
    log.end(number, evil, ExpectationLog.step { $0.process = 9 })
    log.log.session = "0123456789ab"
    log.unmount()
    var match = RuleMatch()
    match.paths = [try glob("*\u{1b}*")]
    let verdict = try log.verdict(
      [Expected(name: "e.max_files", measure: .maxFiles, match: match), Expected(.forbid, paths: [try glob("*\n*")])],
      baseline: Baseline(parsing: bytes("dataless baseline 1\nfile \"\\x1b[31m\"\n"), file: "b", isUpdate: false))
    #expect(verdict.outcome == .violated && verdict.violations.count == 3)
    let text = VerdictText.lines(verdict, header: true)
    #expect(text.contains { $0.contains("add-mask") } && text.contains { $0.contains("x1b[31m") })
    for line in text + verdict.expectations.compactMap({ RunReport.words($0, nil) }) {
      #expect(
        line.unicodeScalars.allSatisfy { scalar in
          ![.control, .format, .lineSeparator].contains(scalar.properties.generalCategory)
        }, "\(line)")
    }
  }
}
