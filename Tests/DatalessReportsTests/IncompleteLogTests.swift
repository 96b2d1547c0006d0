import DatalessControl
import Testing

@testable import DatalessReports

/// What reports say of the budgets of a run whose log does not tell all.
@Suite struct IncompleteLogTests {
  private static func run(excess: Bool = false, isFinished: Bool = true) -> LogLines {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "sh")
    log.add("run.started", at: 10, #""command":["sh"],"pid":9"#)
    log.waited(1, "a", by: 1, thread: 10, from: 20, to: 30)
    if excess {
      log.add(
        "budget.exceeded", at: 30, #""budget":"files","limit":0,"used":1,"attempt":1,"path":"a","process":1,"tid":10"#)
    }
    guard isFinished else { return log }
    let budgets = excess ? #""max_files":0,"files":1"# : #""max_files":5,"files":1"#
    let exceeded = excess ? #"{"budget":"files","limit":0,"used":1,"path":"a"}"# : ""
    log.add("run.finished", at: 40, #""exit_status":0,"budgets":{\#(budgets),"in_flight":0,"exceeded":[\#(exceeded)]}"#)
    log.unmounted(at: 50)
    return log
  }

  /// A later session that cannot be read may be the one that is meant.
  @Test func aLaterSessionOfAnotherVersionIsTold() throws {
    let later = Array(#"{"v":2,"seq":1,"session":"ffffffffffff","type":"volume.mounted"}"#.utf8) + [10]
    let whole = try ReportFolder(Self.run().bytes).export()
    #expect(whole.verdict.outcome == .passed)
    let folder = try ReportFolder(Self.run().bytes + later)
    let report = try folder.export()
    #expect(report.verdict.outcome == .unknown && report.verdict.checks.map(\.outcome) == [.unknown])
    #expect(report.verdict.checks[0].message.contains("another version"))
    let junit = try folder.text(.junit)
    #expect(junit.contains("failures=\"0\" errors=\"1\" skipped=\"1\"") && junit.contains("of version 2 of the format"))
    #expect(try XMLCheck.problem(in: junit) == nil)
    for kind in [ReportKind.markdown, .trace, .html] { #expect(try folder.text(kind).contains("does not tell all")) }
    // Who names the session means no other.
    let named = try ReportExporter.export(
      [], log: Array(folder.log.utf8), session: "0123456789ab", context: ReportContext(version: "0"))
    #expect(named.verdict.outcome == .passed && named.summary.completeness.isComplete)
    #expect(try ReportFolder(Self.run(excess: true).bytes + later).export().verdict.outcome == .failed)
  }

  @Test func aRunWithoutItsEndIsNoPass() throws {
    let folder = try ReportFolder(Self.run(isFinished: false).bytes)
    let report = try folder.export()
    #expect(report.verdict.outcome == .unknown && report.verdict.checks.map(\.name) == ["budgets"])
    #expect(try folder.text(.junit).contains("errors=\"1\" skipped=\"1\""))
    // A volume that is still mounted has a run that goes on; and who has run the command knows what was expected.
    let context = ReportContext(version: "0")
    let mounted = try ReportExporter.export([], log: Array(folder.log.utf8), isMounted: true, context: context)
    #expect(mounted.verdict.outcome == .none)
    let known = ReportContext(version: "0", scenario: "{}")
    #expect(try folder.export(context: known).verdict.outcome == .none)
  }

  /// As `check-log` has it.
  @Test(arguments: [
    ("none_left", "passed"), ("unknown", "unknown"), ("time_up", "unknown"), ("interrupted", "unknown"),
  ])
  func whatMayHaveBeenLeftMakesABudgetUnknown(end: String, outcome: String) throws {
    var log = LogLines()
    log.mounted()
    log.add("run.started", at: 10, #""command":["sh"],"pid":9"#)
    log.add(
      "run.finished", at: 40,
      #""exit_status":0,"budgets":{"max_files":5,"files":1,"in_flight":0},"children":{"end":"\#(end)","left_count":0}"#)
    log.unmounted(at: 50)
    #expect(try ReportFolder(log.bytes).export().verdict.outcome.rawValue == outcome)
  }

  /// Nothing that nobody did goes beyond a budget.
  @Test func aCommandThatCouldNotBeExecutedHoldsNoBudget() throws {
    var log = LogLines()
    log.mounted()
    log.add("run.started", at: 10, #""command":["no"],"pid":9"#)
    log.add(
      "run.finished", at: 40,
      #""exit_status":127,"not_started":"ENOENT","budgets":{"max_files":5,"files":0,"in_flight":0}"#)
    log.unmounted(at: 50)
    let folder = try ReportFolder(log.bytes)
    let verdict = try folder.export().verdict
    #expect(verdict.checks.map(\.outcome) == [.unknown] && verdict.outcome == .failed)
    #expect(verdict.checks[0].message.hasSuffix(", but the command could not be executed (ENOENT)"))
    #expect(verdict.message.hasPrefix("the command could not be executed (ENOENT); "))
  }

  @Test func aBudgetThatWasExceededBeforeTheLogEndsHasFailed() throws {
    let folder = try ReportFolder(Self.run(excess: true, isFinished: false).bytes)
    let report = try folder.export()
    #expect(report.verdict.outcome == .failed)
    #expect(report.verdict.checks.map(\.name) == ["--max-files 0", "budgets"])
    #expect(report.verdict.checks[0].violations.map(\.path) == ["a"])
    #expect(try folder.text(.junit).contains("failures=\"1\" errors=\"1\" skipped=\"1\""))
    // With its end it is told once.
    let ended = try ReportFolder(Self.run(excess: true).bytes).export()
    #expect(ended.verdict.checks.map(\.name) == ["--max-files 0"] && ended.verdict.outcome == .failed)
    #expect(ended.verdict.checks[0].message == "1 files materialized, 0 may be")
  }
}
