import DatalessCore
import Testing

@testable import DatalessControl

/// What intents wait for blocks no thread: it is in no finding, no sum and no bound that is about blocked time.
@Suite struct IntentWaitTests {
  /// As the daemon writes it: of no thread.
  private static let intent = FindingLog.caller { caller in
    (caller.thread, caller.isMain, caller.trigger) = (nil, nil, "coordinate")
  }

  /// A listing and four files, one after the other, each for an intent of its own.
  private static var oneByOne: FindingLog {
    var log = FindingLog()
    log.coordination("started", 1, at: 0, #""path":"d","reads":5,"writes":0,"process":1"#)
    let listing = log.begin("d", kind: "directory", at: 0, by: intent)
    log.end(listing, "d", kind: "directory", from: 0, to: 100, by: intent)
    for index in 1...4 {
      log.read("d/f\(index)", from: Int64(index) * 100, to: Int64(index) * 100 + 100, by: intent)
    }
    return log
  }

  private static func verdict(_ log: FindingLog, _ expected: [Expected]) throws -> Verdict {
    var checked = Expectations(expected)
    for line in log.log.lines { checked.add(try #require(LogRecord(line: bytes(line)))) }
    return checked.finish(log: bytes("/x.jsonl"))
  }

  @Test func theyAreNoFinding() throws {
    var log = Self.oneByOne
    log.unmount()
    for kind in [Finding.Kind.mainThread, .serial, .prefetch] {
      let finding = try log.finding(kind)
      #expect(finding.outcome == .none && finding.count == 0 && finding.reasons.isEmpty, "\(kind)")
    }
  }

  /// Neither a list nor its end: what an intent brings meanwhile is in nobody's way.
  @Test func theyAreNoPartOfAList() throws {
    var log = FindingLog()
    let brought = log.begin("x", at: 0, by: Self.intent)
    for index in 0..<3 { log.read("f\(index)", from: Int64(index) * 10, to: Int64(index) * 10 + 10) }
    log.end(brought, "x", from: 0, to: 60, by: Self.intent)
    log.unmount()
    #expect(try log.finding(.serial).places.first?.paths.map(\.path) == ["f0", "f1", "f2"])
    let verdict = try Self.verdict(log, [Expected(.maxSerialWaits, 2), Expected(.maxSerialWaits, 3)])
    #expect(verdict.expectations.map(\.outcome) == [.violated, .held])
  }

  @Test func theyAreInNoSumOfBlockedTime() throws {
    var log = Self.oneByOne
    // A call that comes while an intent's attempt is under way is blocked as any other.
    let joined = log.begin("e", at: 600, by: Self.intent)
    log.join(joined, at: 650)
    log.answer(joined, from: 650, to: 700)
    log.end(joined, "e", from: 600, to: 700, by: Self.intent)
    log.unmount()
    let report = try log.summary()
    #expect(report.blocked.waits == 1 && report.blocked.sumNanoseconds == 50 * FindingLog.millisecond)
    #expect(report.blocked.wallNanoseconds == 50 * FindingLog.millisecond && report.blocked.parallelism == 1)
    let program = try #require(report.processes.first)
    #expect(program.files == 5 && program.blocked.waits == 1, "what they bring is still the program's")
    #expect(report.mainThread.blocked.waits == 1 && report.mainThread.unknownWaits == 0)
    #expect(report.topLevelDirectories.first { $0.path == "d" }?.blockedNanoseconds == 0)
    let brought = try #require(report.coordination?.brought)
    #expect(brought.waited.waits == 6 && brought.waited.sumNanoseconds == 600 * FindingLog.millisecond)
    #expect(brought.joinedWaits == 1)
  }

  @Test func whoWaitsNowIsNoIntent() throws {
    var log = Self.oneByOne
    log.begin("held", at: 600, by: Self.intent)
    log.log.add("mark", at: 900 * FindingLog.millisecond, #""label":"now""#)
    let report = try log.summary(isMounted: true)
    #expect(report.blocked.waits == 0 && report.blocked.underWay == 0 && report.waiting.isEmpty)
    #expect(report.coordination?.brought.waited.underWay == 1)
    #expect(!SummaryText.facts(report).contains { $0.0 == "blocked" || $0.0 == "waiting" })
  }

  @Test func theyViolateNoBoundOfBlockedTime() throws {
    var log = Self.oneByOne
    log.unmount()
    let bound = FindingLog.millisecond
    let expected = [
      Expected(.maxMainThread, bound), Expected(.maxWait, bound), Expected(.maxSerialWaits, 1),
      Expected(.maxFiles, 3),
    ]
    let verdict = try Self.verdict(log, expected)
    #expect(verdict.expectations.map(\.outcome) == [.held, .held, .held, .violated])
    #expect(verdict.expectations.prefix(3).allSatisfy { $0.measured == 0 })
  }

  /// Who asks for intents by name means them, as with `dataless materialize`; a main thread they never are.
  @Test func whoNamesTheTriggerMeansThem() throws {
    var log = Self.oneByOne
    log.unmount()
    var longest = Expected(.maxWait, FindingLog.millisecond)
    longest.match.triggers = [.coordinate]
    var main = Expected(.maxMainThread, FindingLog.millisecond)
    main.match.triggers = [.coordinate]
    let verdict = try Self.verdict(log, [longest, main])
    #expect(verdict.expectations.map(\.outcome) == [.violated, .held])
    #expect(verdict.expectations[0].violationCount == 5)
  }
}
