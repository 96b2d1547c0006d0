import DatalessCore
import Testing

@testable import DatalessCommands
@testable import DatalessControl

/// Lines of a log that are no records, and records of another version of the format: what they leave unknown.
@Suite struct UnreadLinesTests {
  /// A run that materialized two files, from its first record to its last.
  private static let lines: [String] = {
    var log = ExpectationLog(isRun: true)
    for name in ["a", "b"] { log.take(name) }
    log.finishRun(files: 2, bytes: 200)
    log.unmount()
    return log.log.lines
  }()

  private static func other(_ line: String, version: String = "2") -> String {
    #"{"v":"# + version + line.dropFirst(#"{"v":1"#.count)
  }

  private static func file(_ lines: some Sequence<String>) throws -> TemporaryFile {
    try TemporaryFile(bytes(lines.joined(separator: "\n") + "\n"))
  }

  private static func execute(_ words: String..., on files: TemporaryFile...) -> Int32 {
    let paths = files.map { String(decoding: $0.path, as: UTF8.self) }
    return DatalessCommand.execute([words[0]] + paths + words.dropFirst())
  }

  private static let expected = [Expected(.maxFiles, 10), Expected(.maxWait, 1_000_000)]

  private static func outcomes(_ file: TemporaryFile) throws -> [Verdict.Outcome] {
    try Verdict.load(log: file.path, Expectations(expected)).expectations.map(\.outcome)
  }

  // MARK: - Another version

  @Test func aLogOfAnotherVersionIsNoLog() throws {
    let file = try Self.file(Self.lines.map { Self.other($0) })
    let failure = #expect(throws: ControlError.self) { try SummaryReport.load(log: file.path) }
    #expect(failure?.code == .otherVersion && failure?.message.contains("it is of version 2 of the format") == true)
    #expect(Self.execute("summary", on: file) == 1 && Self.execute("log", on: file) == 1)
    #expect(Self.execute("check-log", "--max-files", "100", on: file) == 1)
    #expect(Self.execute("diff", "--fail-on", "new-files", on: file, file) == 1)
  }

  @Test(arguments: ["0", "2", "99", "1.5", "\"1\"", "null"]) func onlyThisVersionIsRead(version: String) throws {
    let line = bytes(Self.other(Self.lines[0], version: version))
    #expect(LogRecord(line: line) == nil)
    #expect(UnreadLines(line: line).count == 1)
    #expect(UnreadLines(line: line).version == (Int64(version)))
  }

