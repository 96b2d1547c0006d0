import DatalessControl
import DatalessDaemon
import Testing

@testable import DatalessCommands

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

  @Test func aVolumeThatEndedEarlyIsOurFailure() {
    #expect(status(.ended(.exited(0)), Self.within, .volumeEnded) == 125)
  }
}
