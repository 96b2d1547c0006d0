import DatalessCore
import Testing

@testable import DatalessControl

/// Logs that do not tell all: neither a false alarm nor a false pass.
@Suite struct ExpectationLogTests {
  private static let all: [Expected] = [
    Expected(.maxFiles, 10), Expected(.maxWait, 1_000_000), Expected(.minParallel, 200),
  ]

  private func outcomes(_ log: ExpectationLog, _ expectations: [Expected] = all) throws -> [Verdict.Outcome] {
    try log.verdict(expectations).expectations.map(\.outcome)
  }

  @Test func aLogWithoutItsEndIsNoPass() throws {
    var log = ExpectationLog()
    log.take("a")
    let verdict = try log.verdict([Expected(.maxFiles, 10), Expected(.maxFiles, 0)])
    #expect(verdict.expectations.map(\.outcome) == [.unknown, .violated] && verdict.outcome == .violated)
    #expect(verdict.gaps == ["it ends before the volume was unmounted"])
    #expect(verdict.expectations[0].isMeasuredIncompletely)
    let mounted = try log.verdict([Expected(.maxFiles, 10)], isMounted: true)
    #expect(mounted.outcome == .unknown && mounted.gaps == ["the volume is still mounted, and may have more to tell"])
  }

  @Test func whatIsLostCannotBeHeldNorUndone() throws {
    var log = ExpectationLog()
    log.take("a")
    log.log.sequence += 4
    log.log.add("log.dropped", at: 100, #""count":5"#)
    log.take("b")
    log.unmount()
    #expect(try outcomes(log) == [.unknown, .unknown, .unknown])
    #expect(try log.verdict(Self.all).gaps == ["5 records are missing"])
    // More records cannot make fewer files.
    #expect(try outcomes(log, [Expected(.maxFiles, 1)]) == [.violated])
    // But they may have others in flight.
    let parallel = try log.verdict([Expected(.minParallel, 200)])
    #expect(parallel.violations.isEmpty && parallel.expectations[0].reason?.contains("1 violation may be none") == true)
  }

  /// The gap alone shows it.
  @Test func aMissingLineIsALoss() throws {
    var log = ExpectationLog()
    log.take("a")
    log.unmount()
    var checked = Expectations(Self.all)
    for (index, line) in log.log.lines.enumerated() where index != 7 {
      checked.add(try #require(LogRecord(line: bytes(line))))
    }
    let verdict = checked.finish(log: [])
    #expect(verdict.gaps == ["1 record is missing"] && verdict.outcome == .unknown)
  }

  /// One bit of a key's name makes it a key that nobody knows.
  @Test(arguments: [
    ("wait.finished", "blocked_ns"), ("wait.finished", "attempt"), ("materialization.started", "attempt"),
    ("materialization.started", "kind"), ("materialization.finished", "attempt"), ("materialization.finished", "kind"),
    ("materialization.finished", "outcome"), ("wait.finished", "process"), ("wait.started", "process"),
    ("materialization.started", "path"), ("materialization.started", "process"),
    ("materialization.finished", "path"), ("handle.closed", "covered_bytes"), ("handle.closed", "high_water_mark"),
    ("handle.closed", "process"), ("handle.closed", "path"),
  ])
  func aRecordThatLacksAKeyIsALoss(type: String, key: String) throws {
    var log = ExpectationLog()
    log.log.add(
      "configuration.changed", at: 1, #""what":"settings","before":{},"after":{"observe":"reads"},"by":"api""#)
    log.take("a", { $0.size = 100_000 })
    log.log.closed("a", by: 3, size: 100_000, covered: 100_000, at: 5_000)
    log.unmount()
    let expected = [
      Expected(.maxWait, 1_000_000), Expected(.maxParallel, 200), Expected(.maxFiles, 10), Expected(.maxSerialWaits, 1),
      Expected(.maxNeedless, 0), Expected(.allow, paths: [try PathPattern(parsing: Array("a".utf8))]),
    ]
    #expect(try outcomes(log, expected) == Array(repeating: .held, count: expected.count))
    log.log.lines = log.log.lines.map { line in
      line.contains("\"type\":\"\(type)\"") ? line.replacing("\"\(key)\":", with: "\"_\(key.dropFirst())\":") : line
    }
    let verdict = try log.verdict(expected)
    #expect(verdict.expectations.map(\.outcome) == Array(repeating: .unknown, count: expected.count))
    #expect(verdict.gaps == ["1 line cannot be read"])
    let file = try TemporaryFile(log.log.bytes)
    #expect(try !SummaryReport.load(log: file.path).completeness.isComplete)
  }

  @Test func aTornLineIsALoss() throws {
    var log = ExpectationLog()
    log.take("a")
    let text = log.log.bytes.dropLast(20)
    let file = try TemporaryFile(Array(text))
    let verdict = try Verdict.load(log: file.path, Expectations(Self.all))
    #expect(verdict.gaps == ["1 line cannot be read", "it ends before the volume was unmounted"])
    #expect(verdict.outcome == .unknown)
  }

  @Test func ofTwoSessionsTheLastCounts() throws {
    var log = ExpectationLog()
    for name in ["a", "b"] { log.take(name) }
    log.unmount()
    var second = ExpectationLog()
    second.log.session = "fedcba987654"
    var lines = log.log.lines
    second.take("c")
    second.unmount()
    lines += second.log.lines.map { line in
      var line = line
      if let range = line.firstRange(of: "0123456789ab") { line.replaceSubrange(range, with: "fedcba987654") }
      return line
    }
    func verdict(_ session: String?) throws -> Verdict {
      var checked = Expectations([Expected(.maxFiles, 1)], session: session)
      for line in lines { checked.add(try #require(LogRecord(line: bytes(line)))) }
      return checked.finish(log: [])
    }
    #expect(try verdict(nil).outcome == .held && verdict(nil).earlierSessions == 1 && verdict(nil).gaps == [])
    #expect(try verdict("0123456789ab").outcome == .violated)
    #expect(try verdict("0123456789ab").session == "0123456789ab")
    #expect(try verdict("nosuchsession").outcome == .unknown)
  }

  /// A loss of power has left zeros in the place of what was written last, and of a session that was mounted later the
  /// first records: the one before it is not what is asked about.
  @Test(arguments: 1...3) func aLaterSessionCountsWithoutItsFirstRecords(missing: Int) throws {
    var log = ExpectationLog()
    log.take("a")
    log.unmount()
    var second = ExpectationLog()
    for name in ["b", "secret"] { second.take(name) }
    second.unmount()
    let later = second.log.lines.map { $0.replacingFirst("0123456789ab", with: "fedcba987654") }
    let text = (log.log.lines + later.dropFirst(missing)).map { $0 + "\n" }.joined()
    let file = try TemporaryFile(Array(text.utf8))
    let expected = [Expected(.maxFiles, 2), Expected(.maxFiles, 1)]
    let verdict = try Verdict.load(log: file.path, Expectations(expected))
    #expect(verdict.session == "fedcba987654" && verdict.earlierSessions == 1)
    #expect(verdict.expectations.map(\.outcome) == [.unknown, .violated] && !verdict.gaps.isEmpty)
    let last = try LogFile.lastSession(of: file.path)
    #expect(last?.name == "fedcba987654" && last?.earlierSessions == 1)
    var summary = SummaryBuilder()
    for line in text.split(separator: "\n") { summary.add(try #require(LogRecord(line: bytes(String(line))))) }
    let completeness = summary.finish(log: []).completeness
    #expect(completeness.earlierSessions == 1 && completeness.lostRecords == missing && !completeness.isComplete)
  }

  /// Records of two daemons that write one log come by turns.
  @Test func anEarlierSessionGoesOnBesideALaterOne() throws {
    var log = ExpectationLog()
    log.take("a")
    let first = log.log.lines.count
    log.take("more")
    log.unmount()
    var second = ExpectationLog()
    second.take("b")
    second.unmount()
    let later = second.log.lines.map { $0.replacingFirst("0123456789ab", with: "fedcba987654") }
    let lines = log.log.lines[..<first] + later[..<3] + log.log.lines[first...] + later[3...]
    let file = try TemporaryFile(Array(lines.map { $0 + "\n" }.joined().utf8))
    let verdict = try Verdict.load(log: file.path, Expectations([Expected(.maxFiles, 1)]))
    #expect(verdict.session == "fedcba987654" && verdict.outcome == .held && verdict.gaps == [])
    #expect(try LogFile.lastSession(of: file.path)?.name == "fedcba987654")
  }

  /// Times of day are only told; what is measured is measured by the other clock.
  @Test func aClockThatWasSetBackChangesNothing() throws {
    var log = ExpectationLog()
    log.take("a", { ($0.start, $0.end) = (1_000, 5_000) })
    log.unmount()
    let set = log.log.lines.map { $0.replacingFirst("2026-01-02", with: "1970-01-01") }
    var checked = Expectations([Expected(.maxWait, 4_000), Expected(.minParallel, 200)])
    for line in set { checked.add(try #require(LogRecord(line: bytes(line)))) }
    #expect(checked.finish(log: []).expectations[0].measured == 4_000)
    // Nor does a monotonic clock that is none.
    var odd = ExpectationLog()
    odd.take("a", { ($0.start, $0.end) = (.max, .min + 1) })
    odd.take("b", { ($0.start, $0.end) = (5, 1) })
    odd.unmount()
    #expect(try odd.verdict(Self.all).expectations.count == 3)
  }

  @Test func aWaitWithoutEndHasLastedAtLeastSoLong() throws {
    var log = ExpectationLog()
    log.start("a", ExpectationLog.step { $0.start = 1_000 })
    log.log.add("mark", at: 6_000, #""label":"x""#)
    let verdict = try log.verdict([Expected(.maxWait, 4_999), Expected(.maxWait, 5_000)])
    #expect(verdict.expectations.map(\.outcome) == [.violated, .unknown])
    #expect(verdict.violations.first?.path == "a")
  }

  /// The record of its end is lost, but not that of what it waited for: it did not last until the daemon was killed.
  @Test func aWaitLastsNoLongerThanWhatItIsFor() throws {
    var log = ExpectationLog()
    let attempt = log.start("a", ExpectationLog.step { $0.start = 1_000 })
    log.log.add(
      "materialization.finished", at: 3_000,
      #""attempt":\#(attempt),"path":"a","kind":"file","bytes":100,"outcome":"ok","waiters":[]"#)
    log.log.sequence += 1
    log.take("b", { ($0.start, $0.end) = (50_000, 50_100) })
    let verdict = try log.verdict([
      Expected(.maxWait, 1_999), Expected(.maxWait, 2_000), Expected(.maxMainThread, 2_000),
    ])
    #expect(verdict.expectations.map(\.outcome) == [.violated, .unknown, .unknown])
    #expect(verdict.expectations.map(\.measured) == [2_000, 2_000, 2_000])
  }

  @Test func aRunCountsItsOwnProcesses() throws {
    var log = ExpectationLog(isRun: true)
    log.take("a")
    log.take("b", { $0.process = 4 })
    log.finishRun(files: 1, bytes: 100)
    log.unmount()
    let verdict = try log.verdict([
      Expected(.maxFiles, 1), Expected(.maxDirectories, 0), Expected(.forbid, paths: [try glob("b")]),
      Expected(name: "e.max_files", measure: .maxFiles, bound: 1),
    ])
    #expect(verdict.outcome == .held && verdict.expectations.map(\.measured) == [1, 0, 0, 1])
    // Who may be of the run counts as of it.
    log.log.add("process.seen", at: 0, #""process":5,"unavailable":"exited","parents":[]"#)
    var other = log
    other.take("c", { $0.process = 5 })
    #expect(try other.verdict([Expected(name: "e", measure: .maxFiles, bound: 1)]).outcome == .violated)
  }

  /// An ordinary user cannot look at what root runs: above the run that is no reason to know nothing.
  @Test func ancestorsAboveTheRunNeedNotBeKnown() throws {
    func outcome(
      isRun: Bool, isParentKnown: Bool = true, _ change: (inout ProcessMatch) throws -> Void
    ) throws -> Verdict.Outcome {
      var log = ExpectationLog(isRun: isRun)
      log.log.add("process.seen", at: 0, #""process":1,"pid":1,"comm":"systemd","uid":0,"parents":[]"#)
      if !isParentKnown {
        log.log.add("process.seen", at: 0, #""process":5,"pid":13,"comm":"make","parents":[2,1]"#)
        log.log.add("process.seen", at: 0, #""process":3,"pid":11,"exe":"/usr/bin/python3","parents":[5,2,1]"#)
      }
      log.take("a")
      if isRun { log.finishRun(files: 1, bytes: 100) }
      log.unmount()
      var (match, ancestor) = (RuleMatch(), ProcessMatch())
      try change(&ancestor)
      match.ancestor = ancestor
      return try log.verdict([Expected(name: "e", measure: .maxFiles, match: match)]).outcome
    }
    let indexer = try glob("indexer")
    #expect(try outcome(isRun: true, { $0.executables = [indexer] }) == .held)
    #expect(try outcome(isRun: true, { $0.commandNames = [indexer] }) == .held)
    // Without a run everybody counts, and within one who stands between.
    #expect(try outcome(isRun: false, { $0.executables = [indexer] }) == .unknown)
    #expect(try outcome(isRun: true, isParentKnown: false, { $0.executables = [indexer] }) == .unknown)
    // What is known above counts.
    let systemd = try glob("systemd")
    #expect(try outcome(isRun: true, { $0.commandNames = [systemd] }) == .violated)
    let shell = try glob("sh")
    #expect(try outcome(isRun: true, { $0.executables = [shell] }) == .violated)
  }

  /// Logs of earlier versions have what Linux shows of an executable that was removed; a name of its own is one, too.
  @Test(
    arguments: [
      ("tp", .violated), ("/opt/tp", .violated), ("tp (deleted)", .violated), ("tp*", .violated), ("t", .held),
      ("(deleted)", .held),
    ] as [(String, Verdict.Outcome)])
  func anExecutableThatWasRemovedHasItsName(pattern: String, outcome: Verdict.Outcome) throws {
    var log = ExpectationLog()
    log.log.process(5, pid: 14, "worker", exe: "/opt/tp (deleted)", parents: [1])
    log.take("a") { $0.process = 5 }
    log.unmount()
    var (match, process) = (RuleMatch(), ProcessMatch())
    process.executables = [try glob(pattern)]
    match.process = process
    #expect(try log.verdict([Expected(name: "e", measure: .maxFiles, match: match)]).outcome == outcome)
  }

  /// The daemon has counted what budgets bound, whatever became of the log.
  @Test func whatTheDaemonCountedIsKnownWhateverIsLost() throws {
    var log = ExpectationLog(isRun: true)
    log.log.sequence += 100
    log.take("a")
    log.finishRun(files: 7, bytes: 700)
    log.unmount()
    let verdict = try log.verdict([Expected(.maxFiles, 7), Expected(.maxBytes, 600), Expected(.maxWait, 1)])
    #expect(verdict.expectations.map(\.outcome) == [.held, .violated, .violated])
    #expect(verdict.expectations.map(\.measured) == [7, 700, 1_000])
  }

  /// The log is full: `run` is told so by the daemon itself.
  @Test(arguments: [(7, false, Verdict.Outcome.held), (6, false, .violated), (7, true, .unknown), (6, true, .violated)])
  func whatTheDaemonHasSaidIsKnownWhereTheLogEnds(bound: Int64, isCutShort: Bool, outcome: Verdict.Outcome) throws {
    var log = ExpectationLog(isRun: true)
    log.take("a")
    var checked = Expectations([Expected(.maxFiles, bound), Expected(.maxDirectories, 0)])
    for line in log.log.lines { checked.add(try #require(LogRecord(line: bytes(line)))) }
    var late = checked
    checked.addRun(BudgetStatus(files: 7, bytes: 700, exceeded: []), isCutShort: isCutShort)
    #expect(checked.finish(log: bytes("/x.jsonl")).expectations.map(\.outcome) == [outcome, .unknown])
    // What is under way counts as well.
    late.addRun(BudgetStatus(files: 7, bytes: 700, inFlight: 1, exceeded: []), isCutShort: false)
    #expect(late.finish(log: bytes("/x.jsonl")).outcome == (outcome == .violated ? .violated : .unknown))
    // What the log has of it is of the daemon, too.
    log.finishRun(files: 5, bytes: 500)
    log.unmount()
    var whole = Expectations([Expected(.maxFiles, 5)])
    for line in log.log.lines { whole.add(try #require(LogRecord(line: bytes(line)))) }
    whole.addRun(BudgetStatus(files: 7, bytes: 700, exceeded: []), isCutShort: false)
    #expect(whole.finish(log: bytes("/x.jsonl")).expectations.first?.measured == 5)
  }

  @Test(arguments: [("time_up", 0), ("unknown", 0), ("interrupted", 0), ("none_left", 1)])
  func aRunThatWasCutShortIsNoPass(end: String, inFlight: Int) throws {
    var log = ExpectationLog(isRun: true)
    log.take("a")
    log.finishRun(files: 1, bytes: 100, inFlight: inFlight, end: end)
    log.unmount()
    let verdict = try log.verdict([Expected(.maxFiles, 1), Expected(.maxDirectories, 0)])
    #expect(verdict.outcome == .unknown && verdict.expectations.map(\.outcome) == [.unknown, .unknown])
    #expect(try log.verdict([Expected(.maxFiles, 0)]).outcome == .violated)
  }

  /// A program still waited when the volume was unmounted: what it would have had nobody knows.
  @Test(arguments: VolumeEndMessage.allCases) func whatTheEndOfTheVolumeCutShortIsNoPass(
    message: VolumeEndMessage
  ) throws {
    var log = ExpectationLog()
    log.take("a")
    let attempt = log.start("b")
    log.log.add(
      "materialization.finished", at: 3_000,
      #""attempt":\#(attempt),"path":"b","kind":"file","bytes":0,"outcome":"ETIMEDOUT","waiters":[],"#
        + #""message":"\#(message.rawValue)""#)
    log.unmount()
    var ofTar = Expected(.maxFiles, 0)
    ofTar.match = try .of("tar")
    let verdict = try log.verdict([
      Expected(.maxFiles, 0), Expected(.maxFiles, 1), Expected(.maxFiles, 2), Expected(.maxBytes, 199),
      Expected(.maxBytes, 200), Expected(.maxDirectories, 0), ofTar,
    ])
    #expect(
      verdict.expectations.map(\.outcome) == [.violated, .unknown, .held, .unknown, .held, .held, .held])
    #expect(verdict.expectations[1].reason == "the end of the volume cut short 1 file")
  }

  /// What a build daemon reads for the command counts for nobody, and a forgotten {} violates nothing: both are said.
  @Test func aRunThatCouldNotBeViolatedIsSaid() throws {
    func warnings(_ reader: Int?) throws -> [String] {
      var log = ExpectationLog(isRun: true)
      if let reader { log.take("a") { $0.process = reader } }
      log.finishRun(files: 0, bytes: 0)
      let requests = reader == nil ? "{}" : #"{"read":1}"#
      log.log.add(
        "volume.unmounted", at: 9_000, #""reason":"run","requests_reaching_the_volume":\#(requests),"log_dropped":0"#)
      let verdict = try log.verdict([Expected(.maxFiles, 0)])
      #expect(verdict.outcome == .held)
      return verdict.warnings
    }
    #expect(try warnings(nil).first?.hasPrefix("the command has asked the volume for nothing") == true)
    #expect(try warnings(4).first?.hasPrefix("1 attempt of processes that the command has not started") == true)
    #expect(try warnings(3) == [])
  }

  @Test func aRunWithoutEndIsNoPass() throws {
    var log = ExpectationLog(isRun: true)
    log.take("a")
    log.unmount()
    #expect(try log.verdict([Expected(.maxFiles, 1)]).gaps == ["the run has no end in it"])
  }

  /// An attempt whose beginning is lost is known by its end.
  @Test func anAttemptWithoutBeginningCounts() throws {
    var log = ExpectationLog()
    log.end(9, "a")
    log.unmount()
    let verdict = try log.verdict([Expected(.maxFiles, 0), Expected(.forbid, paths: [try glob("a")])])
    #expect(verdict.expectations.map(\.outcome) == [.violated, .violated])
    #expect(verdict.violations.first?.process?.pid == 11)
  }
}

extension String {
  fileprivate func replacingFirst(_ text: String, with other: String) -> String {
    var copy = self
    if let range = copy.firstRange(of: text) { copy.replaceSubrange(range, with: other) }
    return copy
  }
}