  /// Objects that are no records: a file of them is no log, and says so.
  @Test(arguments: [
    "{}", #"{"a":1}"#, #"{"session":"a","type":"mark"}"#, #"{"v":1,"type":"mark"}"#, #"{"v":1,"session":"a"}"#,
    #"{"v":1,"session":"","type":"mark"}"#, #"{"v":1,"session":5,"type":"mark"}"#, #"{"v":1,"session":"a","type":{}}"#,
  ])
  func anObjectIsNotYetARecord(line: String) throws {
    #expect(LogRecord(line: bytes(line)) == nil)
    let file = try Self.file([line, line])
    let failure = #expect(throws: ControlError.self) { try SummaryReport.load(log: file.path) }
    #expect(failure?.message.contains("it holds no record (EINVAL)") == true)
    #expect(Self.execute("summary", on: file) == 1 && Self.execute("log", on: file) == 1)
    #expect(Self.execute("check-log", "--max-files", "100", on: file) == 1)
    #expect(Self.execute("diff", on: file, file) == 1)
    // Of another version it may lack anything.
    let other = try Self.file([#"{"v":2}"#])
    let refusal = #expect(throws: ControlError.self) { try SummaryReport.load(log: other.path) }
    #expect(refusal?.code == .otherVersion)
  }

  @Test func recordsOfAnotherVersionAreNotBelieved() throws {
    var lines = Self.lines
    for index in 7...8 { lines[index] = Self.other(lines[index]) }
    let file = try Self.file(lines)
    let report = try SummaryReport.load(log: file.path)
    let state = report.completeness
    #expect(!state.isComplete && state.malformedLines == 2 && state.lostRecords == 2 && state.otherVersion == 2)
    let text = SummaryText.lines(report, width: 1_000).joined(separator: "\n")
    #expect(text.contains("2 lines are not records, being of version 2 of the format, which this version of dataless"))
    let verdict = try Verdict.load(log: file.path, Expectations(Self.expected))
    #expect(verdict.gaps.count == 2 && verdict.gaps[0] == "2 records are missing")
    #expect(verdict.gaps[1].hasPrefix("2 lines cannot be read, of version 2 of the format"))
    // What the daemon has counted is known whatever is lost.
    #expect(verdict.expectations.map(\.outcome) == [.held, .unknown])
    #expect(Self.execute("check-log", "--max-wait", "1h", on: file) == 91)
  }

  /// The last session is the one that is asked about, also where it cannot be read.
  @Test func aLaterSessionOfAnotherVersionIsNotPassedOver() throws {
    let file = try Self.file(Self.lines + Self.lines.map { Self.other($0) })
    let state = try SummaryReport.load(log: file.path).completeness
    #expect(!state.isComplete && state.malformedLines == Int64(Self.lines.count) && state.otherVersion == 2)
    #expect(try Self.outcomes(file) == [.unknown, .unknown])
    #expect(Self.execute("check-log", "--max-files", "10", on: file) == 91)
    #expect(Self.execute("check-log", "--max-files", "1", on: file) == 90)
  }

  /// Who names a session means no later one: `run` its own.
  @Test func behindTheEndOfASessionThatIsGivenNothingIsMissing() throws {
    let file = try Self.file(Self.lines + Self.lines.map { Self.other($0) })
    let state = try SummaryReport.load(log: file.path, session: "0123456789ab").completeness
    #expect(state.isComplete && state.malformedLines == 0 && state.otherVersion == nil)
    func verdict(_ file: TemporaryFile) throws -> Verdict {
      try Verdict.load(log: file.path, Expectations(Self.expected, session: "0123456789ab"))
    }
    let whole = try verdict(file)
    #expect(whole.gaps == [] && whole.expectations.map(\.outcome) == [.held, .held])
    // Without its end, one may be missing; what the daemon has counted is of this session all the same.
    let cut = try verdict(Self.file(Self.lines.dropLast() + [Self.other(Self.lines[0])]))
    #expect(cut.gaps.count == 2 && cut.expectations.map(\.outcome) == [.held, .unknown])
  }

  /// Comparisons and reports look for the last session themselves: that is not to name it.
  @Test func aComparisonPassesOverNoLaterSessionOfAnotherVersion() throws {
    let (whole, file) = (try Self.file(Self.lines), try Self.file(Self.lines + Self.lines.map { Self.other($0) }))
    #expect(Self.execute("diff", "--fail-on", "more-files", on: whole, file) == 91)
    #expect(Self.execute("diff", "--fail-on", "more-files", on: file, whole) == 0)
    var none = ExpectationLog()
    none.unmount()
    let empty = try Self.file(none.log.lines)
    #expect(Self.execute("diff", "--fail-on", "more-files", on: empty, file) == 90)
    #expect(Self.execute("diff", on: whole, file) == 0)
  }

  @Test func anEarlierSessionOfAnotherVersionChangesNothing() throws {
    let file = try Self.file(Self.lines.map { Self.other($0) } + Self.lines)
    let state = try SummaryReport.load(log: file.path).completeness
    #expect(state.isComplete && state.strayLines == Int64(Self.lines.count) && state.otherVersion == nil)
    #expect(try Self.outcomes(file) == [.held, .held])
  }

  // MARK: - Records that do not stand where they belong

  @Test func theSameRecordsASecondTimeAreNotCounted() throws {
    let (whole, file) = (try Self.file(Self.lines), try Self.file(Self.lines + Self.lines))
    let gap = "\(Self.lines.count) records stand behind later ones, or a second time, and are not counted"
    let report = try SummaryReport.load(log: file.path)
    #expect(!report.completeness.isComplete && report.completeness.misplacedRecords == Int64(Self.lines.count))
    #expect(report.completeness.lostRecords == 0 && report.materialized.files == 2)
    #expect(SummaryText.lines(report, width: 1_000).joined(separator: "\n").contains("incomplete: \(gap)"))
    let verdict = try Verdict.load(log: file.path, Expectations(Self.expected))
    // What the daemon has counted is known all the same.
    #expect(verdict.gaps == [gap] && verdict.expectations.map(\.outcome) == [.held, .unknown])
    #expect(Self.execute("check-log", "--max-wait", "1h", on: file) == 91)
    #expect(Self.execute("check-log", "--forbid", "a", on: file) == 90)
    #expect(Self.execute("diff", "--fail-on", "more-files", on: whole, file) == 91)
  }

  @Test func aRecordBehindALaterOneIsNotCounted() throws {
    var lines = Self.lines
    lines.swapAt(7, 8)
    let file = try Self.file(lines)
    let state = try SummaryReport.load(log: file.path).completeness
    #expect(!state.isComplete && state.misplacedRecords == 1 && state.lostRecords == 1)
  }

  // MARK: - No records

  /// The numbers of the records go on, whatever stands between them.
  @Test(arguments: [0, 1, 7, Self.lines.count]) func aLineInThePlaceOfNoRecordIsNoLoss(place: Int) throws {
    let file = try Self.file(Self.lines[..<place] + ["garbage"] + Self.lines[place...])
    let report = try SummaryReport.load(log: file.path)
    #expect(report.completeness.isComplete && report.completeness.strayLines == 1)
    let text = SummaryText.lines(report, width: 1_000).joined(separator: "\n")
    #expect(text.contains("complete, 1 line is no record; no record is missing"))
    let verdict = try Verdict.load(log: file.path, Expectations(Self.expected))
    #expect(verdict.outcome == .held && verdict.gaps == [])
    #expect(verdict.warnings == ["1 line is no record; no record is missing"])
    #expect(Self.execute("check-log", "--max-wait", "1h", "--forbid", "zzz/**", on: file) == 0)
  }

  @Test func aLineInThePlaceOfARecordIsALoss() throws {
    let file = try Self.file(Self.lines[..<7] + ["garbage"] + Self.lines[8...])
    let state = try SummaryReport.load(log: file.path).completeness
    #expect(!state.isComplete && state.malformedLines == 1 && state.strayLines == 0)
    let verdict = try Verdict.load(log: file.path, Expectations(Self.expected))
    #expect(verdict.gaps == ["1 record is missing", "1 line cannot be read"] && verdict.warnings == [])
    #expect(Self.execute("check-log", "--max-wait", "1h", on: file) == 91)
  }

  /// The other lines of a log in which records are missing elsewhere prove nothing.
  @Test func whatIsNoRecordIsOnlyHarmlessWhereNothingIsMissing() throws {
    let file = try Self.file(Self.lines[..<5] + ["garbage"] + Self.lines[5..<7] + Self.lines[8...])
    let report = try SummaryReport.load(log: file.path)
    #expect(report.completeness.strayLines == 1 && report.completeness.malformedLines == 0)
    #expect(!SummaryText.lines(report, width: 1_000).joined().contains("no record is missing"))
    #expect(try Verdict.load(log: file.path, Expectations(Self.expected)).warnings == [])
  }

  @Test func linesOfAnEarlierSessionAreCountedWithThoseOfTheFile() throws {
    var second = ExpectationLog()
    second.unmount()
    let later = second.log.lines.map { line in
      var line = line
      if let range = line.firstRange(of: "0123456789ab") { line.replaceSubrange(range, with: "fedcba987654") }
      return line
    }
    let file = try Self.file(Self.lines[..<4] + ["torn"] + later)
    let state = try SummaryReport.load(log: file.path).completeness
    #expect(state.isComplete && state.earlierSessions == 1 && state.strayLines == 1)
    #expect(try Self.outcomes(file) == [.held, .held])
  }

  /// Each session of a file is held against the lines behind its own records, whenever it began.
  @Test(
    arguments: [
      ("1 x 2e x 1 x 2e x", true), ("1 x 2 x", false), ("1 x 3e", false), ("1 2e x 1 x 2", true),
      ("1 2e x 1 x 2 x", false), ("1 x 1 2e 2e x", true), ("1 x 1 3e 2e x", false),
    ] as [(String, Bool)])
  func everySessionIsHeldAgainstItsOwnNumbers(words: String, isNothingMissing: Bool) throws {
    var (sessions, ended) = (0, [Int: Bool]())
    let lines = words.split(separator: " ").map { word -> String in
      guard let number = Int(word.prefix { $0.isNumber }) else { return String(word) }
      if number == 1 { sessions += 1 }
      // Of two sessions that are not at their end, the last one.
      let session = (1...sessions).last { ended[$0] != true } ?? sessions
      let isEnd = word.hasSuffix("e")
      ended[session] = isEnd
      let type = isEnd ? "volume.unmounted" : "mark"
      return #"{"v":1,"seq":\#(number),"session":"s\#(session)","type":"\#(type)"}"#
    }
    let file = try Self.file(lines)
    let printer = try LogPrinter(
      LogTarget(log: file.path), filter: LogFilter(types: ["run"]),
      style: LogPrinter.Style(isJSON: false, isLive: false, isMounted: false))
    try printer.drain()
    try printer.finish()
    #expect(printer.isNothingMissing == isNothingMissing)
  }

  // MARK: - Two runs

  @Test func aComparisonWithALogThatIsCutIsNoPass() throws {
    let (whole, cut) = (try Self.file(Self.lines), try Self.file(Self.lines.dropLast(6)))
    #expect(Self.execute("diff", "--fail-on", "new-files,more-bytes", on: whole, whole) == 0)
    #expect(Self.execute("diff", on: whole, cut) == 0)
    #expect(Self.execute("diff", "--fail-on", "new-files", on: whole, cut) == 91)
    #expect(Self.execute("diff", "--fail-on", "new-files", "--json", on: whole, cut) == 91)
    var none = ExpectationLog()
    none.unmount()
    let empty = try Self.file(none.log.lines)
    #expect(Self.execute("diff", "--fail-on", "more-failures,new-files", on: empty, cut) == 90)
    // Also where something cannot be written.
    let full = ["--fail-on", "new-files", "--report", "json=/dev/full"]
    #expect(Self.execute("diff", full[0], full[1], full[2], full[3], on: empty, whole) == 90)
    #expect(Self.execute("diff", full[0], full[1], full[2], full[3], on: whole, whole) == 1)
  }
}
