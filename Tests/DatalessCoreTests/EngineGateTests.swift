import DatalessCore
import Synchronization
import SystemPackage
import Testing

@Suite struct EngineGateTests {
  private func fixture(_ files: [String: Int], gate pattern: String = "held/*") throws -> EngineFixture {
    var rule = Rule(name: "hold", match: RuleMatch(), effects: RuleEffects())
    rule.match.paths = [try #require(PathPattern(Array(pattern.utf8)))]
    rule.match.kind = .file
    rule.effects.gate = "g"
    var configuration = EngineConfiguration()
    configuration.simulation.rules = RuleSet([rule])
    return EngineFixture(ScriptedStore(files), configuration)
  }

  @Test func aGateHoldsItsMatchesAndNothingElse() throws {
    let fixture = try fixture(["held/a": 10, "held/b": 10, "free": 10])
    let held = [fixture.node("held/a"), fixture.node("held/b")].flatMap { node in
      (0..<3).map { _ in fixture.trigger(node) }
    }
    let free = fixture.trigger(fixture.node("free"))
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 60_000)
    #expect(free.isReady)
    #expect(held.allSatisfy { $0.count == 0 })
    let gate = try #require(fixture.engine.gates().first)
    #expect(gate.name == "g" && gate.callers == 6 && gate.held.count == 2 && !gate.isOpen)
    #expect(gate.held.map(\.stage) == ["held", "held"])

    let one = try fixture.engine.release(gate: "g", .first(1), .proceed, by: "command").get()
    #expect(one == 1)
    fixture.lane.runAll()
    #expect(held.map(\.isReady) == [true, true, true, false, false, false])
    let failure = FSError(.timedOut, "released to fail")
    let rest = try fixture.engine.release(gate: "g", .all, .fail(failure), by: "command").get()
    #expect(rest == 1)
    #expect(held.suffix(3).allSatisfy { $0.errno == "ETIMEDOUT" })
    let ends = fixture.events.finished.filter { $0.path.starts(with: Array("held".utf8)) && $0.kind == .file }
    #expect(ends.map(\.held) == [60_000_000_000, 60_000_000_000])
    #expect(ends.map(\.rule) == [nil, "hold"])
    #expect(
      fixture.events.kinds.filter { $0 == "held" || $0 == "released" } == ["held", "held", "released", "released"])
  }

  @Test func whatIsNotHeldIsNotReleased() throws {
    let fixture = try fixture(["held/a": 10])
    func errno(_ result: Result<Int, FSError>) -> String? {
      if case .failure(let error) = result { error.errno.name } else { nil }
    }
    #expect(errno(fixture.engine.release(gate: "g", .all, .proceed, by: "command")) == "ESRCH")
    #expect(errno(fixture.engine.release(gate: "other", .all, .proceed, by: "command")) == "ENOENT")
    #expect(errno(fixture.engine.setGate("other", isOpen: true, by: "command")) == "ENOENT")
  }

  @Test func anOpenGateLetsAllPassUntilItIsClosed() throws {
    let fixture = try fixture(["held/a": 10, "held/b": 10, "held/c": 10])
    let first = fixture.trigger(fixture.node("held/a"))
    let released = try fixture.engine.setGate("g", isOpen: true, by: "command").get()
    #expect(released == 1)
    let second = fixture.trigger(fixture.node("held/b"))
    fixture.lane.runAll()
    #expect(first.isReady && second.isReady)
    _ = fixture.engine.setGate("g", isOpen: false, by: "command")
    let third = fixture.trigger(fixture.node("held/c"))
    fixture.lane.runAll()
    #expect(third.count == 0)
  }

  @Test func aWatcherIsToldWhenEnoughCallersAreBlocked() throws {
    let fixture = try fixture(["held/a": 10, "held/b": 10])
    let told = Mutex<[Int?]>([])
    fixture.engine.waitForCallers(3, at: "g", until: nil) { count in told.withLock { $0.append(count) } }
    let a = fixture.node("held/a")
    let waiter = fixture.makeWaiter()
    fixture.trigger(a, waiter: waiter)
    fixture.trigger(a)
    // One leaves before the third comes.
    fixture.engine.leave(waiter, FSError(.interrupted, "killed"))
    fixture.trigger(fixture.node("held/b"))
    #expect(told.withLock { $0 }.isEmpty)
    fixture.trigger(a)
    #expect(told.withLock { $0 } == [3])
    // Enough already, never enough, and no gate.
    fixture.engine.waitForCallers(2, at: "g", until: nil) { count in told.withLock { $0.append(count) } }
    let deadline = fixture.timer.now + 5_000_000
    fixture.engine.waitForCallers(9, at: "g", until: deadline) { count in told.withLock { $0.append(count) } }
    fixture.engine.waitForCallers(1, at: "none", until: nil) { count in told.withLock { $0.append(count) } }
    #expect(told.withLock { $0 } == [3, 3, nil])
    fixture.timer.advance(milliseconds: 5)
    #expect(told.withLock { $0 } == [3, 3, nil, 3])
  }

  @Test func aGateThatNoRuleNamesLetsGo() throws {
    let fixture = try fixture(["held/a": 10])
    let answer = fixture.trigger(fixture.node("held/a"))
    let told = Mutex<[Int?]>([])
    fixture.engine.waitForCallers(2, at: "g", until: nil) { count in told.withLock { $0.append(count) } }
    fixture.engine.apply(Simulation(), restartsClock: false)
    fixture.lane.runAll()
    #expect(answer.isReady)
    #expect(told.withLock { $0 } == [nil])
    #expect(fixture.engine.gates().isEmpty)
  }

  @Test func theEndOfTheVolumeAnswersHeldCallersAndWatchers() throws {
    let fixture = try fixture(["held/a": 10])
    let answers = (0..<1000).map { _ in fixture.trigger(fixture.node("held/a")) }
    let told = Mutex<[Int?]>([])
    fixture.engine.waitForCallers(2000, at: "g", until: nil) { count in told.withLock { $0.append(count) } }
    fixture.engine.end(FSError(.timedOut, "unmounted"))
    #expect(answers.allSatisfy { $0.errno == "ETIMEDOUT" && $0.count == 1 })
    #expect(told.withLock { $0 } == [nil])
  }

  @Test func theLastCallerWhoLeavesCancelsAHeldAttempt() throws {
    let fixture = try fixture(["held/a": 10])
    let waiter = fixture.makeWaiter()
    fixture.trigger(fixture.node("held/a"), waiter: waiter)
    fixture.engine.leave(waiter, FSError(.interrupted, "killed"))
    #expect(fixture.engine.gates().map(\.callers) == [0])
    #expect(fixture.engine.gates().map(\.held.count) == [0])
    #expect(fixture.events.finished.last?.outcome == .cancelled)
  }
}
