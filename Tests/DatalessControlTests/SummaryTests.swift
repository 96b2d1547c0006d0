import Testing

@testable import DatalessControl

@Suite struct SummaryTests {
  private func report(_ log: LogText, malformed: Int = 0) throws -> SummaryReport {
    var builder = SummaryBuilder()
    for line in log.lines { builder.add(try #require(LogRecord(line: bytes(line)))) }
    builder.addUnread(UnreadLines(count: malformed))
    return builder.finish(log: bytes("/x.jsonl"))
  }

  /// Two processes, four files, three nested directories; a failure, an eviction with a second read, a mark.
  private static let log: LogText = {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "sh", exe: "/bin/dash")
    log.process(2, pid: 11, "tar", exe: "/bin/tar", parents: [1])
    log.process(3, pid: 12, "tar", exe: "/bin/tar", parents: [2, 1])
    log.process(4, pid: 13, "file", exe: "/bin/file", parents: [1])
    for (attempt, path) in [(1, ""), (2, "a"), (3, "a/b")] {
      let start = Int64(attempt) * 1_000
      log.started(attempt, path, kind: "directory", trigger: "lookup", by: 2, at: start)
      log.waited(attempt, by: 2, from: start, to: start + 500)
      log.finished(attempt, path, kind: "directory", by: 2, blocked: 500, at: start + 500)
    }
    // Two files at the same time, by two processes of one name.
    log.started(4, "a/b/one", size: 1_000, by: 2, at: 10_000)
    log.started(5, "a/two", size: 2_000, by: 3, at: 10_000)
    log.waited(4, by: 2, from: 10_000, to: 14_000)
    log.waited(5, by: 3, from: 11_000, to: 15_000)
    log.finished(4, "a/b/one", bytes: 1_000, by: 2, blocked: 4_000, at: 14_000)
    log.finished(5, "a/two", bytes: 2_000, by: 3, blocked: 4_000, at: 15_000)
    log.closed("a/b/one", by: 2, size: 1_000, covered: 1_000, at: 16_000)
    log.closed("a/two", by: 3, size: 2_000, covered: 1_500, at: 16_000)
    log.add("mark", at: 17_000, #""label":"second","counters":{"requests_reaching_the_volume":{"lookup":10,"open":2}}"#)
    // A needless one, one that fails and is tried again, one that is only opened, one read again after eviction.
    log.started(6, "big", size: 1_000_000, by: 4, at: 20_000)
    log.waited(6, by: 4, from: 20_000, to: 30_000)
    log.finished(6, "big", bytes: 1_000_000, by: 4, blocked: 10_000, at: 30_000)
    log.closed("big", by: 4, size: 1_000_000, covered: 256, at: 31_000)
    log.started(7, "bad", size: 5, by: 4, at: 40_000)
    log.waited(7, by: 4, from: 40_000, to: 41_000, outcome: "EIO")
    log.finished(7, "bad", outcome: "EIO", by: 4, blocked: 1_000, at: 41_000)
    log.started(8, "bad", size: 5, by: 4, at: 42_000)
    log.finished(8, "bad", outcome: "cancelled", by: 4, at: 43_000)
    log.closed("c/unread", by: 4, size: 50, covered: 0, triggered: false, at: 44_000)
    log.add("eviction.finished", at: 45_000, #""path":"a/two","kind":"file","bytes":2000,"by":"command""#)
    log.add("eviction.refused", at: 45_500, #""path":"big","kind":"file","bytes":0,"errno":"EBUSY","by":"command""#)
    log.started(9, "a/two", size: 2_000, by: 2, at: 50_000)
    log.waited(9, by: 2, from: 50_000, to: 51_000)
    log.finished(9, "a/two", bytes: 2_000, by: 2, blocked: 1_000, at: 51_000)
    log.add(
      "materialization.refused", at: 52_000, #""path":"x","kind":"file","trigger":"read","errno":"EDEADLK","process":4"#
    )
    log.add(
      "volume.unmounted", at: 60_000,
      #""reason":"unmount","requests_reaching_the_volume":{"lookup":40,"open":9},"#
        + #""items":{"files":10,"directories":4,"bytes":2006000},"log_dropped":0"#)
    return log
  }()

  @Test func totals() throws {
    let report = try report(Self.log)
    #expect(report.session == "0123456789ab")
    #expect(report.source == "/src")
    #expect(report.unmountReason == "unmount")
    #expect(report.durationNanoseconds == 60_000)
    #expect(report.materialized.files == 4)
    #expect(report.materialized.distinctFiles == 3)
    #expect(report.materialized.directories == 3)
    #expect(report.materialized.bytes == 1_005_000)
    #expect(report.materialized.distinctBytes == 1_003_000)
    #expect(report.materialized.failures == 1)
    #expect(report.materialized.cancelled == 1)
    #expect(report.materialized.refusals == 1)
    #expect(report.failures == ["EIO": 1])
    #expect(report.refusals == ["EDEADLK": 1])
    #expect(report.refused.files == 1)
    #expect(report.triggers == ["lookup": 3, "read": 6])
    #expect(report.known == SummaryReport.Known(files: 10, directories: 4, bytes: 2_006_000))
    #expect(report.evictions == SummaryReport.Evictions(files: 1, directories: 0, bytes: 2_000, refused: 1))
    #expect(report.requestsReachingTheVolume == ["lookup": 40, "open": 9])
    #expect(report.completeness == SummaryReport.Completeness())
  }

  @Test func blockedTime() throws {
    let blocked = try report(Self.log).blocked
    #expect(blocked.waits == 8)
    #expect(blocked.sumNanoseconds == 3 * 500 + 4_000 + 4_000 + 10_000 + 1_000 + 1_000)
    // 10,000...15,000 counts once.
    #expect(blocked.wallNanoseconds == 18_500)
    #expect(blocked.longestNanoseconds == 10_000)
    #expect(blocked.parallelism == 1.16)
  }

  @Test func processesByNameAndStarter() throws {
    let report = try report(Self.log)
    #expect(report.processes.map(\.comm) == ["file", "tar"])
    let file = try #require(report.processes.first)
    #expect(file.files == 1)
    #expect(file.bytes == 1_000_000)
    #expect(file.failures == 1)
    #expect(file.refusals == 1)
    #expect(file.use.headerOnly == 1)
    #expect(file.use.openedNotRead == 1)
    // Of equally many the more wasteful word.
    #expect(file.verdict == "opened_not_read")
    let tar = try #require(report.processes.last)
    #expect(tar.exe == "/bin/tar")
    #expect(tar.pidCount == 2)
    #expect(tar.pids == [11, 12])
    #expect(tar.startedBy == ProcessSummary.Ancestor(pid: 10, comm: "sh", exe: "/bin/dash"))
    #expect(tar.ancestors.map(\.comm) == ["sh"])
    #expect(tar.files == 3)
    #expect(tar.directories == 3)
    #expect(tar.bytes == 5_000)
    #expect(tar.blocked.waits == 6)
    #expect(tar.blocked.sumNanoseconds == 3 * 500 + 8_000 + 1_000)
    #expect(tar.blocked.wallNanoseconds == 7_500)
    #expect(tar.use.whole == 1)
    #expect(tar.use.inPart == 1)
    #expect(tar.use.readAgainAfterEviction == 1)
    #expect(tar.verdict == "read_again_after_eviction")
  }

  @Test func use() throws {
    let use = try report(Self.log).use
    #expect(use.whole == 1)
    #expect(use.inPart == 1)
    #expect(use.headerOnly == 1)
    #expect(use.openedNotRead == 1)
    #expect(use.readAgainAfterEviction == 1)
    #expect(use.needlessFiles == 1)
    #expect(use.needlessBytes == 1_000_000)
  }

  @Test func anAttemptWhoseWaitsAreNotOverHasFinished() throws {
    var log = LogText()
    log.mounted()
    log.started(1, "f", size: 10, by: 1, at: 1_000)
    log.add("wait.started", at: 1_000, #""attempt":1,"process":1,"tid":7,"trigger":"read""#)
    log.finished(1, "f", bytes: 10, by: 1, blocked: 1_000, at: 2_000)
    #expect(try report(log).completeness.unfinishedAttempts == 0)
    log.started(2, "g", size: 10, by: 1, at: 3_000)
    #expect(try report(log).completeness.unfinishedAttempts == 1)
  }

  /// 5 % is the most; what is read of a file of 1,000,000 bytes decides.
  @Test(arguments: [(0, 1), (50_000, 1), (50_001, 0), (500_000, 0), (1_000_000, 0)])
  func needlessIsAFileOfWhichAtMostATwentiethWasRead(covered: Int, needless: Int64) throws {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "head", exe: "/bin/head")
    log.started(1, "f", size: 1_000_000, by: 1, at: 1_000)
    log.waited(1, by: 1, from: 1_000, to: 2_000)
    log.finished(1, "f", bytes: 1_000_000, by: 1, blocked: 1_000, at: 2_000)
    log.closed("f", by: 1, size: 1_000_000, covered: covered, at: 3_000)
    let use = try report(log).use
    #expect(use.needlessFiles == needless)
    #expect(use.needlessBytes == needless * 1_000_000)
  }

  @Test func placesAndChains() throws {
    let report = try report(Self.log)
    #expect(report.longestDirectoryChain == SummaryReport.Chain(length: 3, path: "a/b", durationNanoseconds: 1_500))
    #expect(report.repeated == SummaryReport.Repeated(items: 2, attemptsMax: 2, path: "bad"))
    #expect(report.topLevelDirectories.map(\.path) == [".", "a"])
    #expect(report.topLevelDirectories[0].bytes == 1_000_000)
    #expect(report.topLevelDirectories[0].directories == 1)
    #expect(report.topLevelDirectories[1].files == 3)
    #expect(report.topLevelDirectories[1].bytes == 5_000)
    #expect(report.topLevelDirectories[1].blockedNanoseconds == 2 * 500 + 8_000 + 1_000)
  }

  @Test func sectionsPerMark() throws {
    let sections = try report(Self.log).sections
    #expect(sections.map(\.label) == [nil, "second"])
    #expect(sections.map(\.files) == [2, 2])
    #expect(sections.map(\.bytes) == [3_000, 1_002_000])
    #expect(sections.map(\.failures) == [0, 1])
    #expect(sections[0].requestsReachingTheVolume == ["lookup": 10, "open": 2])
    #expect(sections[1].requestsReachingTheVolume == ["lookup": 30, "open": 7])
  }

  @Test func nothingMaterializedIsAnAnswer() throws {
    var log = LogText()
    log.mounted()
    log.add(
      "volume.counters", at: 9, #""requests_reaching_the_volume":{"lookup":4812,"getattr":3},"items":{"files":0}"#)
    let report = try report(log)
    #expect(SummaryText.lines(report, width: 80).first == "0 files materialized, 4,812 lookups, 0 opens")
    #expect(report.blocked.parallelism == nil)
  }

  @Test func whatWasChangedIsCountedAndForgottenAtTheEnd() throws {
    var log = LogText()
    log.mounted()
    let changes = #""changes":{"dirty_files":1,"dirty_bytes":13,"names_made":2,"names_removed":0}"#
    log.add("volume.counters", at: 5, changes)
    func line() throws -> String? {
      SummaryText.lines(try report(log), width: 200).first { $0.hasPrefix("changes") }
    }
    #expect(try line() == "changes    1 file written (13 B), 2 names made, 0 names removed")
    log.add("volume.unmounted", at: 9, changes)
    #expect(try line() == "changes    1 file written (13 B), 2 names made, 0 names removed; forgotten")
  }

  @Test func whatAVolumeKeepsIsNotForgotten() throws {
    var log = LogText()
    log.add("volume.mounted", at: 0, #""source":"/s","mountpoint":"/m","options":{"state":"/d"},"pid":1"#)
    log.add(
      "volume.unmounted", at: 9,
      #""reason":"signal","changes":{"dirty_files":1,"dirty_bytes":13,"names_made":2,"names_removed":0}"#)
    let told = "1 file written (13 B), 2 names made, 0 names removed, of what was looked into since the mount"
    #expect(SummaryText.lines(try report(log), width: 200).contains("changes    \(told)"))
  }

  @Test func rulesThatNeverFiredAreNamed() throws {
    var log = LogText()
    log.mounted()
    let rules = [("busy", 7, 7), ("typo", 0, 0), ("late", 3, 0)].map {
      #"{"name":"\#($0.0)","attempts":\#($0.1),"decided":\#($0.2)}"#
    }
    log.add(
      "volume.unmounted", at: 9, #""rules":{"count":3,"never_fired":2,"rules":[\#(rules.joined(separator: ","))]}"#)
    let report = try report(log)
    #expect(report.rules?.unused.map(\.name) == ["typo", "late"])
    let text = SummaryText.lines(report, width: 200).joined(separator: "\n")
    #expect(
      text.contains(
        "rules      2 of 3 never fired: typo 0 attempts; late 3 attempts, but rules before it say it all"))
  }

  @Test func ofManyRulesThoseThatNeverFiredAreListedFirst() {
    let all = (0..<3000).map { RuleCount(name: "r\($0)", attempts: 1, decided: $0 < 2500 ? 1 : 0) }
    let counts = RuleCounts(all)
    #expect(counts.count == 3000)
    #expect(counts.neverFired == 500)
    #expect(counts.rules.count == RuleCounts.listedMax)
    #expect(counts.unused.map(\.name) == (2500..<3000).map { "r\($0)" })
  }

  @Test func lostRecordsAreCounted() throws {
    var log = LogText()
    log.mounted()
    log.sequence = 14  // The next record, number 15, stands for 14 lost ones: 2...15.
    log.add("log.dropped", at: 1, #""count":14"#)
    log.add("mark", at: 2, #""label":"x""#)
    log.sequence += 3
    log.add("mark", at: 3, #""label":"y""#)
    let report = try report(log, malformed: 1)
    #expect(report.completeness.lostRecords == 17)
    #expect(!report.completeness.isComplete)
    let text = SummaryText.lines(report, width: 200).joined(separator: "\n")
    #expect(text.contains("incomplete: 17 records lost, incomplete: 1 line is not a record"))
  }

  /// Only what may be of a session makes it incomplete: seq says whether a record of it is missing.
  @Test func tornLinesOfOtherSessionsAreTheirs() throws {
    var first = LogText()
    first.mounted()
    var second = LogText()
    second.session = "ba9876543210"
    second.mounted(at: 10)
    second.add("mark", at: 11, #""label":"x""#)
    second.add("volume.unmounted", at: 12, #""reason":"unmount""#)
    let torn = #"{"v":1,"seq":2,"sess"#
    func completeness(_ lines: [String], _ session: String? = nil) throws -> SummaryReport.Completeness {
      let file = try TemporaryFile(bytes(lines.joined(separator: "\n") + "\n"))
      return try SummaryReport.load(log: file.path, session: session).completeness
    }
    let whole = try completeness(first.lines + [torn] + second.lines)
    #expect(whole.isComplete && whole.malformedLines == 0 && whole.earlierSessions == 1)
    let earlier = try completeness(first.lines + [torn] + second.lines, first.session)
    #expect(!earlier.isComplete && earlier.malformedLines == 1 && earlier.isEndMissing)
    // Between its own records, of another volume that writes the same file.
    #expect(try completeness(second.lines[..<1] + [torn] + second.lines[1...]).isComplete)
    let lost = try completeness(second.lines[..<1] + [torn] + second.lines[2...])
    #expect(!lost.isComplete && lost.malformedLines == 1 && lost.lostRecords == 1)
    #expect(try completeness(second.lines + [torn]).isComplete, "behind its end")
    #expect(try !completeness(second.lines[..<2] + [torn]).isComplete)
    #expect(try completeness(Array(second.lines[1...])).lostRecords == 1, "numbers begin at 1")
  }

  @Test func aSecondSessionInOneFileStartsAnew() throws {
    var log = Self.log
    log.session = "ba9876543210"
    log.sequence = 0
    log.mounted(at: 1_000_000)
    log.started(1, "z", size: 5, by: 2, at: 1_000_001)
    let report = try report(log)
    #expect(report.session == "ba9876543210")
    #expect(report.completeness.isEndMissing)
    #expect(report.materialized.files == 0)
    #expect(report.completeness.earlierSessions == 1)
    #expect(report.completeness.unfinishedAttempts == 1)
    #expect(report.completeness.lostRecords == 0)
    #expect(report.processes.isEmpty)
  }

  @Test func oneSessionOfAFileThatTwoVolumesWrite() throws {
    var mixed = LogText()
    mixed.mounted()
    var other = LogText()
    other.session = "ba9876543210"
    other.mounted()
    other.started(1, "z", size: 5, by: 2, at: 10)
    other.finished(1, "z", bytes: 5, by: 2, at: 20)
    mixed.started(1, "a", size: 7, by: 2, at: 12)
    mixed.finished(1, "a", bytes: 7, by: 2, at: 22)
    let lines = [mixed.lines[0], other.lines[0], mixed.lines[1], other.lines[1], mixed.lines[2], other.lines[2]]
    func bytesMaterialized(_ session: String?) throws -> Int64 {
      var builder = SummaryBuilder(session: session)
      for line in lines { builder.add(try #require(LogRecord(line: bytes(line)))) }
      let report = builder.finish(log: [], isMounted: true)
      #expect(report.completeness.isComplete)
      return report.materialized.bytes
    }
    #expect(try bytesMaterialized("0123456789ab") == 7)
    #expect(try bytesMaterialized("ba9876543210") == 5)
    #expect(try bytesMaterialized(nil) == 5)
  }

  @Test func aLogWithoutAnEndIsIncompleteUnlessItsVolumeLives() throws {
    var log = LogText()
    log.mounted()
    var builder = SummaryBuilder()
    for line in log.lines { builder.add(try #require(LogRecord(line: bytes(line)))) }
    let alive = builder.finish(log: [], isMounted: true)
    #expect(alive.completeness.isComplete)
    let dead = builder.finish(log: [])
    #expect(!dead.completeness.isComplete)
    let text = SummaryText.lines(dead, width: 200)
    #expect(text.first == "0 files materialized")
    #expect(text.contains { $0.contains("not known: the log has no counters") })
    #expect(text.contains { $0.contains("the daemon was killed") })
  }

  @Test func countersWithoutRequestsAreNone() throws {
    var log = LogText()
    log.mounted()
    log.add("volume.unmounted", at: 9, #""reason":"unmount","requests_reaching_the_volume":{},"items":{"files":0}"#)
    let text = SummaryText.lines(try report(log), width: 80)
    #expect(text.first == "0 files materialized, 0 lookups, 0 opens")
    #expect(text.contains("requests   none"))
  }

  @Test func aFileWithoutARecordIsNoLog() throws {
    for content in ["", "no log\n", "{\"a\":"] {
      let file = try TemporaryFile(bytes(content))
      #expect { try SummaryReport.load(log: file.path) } throws: { ($0 as? ControlError)?.code == .malformed }
    }
  }

  @Test func budgetsOfRun() throws {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "tar", exe: "/bin/tar")
    log.add("run.started", at: 1, #""command":["tar","c f"],"pid":10"#)
    log.add(
      "budget.exceeded", at: 2, #""budget":"files","limit":1,"used":2,"attempt":3,"path":"a","process":1,"tid":10"#)
    log.add("run.finished", at: 3, #""signal":"SIGKILL","budgets":{}"#)
    let run = try #require(try report(log).run)
    #expect(run.command == ["tar", "c f"])
    #expect(run.signal == "SIGKILL")
    #expect(run.exceeded == SummaryReport.Excess(budget: "files", limit: 1, used: 2, path: "a", process: "tar[10]"))
  }

  @Test func refusedItemsCountOnceAndHeldTimeOfAllEnds() throws {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "tar", exe: "/bin/tar")
    log.process(2, pid: 11, "find", exe: "/bin/find")
    for (process, path, kind) in [(1, "a", "file"), (1, "a", "file"), (2, "a", "file"), (2, "d", "directory")] {
      log.add(
        "materialization.refused", at: 5,
        #""path":"\#(path)","kind":"\#(kind)","size":1000,"trigger":"read","errno":"EDEADLK","process":\#(process),"#
          + #""requested_delay_ns":200"#)
    }
    log.add("materialization.held", at: 6, #""attempt":1,"path":"b","gate":"g","rule":"r""#)
    log.add(
      "materialization.finished", at: 9, #""attempt":1,"path":"b","kind":"file","outcome":"cancelled","held_ns":3"#)
    let report = try report(log)
    #expect(report.materialized.refusals == 4)
    #expect(report.refused == .init(files: 1, directories: 1, bytes: 1000, delayNanoseconds: 400))
    #expect(report.held == .init(attempts: 1, heldNanoseconds: 3))
    let tar = try #require(report.processes.first { $0.comm == "tar" })
    #expect(tar.refusals == 2 && tar.refused == .init(files: 1, directories: 0, bytes: 1000, delayNanoseconds: 200))
    let text = SummaryText.lines(report, width: 200).joined(separator: "\n")
    #expect(text.contains("EDEADLK 4; would have materialized 1 file (1000 B) and 1 directory"))
    #expect(text.contains("held       1 attempt by gates, 3 ns altogether"))
  }

  @Test(arguments: [2, 3]) func aNewVersionThatIsReadIsNotReadAgain(attempts: Int) throws {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "tar", exe: "/bin/tar")
    for (attempt, change) in [(1, true), (2, false), (3, false)].prefix(attempts) {
      let start = Int64(attempt) * 1_000
      log.started(attempt, "a", size: 10, by: 1, at: start)
      log.waited(attempt, by: 1, from: start, to: start + 10)
      log.finished(attempt, "a", bytes: 10, by: 1, blocked: 10, at: start + 10)
      guard attempt < attempts else { break }
      if change {
        log.add("source.changed", at: start + 20, #""path":"a","kind":"file","change":"changed","by":"poll""#)
      }
      let by = change ? "source" : "rule:idle"
      log.add("eviction.finished", at: start + 30, #""path":"a","kind":"file","bytes":10,"by":"\#(by)""#)
    }
    let report = try report(log)
    let evicted = Int64(attempts - 2)
    #expect(report.evictions == .init(files: evicted, directories: 0, bytes: 10 * evicted, refused: 0))
    let tar = try #require(report.processes.first { $0.comm == "tar" })
    #expect(tar.use.readAgainAfterEviction == evicted, "the third time; the second one was another version")
  }

  @Test func accessesAreCountedApartFromWaits() throws {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "tar", exe: "/bin/tar")
    log.process(2, pid: 11, "tar", exe: "/bin/tar")
    log.process(3, pid: 12, "cat", exe: "/bin/cat")
    var number = 0
    func access(_ operation: String, by process: Int, from start: Int64, to end: Int64?, _ outcome: String = "ok") {
      number += 1
      let fields = #""access":\#(number),"operation":"\#(operation)","path":"a","kind":"file","process":\#(process)"#
      log.add("access.started", at: start, fields)
      guard let end else { return }
      log.add("access.finished", at: end, fields + #","blocked_ns":\#(end - start),"outcome":"\#(outcome)""#)
    }
    access("read", by: 1, from: 1_000, to: 3_000)
    access("read", by: 2, from: 2_000, to: 4_000)
    access("read", by: 3, from: 5_000, to: 6_000, "EINTR")
    access("getattr", by: 3, from: 7_000, to: 7_500)
    access("getattr", by: 3, from: 8_000, to: nil)
    log.add("mark", at: 9_000, #""label":"x""#)
    let report = try report(log)
    #expect(report.access.map(\.operation) == ["read", "getattr"])
    let read = try #require(report.access.first)
    #expect((read.blocked.waits, read.blocked.sumNanoseconds, read.blocked.wallNanoseconds) == (3, 5_000, 4_000))
    #expect((read.blocked.longestNanoseconds, read.failures) == (2_000, 1))
    #expect(read.callers.map(\.comm) == ["tar", "cat"])
    #expect(read.callers.map(\.calls) == [2, 1])
    #expect((report.access[1].blocked.underWay, report.access[1].blocked.sumNanoseconds) == (1, 1_500))
    #expect(report.blocked == SummaryReport.Blocked(), "they are in no other number")
    #expect(report.processes.isEmpty)
    let text = SummaryText.lines(report, width: 200).filter { $0.hasPrefix("access") }
    #expect(text.count == 2)
    #expect(
      text[0].hasPrefix("access     read: ") && text[0].contains("3 calls (1 failed)") && text[0].contains("by tar ("))
  }

  @Test func missingFieldsAreNoError() throws {
    var log = LogText()
    for type in [
      "materialization.started", "materialization.finished", "materialization.refused", "materialization.held",
      "wait.started", "wait.finished", "access.started", "access.finished",
      "coordination.started", "coordination.granted", "coordination.finished", "presenter.started",
      "presenter.answered", "presenter.finished",
      "handle.closed", "handle.open", "handle.unseen", "eviction.finished", "eviction.refused", "source.changed",
      "refresh.finished", "item.created", "item.renamed", "item.removed", "item.changed", "item.written", "item.purged",
      "conflict.found", "conflict.resolved",
      "mark",
      "process.seen", "volume.counters",
      "volume.mounted", "volume.unmounted", "log.dropped", "budget.exceeded", "run.started", "run.finished", "",
    ] {
      log.add(type, at: 1)
      log.add(type, at: 1, #""attempt":"x","path":7,"process":null,"bytes":-1,"waiters":{},"size":null,"kind":[]"#)
    }
    _ = SummaryText.lines(try report(log), width: 80)
  }

  @Test func absurdNumbersDoNotTrap() throws {
    var log = LogText()
    log.mounted(at: .min + 1)
    log.process(1, pid: 10, "tar", exe: "/bin/tar")
    for (attempt, number) in [(1, Int64.max), (2, .max), (3, .min + 1), (4, .min + 1)] {
      log.started(attempt, "a", size: Int(number), by: 1, at: number)
      log.waited(attempt, by: 1, from: 0, to: number)
      log.finished(attempt, "a", bytes: Int(number), by: 1, blocked: number, at: number)
      log.started(attempt, "d", kind: "directory", by: 1, at: number)
      log.finished(attempt, "d", kind: "directory", by: 1, blocked: number, at: number)
      log.closed("a", by: 1, size: Int(number), covered: Int(number), at: number)
      log.add(
        "handle.closed", at: number,
        #""path":"a","size":\#(number),"covered_bytes":7,"mapped_bytes":\#(number),"high_water_mark":\#(number),"#
          + #""ranges":[[0,1],[\#(number),\#(number)],[5,9223372036854775807],[1],[],7]"#)
      log.add("eviction.finished", at: number, #""path":"a","kind":"file","bytes":\#(number),"by":"command""#)
      log.add("log.dropped", at: number, #""count":\#(number)"#)
      log.add("wait.started", at: number, #""attempt":99,"process":1"#)
      log.add("access.started", at: number, #""access":\#(attempt),"operation":"read","process":1"#)
      log.add("access.finished", at: number, #""access":9,"operation":"read","blocked_ns":\#(number),"outcome":"ok""#)
    }
    let report = try report(log)
    _ = SummaryText.lines(report, width: 80)
    #expect(report.blocked.underWay == 4)
  }
}
