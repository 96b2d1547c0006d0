import DatalessControl
import Testing

@testable import DatalessCommands
@testable import DatalessDaemon

@Suite("The exit status of run")
struct RunStatusTests {
  private static let within = BudgetStatus(maxFiles: 1, files: 1, bytes: 0, exceeded: [])
  private static let beyond = BudgetStatus(
    maxFiles: 1, files: 3, bytes: 0, exceeded: [BudgetExcess(budget: "files", limit: 1, used: 2, path: [])])

  private func status(
    _ result: CommandRunner.Result, _ budget: BudgetStatus?, _ children: ChildrenWait.End = .noneLeft,
    hasExpectation: Bool = false
  ) -> Int32 {
    RunStatus(
      result: result, children: ChildrenWait(end: children), budget: budget, hasExpectation: hasExpectation
    ).code
  }

  @Test func isTheCommandsUnlessABudgetOrWeFailed() {
    #expect(status(.ended(.exited(0)), Self.within) == 0)
    #expect(status(.ended(.exited(3)), Self.within) == 3)
    #expect(status(.ended(.signalled(2)), Self.within) == 130)
    #expect(status(.ended(.exited(3)), Self.beyond) == 90)
    #expect(status(.ended(.exited(0)), nil) == 125)
    #expect(status(.statusLost, Self.within) == 125)
    #expect(status(.notStarted(2), Self.within) == 127)
    #expect(status(.notStarted(13), Self.within) == 126)
    #expect(status(.notStarted(8), nil) == 126)
  }

  /// Whoever still runs could have materialized more: what was expected is not known to hold, whatever the command's
  /// own status was.
  @Test(arguments: [ChildrenWait.End.timeUp, .unknown])
  func cutShortIsNoPassWithAnExpectation(end: ChildrenWait.End) {
    #expect(status(.ended(.exited(0)), Self.within, end) == 0)
    #expect(status(.ended(.exited(0)), Self.within, end, hasExpectation: true) == 91)
    #expect(status(.ended(.exited(1)), Self.within, end, hasExpectation: true) == 91)
    #expect(status(.ended(.exited(0)), Self.beyond, end, hasExpectation: true) == 90)
  }

  /// Nobody waits for it, and nobody knows what it would have brought.
  @Test func anAttemptThatIsStillUnderWayIsNoPassWithAnExpectation() {
    let going = BudgetStatus(maxFiles: 1, files: 1, bytes: 0, inFlight: 1, exceeded: [])
    #expect(status(.ended(.exited(0)), going) == 0)
    #expect(status(.ended(.exited(0)), going, hasExpectation: true) == 91)
    #expect(status(.ended(.exited(0)), Self.within, hasExpectation: true) == 0)
    let lines = RunChildrenText.lines(ChildrenWait(end: .noneLeft), going, hasExpectation: true)
    #expect(lines.first == "left under way by the command: 1 attempt; what was still to come is not counted.")
    #expect(lines.count == 2 && lines[1].hasPrefix("cut short"))
    #expect(RunChildrenText.lines(ChildrenWait(end: .noneLeft), going, hasExpectation: false).isEmpty)
    #expect(RunChildrenText.lines(ChildrenWait(end: .noneLeft), Self.within, hasExpectation: true).isEmpty)
  }

  @Test func manyThatAreLeftAreAFewLines() {
    let left = (1...500).map { RemainingProcess(pid: 10_000_000 + $0, comm: "sleep", exe: nil, descriptor: nil) }
    var wait = ChildrenWait(end: .timeUp, left: left, notLookedAt: 7)
    wait.outsiders = left
    let lines = RunChildrenText.lines(wait, Self.within, hasExpectation: true)
    #expect(lines.count == 20 + 1 + 1 + 1 + 20 + 1)
    #expect(lines[20].contains("480 more") && lines[21].contains("7 more that could not be looked at"))
    let answer = RunChildren(wait)
    #expect(answer.left.count == 100 && answer.leftCount == 507 && answer.notLookedAt == 7)
    #expect(answer.outsiders.count == 100)
  }

