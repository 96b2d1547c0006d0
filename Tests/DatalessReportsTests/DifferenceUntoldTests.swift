import DatalessControl
import Testing

@testable import DatalessReports

/// Conditions of `diff --fail-on` of which complete logs do not tell enough.
@Suite struct DifferenceUntoldTests {
  /// Files that were fetched, and of which nothing was read that anybody saw.
  ///
  /// - Parameters:
  ///   - needless: Of these it is known.
  ///   - unknown: These are still open at the end.
  private static func files(needless: Int, unknown: Int = 0) -> LogLines {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "tool")
    for number in 0..<(needless + unknown) {
      log.waited(number + 1, "f\(number)", by: 1, thread: 10, from: 1_000, to: 2_000, size: 100_000)
      if number < needless {
        log.closed("f\(number)", handle: number + 1, by: 1, size: 100_000, covered: 10, at: 3_000)
      }
    }
    log.unmounted(at: 9_000)
    return log
  }

  private static func outcome(
    _ condition: String, _ before: LogLines, _ after: LogLines
  ) throws -> DifferenceCondition.Outcome {
    let difference = RunDifference(
      before: try ReportFolder(before.bytes).export([]), after: try ReportFolder(after.bytes).export([]))
    return try DifferenceCondition(parsing: condition).outcome(of: difference)
  }

  private static func amounts(needless: (Int64, Int64), unknown: (Int64, Int64)) throws -> RunDifference {
    let empty = Self.files(needless: 0).bytes
    var difference = RunDifference(
      before: try ReportFolder(empty).export([]), after: try ReportFolder(empty).export([]))
    difference.totals["needless_files"] = .init(before: needless.0, after: needless.1)
    difference.untold["needless_files"] = .init(before: unknown.0, after: unknown.1)
    return difference
  }

  @Test(
    arguments: [
      (needless: (0, 0), unknown: (0, 0), outcome: "held"), (needless: (0, 1), unknown: (0, 0), outcome: "failed"),
      (needless: (0, 0), unknown: (0, 1), outcome: "unknown"), (needless: (0, 0), unknown: (1, 0), outcome: "held"),
      (needless: (0, 1), unknown: (1, 0), outcome: "unknown"), (needless: (0, 2), unknown: (1, 0), outcome: "failed"),
      (needless: (0, 1), unknown: (0, 5), outcome: "failed"), (needless: (5, 1), unknown: (0, 4), outcome: "held"),
      (needless: (5, 1), unknown: (0, 5), outcome: "unknown"),
    ] as [(needless: (Int64, Int64), unknown: (Int64, Int64), outcome: String)])
  func filesOfWhichNobodyKnowsMayDecide(
    needless: (Int64, Int64), unknown: (Int64, Int64), outcome: String
  ) throws {
    let difference = try Self.amounts(needless: needless, unknown: unknown)
    switch try DifferenceCondition(parsing: "more-needless").outcome(of: difference) {
    case .held: #expect(outcome == "held")
    case .failed: #expect(outcome == "failed")
    case .unknown(let words):
      #expect(outcome == "unknown" && words.contains("does not tell how much was read of "), "\(words)")
    }
  }

  @Test func theyAreThoseOfTheSummaries() throws {
    let (known, open) = (Self.files(needless: 1), Self.files(needless: 0, unknown: 2))
    let (before, after) = (try ReportFolder(known.bytes).export([]), try ReportFolder(open.bytes).export([]))
    let untold = RunDifference(before: before, after: after).untold["needless_files"]
    #expect(untold == .init(before: before.summary.use.unknown, after: after.summary.use.unknown))
    #expect(try Self.outcome("more-needless", known, known) == .held)
  }

  private static func run(_ end: String) -> LogLines {
    var log = LogLines()
    log.mounted()
    log.add("run.started", at: 10, #""command":["tool"],"pid":10"#)
    log.add("run.finished", at: 8_000, #"\#(end),"budgets":{"files":0,"bytes":0,"in_flight":0}"#)
    log.unmounted(at: 9_000)
    return log
  }

  /// A second run that did nothing, or was not waited for, has not shown that it does no more.
  @Test(arguments: [
    (#""exit_status":127,"not_started":"ENOENT""#, "the command could not be executed (ENOENT)"),
    (
      #""exit_status":0,"children":{"end":"time_up"}"#,
      "processes that the command had left running were waited for no longer"
    ),
  ])
  func aRunThatWasNotDoneDecidesNothing(end: String, reason: String) throws {
    let (good, cut) = (Self.run(#""exit_status":0"#), Self.run(end))
    #expect(try Self.outcome("more-bytes", good, good) == .held)
    let words = "more-bytes: there is no more than before in what the logs tell, but the log after does not tell all"
    #expect(try Self.outcome("more-bytes", good, cut) == .unknown("\(words) (\(reason))"))
  }

  @Test func theEndsOfTheCommandsAreSaid() throws {
    let (good, killed) = (try ReportFolder(Self.run(#""exit_status":0"#).bytes), Self.run(#""signal":"SIGKILL""#))
    let difference = RunDifference(before: try good.export([]), after: try ReportFolder(killed.bytes).export([]))
    #expect(difference.before.commandEnd == "exit status 0" && difference.after.commandEnd == "SIGKILL")
    #expect(DifferenceText.lines(difference)[1].hasSuffix("; its command: SIGKILL"))
    #expect(DifferenceText.markdown(difference).contains("the command after&#58; SIGKILL\n"))
    #expect(difference.after.isComplete)
  }

  @Test func waitsOfWhichNobodyKnowsWhoseMayDecide() throws {
    func log(main: Int64, other: Int64?) -> LogLines {
      var log = LogLines()
      log.mounted()
      log.process(1, pid: 10, "tool")
      log.waited(1, "a", by: 1, thread: 10, from: 1_000, to: 1_000 + main)
      if let other {
        let caller = #""process":1,"tid":11,"main_thread":null,"trigger":"read""#
        log.add("materialization.started", at: 1_000, #""attempt":2,"path":"b","kind":"file","size":10,\#(caller)"#)
        log.add("wait.started", at: 1_000, #""attempt":2,\#(caller)"#)
        log.add("wait.finished", at: 1_000 + other, #""attempt":2,\#(caller),"blocked_ns":\#(other),"outcome":"ok""#)
        log.add(
          "materialization.finished", at: 1_000 + other,
          #""attempt":2,"path":"b","kind":"file","bytes":10,"outcome":"ok","waiters":[]"#)
      }
      log.unmounted(at: 90_000)
      return log
    }
    let condition = "longer-main-thread"
    #expect(try Self.outcome(condition, log(main: 5_000, other: nil), log(main: 5_000, other: nil)) == .held)
    #expect(try Self.outcome(condition, log(main: 5_000, other: 9_000), log(main: 5_000, other: nil)) == .held)
    for (before, after) in [
      (log(main: 5_000, other: nil), log(main: 5_000, other: 9_000)),
      (log(main: 1_000, other: 9_000), log(main: 5_000, other: nil)),
    ] {
      guard case .unknown(let words) = try Self.outcome(condition, before, after) else {
        Issue.record("no doubt")
        continue
      }
      #expect(words.hasSuffix("does not tell of 1 wait whether it was a main thread's"))
    }
  }
}
