import DatalessCore
import SystemPackage
import Testing

/// What counts as materialized, and against the budgets of `dataless run`: content that becomes local, when it does.
@Suite struct BudgetTests {
  private func fixture(
    _ hydration: Hydration, size: Int = 200_000, maxFiles: Int64? = nil, maxBytes: Int64? = nil, rules: [Rule] = [],
    _ edit: (inout Simulation) -> Void = { _ in }
  ) -> EngineFixture {
    var configuration = EngineConfiguration()
    configuration.simulation.hydration = hydration
    configuration.simulation.rules = RuleSet(rules)
    configuration.budget = .init(maxFiles: maxFiles, maxBytes: maxBytes)
    edit(&configuration.simulation)
    return EngineFixture(ScriptedStore(["file": size]), configuration)
  }

  @discardableResult
  private func read(
    _ fixture: EngineFixture, _ offset: Int64, _ length: Int64, budgeted: Bool = true, waiter: WaiterID? = nil
  ) -> Answer {
    fixture.trigger(
      fixture.node("file"),
      TriggerRequest(
        trigger: .read, caller: EngineFixture.caller(budgeted ? 11 : 10, budgeted: budgeted), offset: offset,
        length: length), waiter: waiter)
  }

  private func pass(_ fixture: EngineFixture, milliseconds: Int64) {
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: milliseconds) { fixture.lane.runAll() }
  }

  private func failsOnceAtHalf() -> Rule {
    var rule = Rule(name: "half", match: RuleMatch(), effects: RuleEffects())
    rule.match.attempts = 1...1
    rule.match.kind = .file
    rule.effects.fault = Fault(.errno(.ioError), after: .fraction(0.5))
    return rule
  }

  private func use(_ fixture: EngineFixture) -> [Int64] {
    let totals = fixture.engine.totals
    return [totals.budgetedFiles, totals.budgetedBytes, totals.files, totals.bytes]
  }

  @Test(arguments: [Hydration.progressive, .partial])
  func whatAFailedAttemptLeavesCountsAndTheFileIsOne(hydration: Hydration) {
    let fixture = fixture(hydration, maxFiles: 0, maxBytes: 150_000, rules: [failsOnceAtHalf()])
    let failed = read(fixture, 0, 200_000)
    fixture.lane.runAll()
    #expect(failed.errno == "EIO")
    #expect(use(fixture) == [1, 100_000, 1, 100_000])
    #expect(fixture.engine.totals.exceeded.map(\.budget) == ["files"])
    #expect(fixture.engine.totals.failures == 1)
    #expect(read(fixture, 0, 200_000).count == 0)
    fixture.lane.runAll()
    #expect(use(fixture) == [1, 200_000, 1, 200_000])
    #expect(fixture.engine.totals.exceeded.map(\.budget) == ["files", "bytes"])
    #expect(fixture.events.finished.filter { $0.kind == .file }.map(\.bytes) == [100_000, 100_000])
  }

  @Test func aFailedAttemptOfWhichNothingStaysCountsForNothing() {
    let fixture = fixture(.full, maxFiles: 0, maxBytes: 0, rules: [failsOnceAtHalf()])
    #expect(read(fixture, 0, 10).count == 0)
    fixture.lane.runAll()
    #expect(use(fixture) == [0, 0, 0, 0] && fixture.engine.totals.exceeded.isEmpty)
    read(fixture, 0, 10)
    fixture.lane.runAll()
    #expect(use(fixture) == [1, 200_000, 1, 200_000])
    #expect(fixture.engine.totals.exceeded.map(\.used) == [1, 200_000])
  }

  @Test func partsThatComeAtTheSameTimeAreOneFile() {
    let fixture = fixture(.partial, maxFiles: 1) { $0.latency = LatencyModel(.fixed(5_000_000)) }
    let answers = [read(fixture, 0, 4096), read(fixture, 100_000, 100)]
    #expect(fixture.engine.attemptsInFlight().count == 2)
    pass(fixture, milliseconds: 5)
    #expect(answers.allSatisfy { $0.isReady })
    #expect(use(fixture) == [1, 8192, 1, 8192])
    #expect(fixture.engine.totals.exceeded.isEmpty)
  }

  @Test func aFileOfWhichAnotherHasAPartCountsWithTheNextPart() {
    let fixture = fixture(.partial, maxFiles: 0)
    read(fixture, 0, 4096, budgeted: false)
    fixture.lane.runAll()
    #expect(use(fixture) == [0, 0, 1, 4096])
    read(fixture, 0, 4096)
    #expect(use(fixture) == [0, 0, 1, 4096], "what is there is materialized for nobody")
    read(fixture, 8192, 4096)
    fixture.lane.runAll()
    #expect(use(fixture) == [1, 4096, 1, 8192])
    #expect(fixture.engine.totals.exceeded.map(\.budget) == ["files"])
  }

  @Test func whoJoinsIsChargedWithAllOfTheAttempt() {
    let fixture = fixture(.progressive, maxBytes: 50_000) { $0.bandwidth = 1_000_000 }
    read(fixture, 0, 4096, budgeted: false)
    pass(fixture, milliseconds: 60)
    #expect(use(fixture) == [0, 0, 1, 60_000])
    read(fixture, 190_000, 10)
    #expect(use(fixture) == [1, 60_000, 1, 60_000])
    #expect(fixture.engine.totals.exceeded.first?.caller.threadID == 11)
    pass(fixture, milliseconds: 200)
    #expect(use(fixture) == [1, 200_000, 1, 200_000])
    #expect(fixture.engine.totals.exceeded.count == 1)
  }

  /// Bytes count when they come: an attempt that goes on although nobody waits is told of by `budgetUse`.
  @Test func anAttemptThatNobodyWaitsForGoesOnCounting() {
    let fixture = fixture(.progressive, maxBytes: 100_000) { $0.bandwidth = 1_000_000 }
    #expect(fixture.engine.budgetUse.inFlight == 0)
    let answer = read(fixture, 0, 4096)
    #expect(fixture.engine.budgetUse.inFlight == 1)
    pass(fixture, milliseconds: 20)
    #expect(answer.isReady)
    #expect(use(fixture) == [1, 20_000, 1, 20_000])
    #expect(fixture.engine.budgetUse.inFlight == 1 && fixture.engine.totals.exceeded.isEmpty)
    pass(fixture, milliseconds: 200)
    #expect(use(fixture) == [1, 200_000, 1, 200_000])
    #expect(fixture.engine.budgetUse.inFlight == 0 && fixture.engine.totals.exceeded.map(\.budget) == ["bytes"])
  }

  @Test(arguments: [true, false])
  func whatCameBeforeItWasGivenUpCounts(isLeft: Bool) {
    let fixture = fixture(.progressive, maxBytes: 0) { simulation in
      simulation.bandwidth = 1_000_000
      if !isLeft { simulation.giveUpAfter = 45_000_000 }
    }
    let waiter = fixture.makeWaiter()
    let answer = read(fixture, 150_000, 50_000, waiter: waiter)
    pass(fixture, milliseconds: 40)
    #expect(answer.count == 0)
    if isLeft { fixture.engine.leave(waiter, FSError(.interrupted, "killed")) }
    pass(fixture, milliseconds: 100)
    #expect(answer.errno == (isLeft ? "EINTR" : "ETIMEDOUT"))
    let stays = fixture.events.finished.last?.bytes ?? 0
    #expect(stays > 0 && use(fixture) == [1, stays, 1, stays])
    #expect(fixture.engine.totals.exceeded.map(\.budget) == ["bytes"])
    #expect(fixture.engine.budgetUse.inFlight == 0)
  }

  @Test(arguments: Hydration.allCases)
  func anEvictedFileCountsAgain(hydration: Hydration) {
    let fixture = fixture(hydration)
    for round in 1...3 {
      read(fixture, 0, 200_000)
      fixture.lane.runAll()
      #expect(use(fixture) == [1, 200_000, 1, 200_000].map { $0 * Int64(round) })
      fixture.engine.evict(fixture.node("file"), by: "command") { _ in }
      fixture.lane.runAll()
    }
  }

  /// Its own attempt has not begun to bring anything, and is given up.
  @Test func aFileThatAnotherBringsBeforeItsTurnCountsForWhoWaited() {
    let fixture = fixture(.partial, maxFiles: 0) { $0.latency = LatencyModel(.fixed(50_000_000)) }
    let waited = read(fixture, 4096, 8192)
    var prompt = fixture.engine.simulation
    prompt.latency = LatencyModel(.fixed(0))
    fixture.engine.apply(prompt, restartsClock: false)
    let whole = read(fixture, 0, 200_000, budgeted: false)
    fixture.lane.runAll()
    #expect(waited.isReady && whole.isReady && fixture.engine.totals.cancelled == 1)
    #expect(use(fixture) == [1, 0, 1, 200_000])
    #expect(fixture.engine.totals.exceeded.map(\.budget) == ["files"] && fixture.engine.budgetUse.inFlight == 0)
  }

  /// Its own attempt has nothing left to bring, but it was what it waited for.
  @Test func aFileThatAnotherBringsMeanwhileCountsForWhoWaited() {
    let fixture = fixture(.partial, maxFiles: 0) { $0.latency = LatencyModel(.fixed(5_000_000)) }
    let own = read(fixture, 0, 8192, budgeted: false)
    fixture.timer.advance(milliseconds: 1)
    let waited = read(fixture, 4096, 8192)
    #expect(fixture.engine.attemptsInFlight().count == 2)
    let whole = read(fixture, 0, 200_000, budgeted: false)
    pass(fixture, milliseconds: 10)
    #expect([own, waited, whole].allSatisfy { $0.isReady })
    #expect(fixture.engine.totals.budgetedFiles == 1 && fixture.engine.totals.exceeded.map(\.budget) == ["files"])
  }
}