  @Test func anInterruptedWaitIsNoPass() {
    #expect(status(.ended(.exited(0)), Self.within, .interrupted(15)) == 143)
    #expect(status(.ended(.exited(0)), Self.beyond, .interrupted(2), hasExpectation: true) == 130)
  }

  @Test func aRuleThatDecidedNothingIsNoPassWhenRulesAreStrict() {
    func code(_ decided: Int64, _ children: ChildrenWait.End = .noneLeft) -> Int32 {
      let rules = RuleCounts([RuleCount(name: "typo", attempts: 0, decided: decided)])
      return RunStatus(
        result: .ended(.exited(0)), children: ChildrenWait(end: children), budget: Self.within, hasExpectation: true,
        strictRules: rules
      ).code
    }
    #expect(code(1) == 0)
    #expect(code(0) == 92)
    #expect(code(0, .timeUp) == 91)
  }

  @Test func whatIsExpectedDecidesBeforeTheCommandsOwnStatus() {
    func run(
      _ verdict: Verdict.Outcome?, _ result: CommandRunner.Result = .ended(.exited(3)),
      _ budget: BudgetStatus? = Self.within,
      _ children: ChildrenWait.End = .noneLeft
    ) -> (Int32, RunStatus.Reason) {
      let status = RunStatus(
        result: result, children: ChildrenWait(end: children), budget: budget, hasExpectation: true, verdict: verdict)
      return (status.code, status.reason)
    }
    #expect(run(.held) == (3, .command))
    #expect(run(.violated) == (90, .expectationViolated) && run(.unknown) == (91, .expectationUnknown))
    #expect(run(.violated, .ended(.exited(0)), Self.beyond) == (90, .budgetExceeded))
    // Evidence is evidence, whatever else went wrong; without it, what went wrong is said first.
    #expect(run(.violated, .ended(.exited(0)), nil, .volumeEnded) == (90, .expectationViolated))
    #expect(run(.unknown, .ended(.exited(0)), nil, .volumeEnded) == (125, .failed))
    #expect(run(.unknown, .notStarted(2)) == (127, .notFound))
    #expect(run(.unknown, .ended(.exited(0)), Self.within, .timeUp) == (91, .cutShort))
    #expect(run(.violated, .ended(.exited(0)), Self.within, .interrupted(2)) == (130, .interrupted))
  }

  /// As with a report: that the answer is missing is our failure, and hides nothing that does not hold.
  @Test func anAnswerThatCannotBeWrittenHidesNothing() throws {
    func code(_ path: String?, _ verdict: Verdict.Outcome?, _ result: Int32 = 3) throws -> Int32 {
      let status = RunStatus(
        result: .ended(.exited(result)), children: ChildrenWait(end: .noneLeft), budget: Self.within,
        hasExpectation: verdict != nil, verdict: verdict)
      let destination = try path.map { try JSONDestination.open(path: Array($0.utf8)) }
      return RunCommand.write(["exit_status": 0], to: destination, of: status).code
    }
    #expect(try [nil, "/dev/null"].map { try code($0, .held) } == [3, 3])
    #expect(try ["/dev/null", "/dev/full"].map { try code($0, .violated) } == [90, 90])
    #expect(try code("/dev/full", .unknown) == 91)
    #expect(try [Verdict.Outcome.held, nil].map { try code("/dev/full", $0, 0) } == [125, 125])
  }

  /// The same of a baseline and of reports.
  @Test func whatCouldNotBeWrittenIsOurFailureWhereNothingElseIsDue() {
    func code(_ verdict: Verdict.Outcome) -> Int32 {
      var status = RunStatus(
        result: .ended(.exited(0)), children: ChildrenWait(end: .noneLeft), budget: Self.within, hasExpectation: true,
        verdict: verdict)
      status.isOutputMissing = true
      return status.code
    }
    #expect(code(.held) == 125 && code(.violated) == 90 && code(.unknown) == 91)
  }

  @Test func aVolumeThatEndedEarlyIsOurFailure() {
    #expect(status(.ended(.exited(0)), Self.within, .volumeEnded) == 125)
  }
}
