import Testing

@testable import DatalessControl

/// What a summary says of coordinated accesses, of made logs.
@Suite struct SummaryCoordinationTests {
  private static func report(_ log: LogText, now: Int64? = nil) throws -> SummaryReport {
    var builder = SummaryBuilder()
    for line in log.lines { builder.add(try #require(LogRecord(line: bytes(line)))) }
    return builder.finish(log: bytes("/x.jsonl"), isMounted: now != nil, now: now)
  }

  private static func coordination(_ log: LogText, now: Int64? = nil) throws -> SummaryReport.Coordination {
    try #require(try report(log, now: now).coordination)
  }

  /// Three programs: what the first holds the other two want.
  private static var log: LogText {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "editor", exe: "/bin/editor")
    log.process(2, pid: 12, "sync", exe: "/bin/sync")
    log.process(3, pid: 14, "viewer", exe: "/bin/viewer")
    log.intent("started", 5, by: 1, at: 1_000, path: "a", writes: 1)
    log.intent("granted", 5, by: 1, at: 1_100, path: "a", writes: 1, timesOf: (0, 0, 100))
    log.intent("started", 7, by: 2, at: 2_000, path: "a", reads: 2, waitsFor: [5])
    log.intent("started", 8, by: 3, at: 2_500, path: "d", writes: 1, waitsFor: [5, 7, 99])
    log.intent("started", 9, by: 3, at: 2_600, path: "e", writes: 1)
    log.intent("finished", 9, by: 3, at: 2_600, path: "e", writes: 1, outcome: "coordination_deadlock")
    log.intent("finished", 8, by: 3, at: 3_500, path: "d", writes: 1, outcome: "cancelled")
    log.intent("finished", 5, by: 1, at: 5_000, path: "a", writes: 1, outcome: "ok", held: 3_900)
    log.intent("granted", 7, by: 2, at: 5_300, path: "a", reads: 2, timesOf: (3_000, 100, 200))
    return log
  }

  @Test func whoWaitedForWhomIsTold() throws {
    var log = Self.log
    log.intent("started", 10, by: 3, at: 6_000, path: "a", writes: 1, waitsFor: [7])
    log.add("mark", at: 6_500, #""label":"now""#)
    let sum = try Self.coordination(log)
    #expect(sum.intents == 5 && sum.granted == 2 && sum.cancelled == 1 && sum.failed == 1 && sum.deadlocks == 1)
    #expect(sum.failures == ["coordination_deadlock": 1] && sum.takenAway == 0)
    #expect(sum.pending == 1 && sum.held == 1)
    #expect(sum.waited.waits == 3 && sum.waited.underWay == 1 && sum.waited.sumNanoseconds == 4_500)
    // From 2,000 to 5,000, and from 6,000 on.
    #expect(sum.waited.wallNanoseconds == 3_500 && sum.waited.longestNanoseconds == 3_000 && sum.unknownWaits == 0)
    #expect(sum.askingNanoseconds == 100 && sum.materializingNanoseconds == 300)
    #expect(sum.longest.map(\.intent) == [7, 8, 10])
    #expect(sum.longest.map(\.waitedNanoseconds) == [3_000, 1_000, 500])
    #expect(sum.longest.map(\.outcome) == ["granted", "cancelled", nil])
    let first = try #require(sum.longest.first)
    #expect(first.process?.comm == "sync" && first.process?.pid == 12 && first.path == "a" && first.reads == 2)
    #expect(first.waitsFor.map(\.intent) == [5] && first.waitsFor.first?.process?.comm == "editor")
    #expect(sum.longest[1].waitsFor.map(\.path) == ["a", "a", nil])
    let text = SummaryText.lines(try Self.report(log), width: 200).joined(separator: "\n")
    for line in [
      "Coordinated accesses", "intents    5: 2 granted, 1 given up, 1 failed (coordination_deadlock 1), 1 deadlock",
      "waited     for others: 4.5 us in 3 intents (1 under way), longest 3.0 us; 3.5 us of wall clock",
      "sync[12]", "to read a and 1 more", "editor[10] (intent 5), sync[12] (intent 7), unknown (intent 99)",
      "coordinated 2 of 5 intents granted; longest wait 3.0 us: sync[12] to read a and 1 more, for editor[10] (",
    ] {
      #expect(text.contains(line), "\(line) in \(text)")
    }
  }

  @Test func whoWaitsNowCountsUpToNow() throws {
    var log = Self.log
    log.intent("started", 10, by: 3, at: 6_000, path: "a", writes: 1, waitsFor: [7])
    let sum = try Self.coordination(log, now: 9_000)
    #expect(sum.longest.map(\.waitedNanoseconds) == [3_000, 3_000, 1_000] && sum.longest[1].isUnderWay)
  }

  /// Those that kept it have ended, and it was not granted: nobody knows whether it waited for others to the last.
  @Test func whatNobodyKnowsIsNoNumber() throws {
    var log = Self.log
    log.intent("started", 10, by: 3, at: 6_000, path: "a", writes: 1, waitsFor: [7])
    log.intent("finished", 7, by: 2, at: 7_000, path: "a", reads: 2, outcome: "ended", held: 1_700)
    log.intent("finished", 10, by: 3, at: 9_000, path: "a", writes: 1, outcome: "coordination_failed")
    let sum = try Self.coordination(log)
    #expect(sum.unknownWaits == 1 && sum.waited.waits == 2 && sum.longest.count == 2)
    #expect(sum.brought.sparedNanoseconds == nil)
    let text = SummaryText.lines(try Self.report(log), width: 200)
    #expect(text.contains { $0.contains("not known of 1 more") }, "\(text)")
    #expect(text.contains { $0.contains("; not known how long 1 more waited") }, "\(text)")
  }

  /// What was refused before it was an intent has the record of its end alone, and one of them may stand for many.
  @Test func refusalsThatAreOnlyCountedAreCounted() throws {
    var log = Self.log
    log.intent("finished", 20, by: 3, at: 6_000, path: "", outcome: "coordination_bad_path")
    log.add(
      "coordination.finished", at: 7_000,
      #""intent":40,"path":"","reads":0,"writes":0,"process":3,"outcome":"coordination_busy","others":18"#)
    let sum = try Self.coordination(log)
    #expect(sum.intents == 4 + 20 && sum.failed == 1 + 20)
    #expect(sum.failures == ["coordination_deadlock": 1, "coordination_bad_path": 1, "coordination_busy": 19])
    #expect(sum.brought.sparedNanoseconds != nil)
  }

  /// The volume's end lets nobody go on: who waited, waited until then.
  @Test func whoWaitedUntilTheEndOfTheVolumeIsKnown() throws {
    var log = Self.log
    log.intent("started", 10, by: 3, at: 6_000, path: "a", writes: 1, waitsFor: [7])
    for (number, held) in [(7, 3_700), (10, nil)] as [(Int, Int?)] {
      log.intent(
        "finished", number, by: 3, at: 9_000, path: "a", writes: 1, outcome: "coordination_volume_ended", held: held)
    }
    log.add("volume.unmounted", at: 9_100, #""reason":"unmount""#)
    let sum = try Self.coordination(log)
    #expect(sum.unknownWaits == 0 && sum.longest.map(\.waitedNanoseconds) == [3_000, 3_000, 1_000])
    #expect(sum.failed == 2 && sum.pending == 0 && sum.held == 0)
  }

  @Test func slowPresentersAreNamed() throws {
    var log = Self.log
    for (number, path) in [(20, "a"), (21, "d")] {
      log.add("presenter.started", at: 6_000, #""presenter":\#(number),"path":"\#(path)","process":1"#)
    }
    let answers = [(20, 300, "ok"), (21, 5_000, "timed_out"), (20, 200, "ok"), (21, 9_000, "withdrawn")]
    for (number, took, outcome) in answers {
      log.add(
        "presenter.answered", at: 6_100,
        #""presenter":\#(number),"path":"p","process":1,"intent":7,"what":"read","took_ns":\#(took),"#
          + #""outcome":"\#(outcome)""#)
    }
    log.add("presenter.finished", at: 6_200, #""presenter":20,"path":"a","process":1"#)
    let sum = try Self.coordination(log)
    #expect(sum.presenters == 2 && sum.asked == 4 && sum.answered == 2 && sum.timedOut == 1 && sum.withdrawn == 1)
    #expect(sum.slowest.map(\.presenter) == [21, 20] && sum.slowest.map(\.longestNanoseconds) == [5_000, 300])
    #expect(sum.slowest.map(\.asked) == [2, 2] && sum.slowest.map(\.sumNanoseconds) == [5_000, 500])
    #expect(sum.slowest.first?.timedOut == 1 && sum.slowest.first?.process?.comm == "editor")
    let text = SummaryText.lines(try Self.report(log), width: 200).joined(separator: "\n")
    #expect(text.contains("1 timed out, 1 withdrawn; slowest editor[10] at p, 5.0 us"), "\(text)")
    #expect(text.contains("; 1 question not answered in time by editor[10] at p"), "\(text)")
  }

  // MARK: - What it spared

  /// Three files at once for one intent; a call comes for the second meanwhile, the first is read afterwards.
  ///
  /// - Parameter more: Adds what comes before the end.
  private static func brought(observe: String, more: (inout LogText) -> Void = { _ in }) -> LogText {
    var log = LogText()
    log.add("volume.mounted", at: 0, #""source":"/s","mountpoint":"/m","options":{"observe":"\#(observe)"},"pid":1"#)
    log.process(1, pid: 10, "viewer", exe: "/bin/viewer")
    log.intent("started", 1, by: 1, at: 100, path: "a", reads: 3)
    let wait = #""process":1,"tid":null,"main_thread":null,"trigger":"coordinate""#
    for (attempt, path) in [(1, "a"), (2, "b"), (3, "c")] {
      log.started(attempt, path, size: 1_000, trigger: "coordinate", by: 1, at: 110)
      log.add("wait.started", at: 110, #""attempt":\#(attempt),\#(wait)"#)
    }
    log.add("wait.started", at: 500, #""attempt":2,"process":1,"tid":7,"main_thread":true,"trigger":"read""#)
    log.add(
      "wait.finished", at: 1_110,
      #""attempt":2,"process":1,"tid":7,"main_thread":true,"trigger":"read","blocked_ns":610,"outcome":"ok""#)
    for (attempt, path) in [(1, "a"), (2, "b"), (3, "c")] {
      log.add("wait.finished", at: 1_110, #""attempt":\#(attempt),\#(wait),"blocked_ns":1000,"outcome":"ok""#)
      log.finished(attempt, path, bytes: 1_000, by: 1, blocked: 900, at: 1_110)
    }
    log.intent("granted", 1, by: 1, at: 1_110, path: "a", reads: 3, timesOf: (0, 0, 1_010))
    log.closed("a", by: 1, size: 1_000, covered: 1_000, triggered: false, at: 2_000)
    log.closed("b", by: 1, size: 1_000, covered: 1_000, triggered: true, at: 2_000)
    log.intent("finished", 1, by: 1, at: 2_100, path: "a", reads: 3, outcome: "ok", held: 990)
    more(&log)
    log.add(
      "volume.unmounted", at: 3_000,
      #""reason":"unmount","opens":{"now":{"direct":0},"since_mount":{"direct":2}},"log_dropped":0"#)
    return log
  }

  @Test func whatIntentsBroughtAheadOfReadsIsTold() throws {
    let log = Self.brought(observe: "reads")
    let brought = try Self.coordination(log).brought
    #expect(brought.attempts == 3 && brought.files == 3 && brought.directories == 0 && brought.bytes == 3_000)
    #expect(brought.waited.waits == 3 && brought.waited.sumNanoseconds == 3_000)
    #expect(brought.waited.wallNanoseconds == 1_000 && brought.waited.parallelism == 3)
    #expect(brought.sparedNanoseconds == 2_000, "one after the other 3,000, and there were waits for 1,000")
    #expect(brought.joinedWaits == 1 && brought.joinedNanoseconds == 610)
    #expect(brought.readFiles == 1 && brought.readNanoseconds == 900 && brought.unreadFiles == 1)
    let report = try Self.report(log)
    #expect(report.mainThread.blocked.waits == 1 && report.mainThread.unknownWaits == 0, "an intent is of no thread")
    let text = SummaryText.lines(report, width: 200).joined(separator: "\n")
    #expect(text.contains("3 files (2.9 KiB) and 0 directories ahead of reads, in 3 attempts; 1 call came"), "\(text)")
    #expect(text.contains("as they came at the same time it was 1.0 us of wall clock: 2.0 us spared"), "\(text)")
    #expect(text.contains("coordinated 1 of 1 intent granted; 2.0 us spared\n"), "\(text)")
    #expect(text.contains("1 file of them afterwards, with nobody blocked: 900 ns of fetching"), "\(text)")
  }

  /// As a program asks that shows pictures: an intent for each, all at the same time, and one that comes later.
  @Test func whatCameForSeveralIntentsAtOnceIsSpared() throws {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "viewer", exe: "/bin/viewer")
    let wait = #""process":1,"tid":null,"main_thread":null,"trigger":"coordinate""#
    for (number, start) in [(1, 100), (2, 100), (3, 100), (4, 5_000)] as [(Int, Int64)] {
      log.intent("started", number, by: 1, at: start, path: "p\(number)", reads: 1)
      log.started(number, "p\(number)", size: 10, trigger: "coordinate", by: 1, at: start)
      log.add("wait.started", at: start, #""attempt":\#(number),\#(wait)"#)
      guard number > 2 else { continue }
      for ended in number == 3 ? 1...3 : 4...4 {
        let end = start + 1_000
        log.add("wait.finished", at: end, #""attempt":\#(ended),\#(wait),"blocked_ns":1000,"outcome":"ok""#)
        log.finished(ended, "p\(ended)", bytes: 10, by: 1, blocked: 900, at: end)
        log.intent("granted", ended, by: 1, at: end, path: "p\(ended)", reads: 1, timesOf: (0, 0, 1_000))
        log.intent("finished", ended, by: 1, at: end, path: "p\(ended)", reads: 1, outcome: "ok", held: 0)
      }
    }
    let sum = try Self.coordination(log)
    #expect(sum.granted == 4 && sum.materializingNanoseconds == 4_000 && sum.brought.waited.waits == 4)
    #expect(sum.brought.waited.sumNanoseconds == 4_000 && sum.brought.waited.wallNanoseconds == 2_000)
    #expect(sum.brought.sparedNanoseconds == 2_000)
    let text = SummaryText.lines(try Self.report(log), width: 200).joined(separator: "\n")
    #expect(text.contains("as they came at the same time it was 2.0 us of wall clock: 2.0 us spared"), "\(text)")
    #expect(text.contains("coordinated 4 of 4 intents granted; 2.0 us spared\n"), "\(text)")
  }

  /// Without records of all opens nobody knows what was not read; with a gap, nor what was waited for at once.
  @Test func whatTheLogDoesNotTellIsUnknown() throws {
    let brought = try Self.coordination(Self.brought(observe: "dataless")).brought
    #expect(brought.readFiles == 1 && brought.unreadFiles == nil && brought.sparedNanoseconds == 2_000)
    let gap = try Self.coordination(Self.brought(observe: "reads") { $0.sequence += 5 }).brought
    #expect(gap.readFiles == 1 && gap.unreadFiles == nil && gap.sparedNanoseconds == nil)
  }

  /// What has the name later is another file.
  @Test func aFileOfAnotherNameIsNotTakenForIt() throws {
    let log = Self.brought(observe: "reads") { log in
      log.add("item.renamed", at: 2_200, #""path":"c","old_path":"x","kind":"file","process":1"#)
      log.closed("c", by: 1, size: 1_000, covered: 1_000, triggered: false, at: 2_300)
    }
    let brought = try Self.coordination(log).brought
    #expect(brought.readFiles == 1 && brought.unreadFiles == nil)
  }

  // MARK: - Other logs

  @Test func logsWithoutCoordinationHaveNoSection() throws {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "cat", exe: "/bin/cat")
    log.started(1, "a", size: 10, by: 1, at: 10)
    log.finished(1, "a", bytes: 10, by: 1, blocked: 5, at: 15)
    let report = try Self.report(log)
    #expect(report.coordination == nil)
    #expect(!SummaryText.lines(report, width: 100).contains(CoordinationText.title))
    #expect(!SummaryText.facts(report).contains { $0.0 == "coordinated" })
    #expect(JSONObject(try WireCoding.encode(report))?.range("coordination") == nil)
  }

  /// The grant's, or the beginning's, record was lost: it counts once, and nothing is made up.
  @Test func lostRecordsMakeNoIntents() throws {
    var log = LogText()
    log.mounted()
    log.intent("granted", 1, by: 1, at: 100, path: "a", reads: 1, timesOf: (50, 0, 0))
    log.intent("finished", 1, by: 1, at: 200, path: "a", reads: 1, outcome: "ok", held: 100)
    log.intent("started", 2, by: 1, at: 300, path: "a", reads: 1, waitsFor: [1])
    log.intent("finished", 2, by: 1, at: 900, path: "a", reads: 1, outcome: "ok", held: 100)
    log.intent("finished", 3, by: 1, at: 950, path: "b", writes: 1, outcome: "coordination_busy")
    let sum = try Self.coordination(log)
    #expect(sum.intents == 3 && sum.granted == 2 && sum.failed == 1)
    #expect(sum.waited.waits == 0 && sum.unknownWaits == 1 && sum.held == 0 && sum.pending == 0)
  }

  @Test func onlyTheLongestAreKept() throws {
    var log = Self.log
    for number in 100..<200 {
      let start = Int64(number) * 100_000
      log.intent("started", number, by: 3, at: start, path: "x\(number)", writes: 1, waitsFor: [7])
      log.intent(
        "finished", number, by: 3, at: start + Int64(number % 50) * 1_000 + 5_000, path: "x", writes: 1,
        outcome: "cancelled")
    }
    let sum = try Self.coordination(log)
    #expect(sum.waited.waits == 102 && sum.longest.count == 16)
    let expected: [Int64] = (0..<16).map { rank in 54_000 - Int64(rank / 2) * 1_000 }
    #expect(sum.longest.map(\.waitedNanoseconds) == expected)
    #expect(sum.longest.prefix(2).map(\.intent) == [149, 199])
  }

  @Test func theSectionOfAnEarlierSessionIsNotCounted() throws {
    var log = Self.log
    log.session = "ba9876543210"
    log.sequence = 0
    log.mounted(at: 10_000)
    #expect(try Self.report(log).coordination == nil)
  }
}

extension LogText {
  /// A record of an intent.
  ///
  /// - Parameter timesOf: What it waited for others, for presenters, and for content.
  fileprivate mutating func intent(
    _ step: String, _ number: Int, by process: Int, at nanoseconds: Int64, path: String, reads: Int = 0,
    writes: Int = 0, waitsFor: [Int] = [], timesOf: (Int, Int, Int)? = nil, outcome: String? = nil, held: Int? = nil
  ) {
    var fields =
      #""intent":\#(number),"path":"\#(path)","reads":\#(reads),"writes":\#(writes),"process":\#(process),"#
      + #""tid":null,"main_thread":null"#
    if !waitsFor.isEmpty { fields += #","waits_for":\#(waitsFor),"waits_at":"\#(path)""# }
    if let (waited, asking, materializing) = timesOf {
      fields += #","waited_ns":\#(waited),"asking_ns":\#(asking),"materializing_ns":\#(materializing),"materialized":1"#
    }
    if let outcome { fields += #","outcome":"\#(outcome)""# }
    if let held { fields += #","held_ns":\#(held)"# }
    add("coordination.\(step)", at: nanoseconds, fields)
  }
}
