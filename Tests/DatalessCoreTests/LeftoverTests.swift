@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// What is over leaves nothing behind that waits for its time.
@Suite struct LeftoverTests {
  private func fixture(_ files: [String: Int], _ change: (inout Simulation) -> Void) -> EngineFixture {
    var configuration = EngineConfiguration()
    change(&configuration.simulation)
    let fixture = EngineFixture(ScriptedStore(files), configuration)
    for path in files.keys.sorted() { _ = fixture.node(path) }
    return fixture
  }

  @Test func anAttemptThatIsOverLeavesNoTimer() {
    let fixture = fixture(["a": 10]) { $0.giveUpAfter = 3_600_000_000_000 }
    let node = fixture.node("a")
    for _ in 0..<100 {
      fixture.trigger(node)
      fixture.lane.runAll()
      fixture.engine.evict(node, by: "test") { _ in }
      fixture.lane.runAll()
    }
    #expect(fixture.timer.pending == 0)
  }

  @Test func aCallerThatLeavesADelayLeavesNoTimer() {
    let fixture = fixture(["a": 10]) {
      $0.giveUpAfter = 3_600_000_000_000
      $0.latency = LatencyModel(.fixed(3_600_000_000_000))
    }
    for _ in 0..<100 {
      let waiter = fixture.makeWaiter()
      fixture.trigger(fixture.node("a"), waiter: waiter)
      #expect(fixture.timer.pending == 2)
      fixture.engine.leave(waiter, FSError(.interrupted, "killed"))
    }
    #expect(fixture.timer.pending == 0)
  }

  /// It ends now, and gives back its descriptors, not when the line would have carried its next part.
  @Test(arguments: [Hydration.full, .progressive]) func aCancelledFetchDoesNotWaitForTheLine(hydration: Hydration) {
    let fixture = fixture(["a": 1 << 20]) {
      $0.bandwidth = 1 << 17
      $0.hydration = hydration
    }
    let waiter = fixture.makeWaiter()
    fixture.trigger(fixture.node("a"), waiter: waiter)
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 3000) { fixture.lane.runAll() }
    #expect(fixture.content.openWriters == 1 && fixture.timer.pending == 1)
    fixture.engine.leave(waiter, FSError(.interrupted, "killed"))
    #expect(fixture.timer.pending == 0)
    fixture.lane.runAll()
    #expect(fixture.content.openWriters == 0)
  }

  @Test func anEvictionOfAnOpenFileIsForgottenWhenItWasRefused() {
    let fixture = fixture(["a": 10]) { _ in }
    let node = fixture.node("a")
    fixture.trigger(node)
    fixture.lane.runAll()
    _ = fixture.engine.open(node, process: .unknown, openFlags: 0)
    let refused = Atomic<Int>(0)
    for _ in 0..<100 {
      fixture.engine.evict(node, by: "test") { if case .refused = $0 { refused.add(1, ordering: .relaxed) } }
      fixture.timer.advance(milliseconds: 300)
    }
    #expect(refused.load(ordering: .relaxed) == 100)
    #expect(fixture.engine.state.withLock { $0.openFiles.closeWaiterCount } == 0)
    #expect(fixture.timer.pending == 0)
  }

  @Test func whoHasSeenEnoughAtAGateLeavesNoTimer() {
    var rule = Rule(name: "hold", match: RuleMatch(), effects: RuleEffects())
    rule.match.kind = .file
    rule.effects.gate = "g"
    let fixture = fixture(["a": 10]) { $0.rules = RuleSet([rule]) }
    let seen = Atomic<Int>(0)
    let deadline = fixture.timer.now + 3_600_000_000_000
    fixture.engine.waitForCallers(1, at: "g", until: deadline) { _ in seen.add(1, ordering: .relaxed) }
    fixture.trigger(fixture.node("a"))
    #expect(seen.load(ordering: .relaxed) == 1)
    #expect(fixture.timer.pending == 0)
  }
}
