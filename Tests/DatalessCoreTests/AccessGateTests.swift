import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Calls that need no materialization, held at gates.
@Suite struct AccessGateTests {
  private static func gated(_ change: (inout Rule) -> Void = { _ in }) -> EngineConfiguration {
    var rule = Rule(name: "hold", match: RuleMatch(), effects: RuleEffects())
    rule.effects.access.setEffect(.gate("g"), on: .open)
    change(&rule)
    return AccessCalls.configuration([.open: 1000, .getattr: 1], rules: [rule])
  }

  @Test func aGateHoldsCallsUntilTheyAreReleasedOrFail() throws {
    let fixture = EngineFixture(ScriptedStore(["a": 100, "b": 100, "c": 100]), Self.gated())
    let nodes = ["a", "b", "c"].map { fixture.node($0) }
    let seen = Mutex<[Int?]>([])
    fixture.engine.waitForCallers(3, at: "g", until: nil) { count in seen.withLock { $0.append(count) } }
    fixture.events.clear()
    let calls = try nodes.map { try #require(AccessCalls.call(fixture, .open, of: $0)) }
    #expect(AccessCalls.call(fixture, .getattr, of: nodes[0]) != nil, "of this operation the rule says nothing")
    #expect(seen.withLock { $0 } == [3])
    fixture.timer.advance(milliseconds: 60_000)
    #expect(calls.allSatisfy { $0.count == 0 }, "a gate has no end of its own")
    let gate = try #require(fixture.engine.gates().first)
    #expect((gate.callers, gate.attemptCount, gate.accessCount) == (3, 0, 3))
    #expect(gate.accesses.map { String(decoding: $0.path, as: UTF8.self) } == ["a", "b", "c"])
    #expect(gate.accesses.allSatisfy { $0.gate == "g" && $0.rule == "hold" && $0.requestedDelay == 0 })
    #expect(try fixture.engine.release(gate: "g", .first(1), .proceed, by: "command").get() == 1)
    #expect(calls.map(\.isReady) == [true, false, false])
    let pattern = try #require(PathPattern(Array("c".utf8)))
    let failure = FSError(.permissionDenied, "released to fail")
    #expect(try fixture.engine.release(gate: "g", .path(pattern), .fail(failure), by: "command").get() == 1)
    #expect(calls.map(\.errno) == [nil, nil, "EACCES"])
    #expect(try fixture.engine.setGate("g", isOpen: true, by: "command").get() == 1)
    #expect(calls.map(\.isReady) == [true, true, false])
    #expect(AccessCalls.call(fixture, .open, of: nodes[0]) == nil, "an open gate lets all pass")
    #expect(fixture.engine.gates().map(\.callers) == [0])
    let ends = AccessCalls.records(fixture).filter { $0.operation == .open }
    #expect(
      ends.map(\.blocked) == [60_000 * AccessCalls.ms, 60_000 * AccessCalls.ms, 60_000 * AccessCalls.ms])
    #expect(fixture.timer.pending == 0)
  }

  @Test func whoIsKilledAtAGateLeavesIt() throws {
    let fixture = EngineFixture(ScriptedStore(["a": 100]), Self.gated())
    let node = fixture.node("a")
    let waiter = fixture.makeWaiter()
    let killed = try #require(AccessCalls.call(fixture, .open, of: node, waiter: waiter))
    let other = try #require(AccessCalls.call(fixture, .open, of: node, thread: 11))
    fixture.signals.pending.withLock { $0[10] = .some(true) }
    fixture.engine.interrupt(waiter)
    #expect(killed.errno == "EINTR")
    #expect(fixture.engine.gates().map(\.callers) == [1])
    fixture.engine.end(FSError(.timedOut, "the volume is being unmounted"))
    #expect(other.errno == "ETIMEDOUT")
    #expect(fixture.engine.gates().map(\.callers) == [0])
  }

  @Test func aGateThatNoRuleNamesAnyMoreLetsItsCallsGo() throws {
    let fixture = EngineFixture(ScriptedStore(["a": 100]), Self.gated())
    let call = try #require(AccessCalls.call(fixture, .open, of: fixture.node("a")))
    fixture.engine.apply(Simulation(), restartsClock: false)
    #expect(call.isReady)
    #expect(fixture.engine.gates().isEmpty)
    // Attempts and accesses of one gate are released together, attempts first.
    fixture.engine.apply(
      Self.gated {
        $0.effects.gate = "g"
        $0.match.kind = .file
      }.simulation, restartsClock: false)
    let node = fixture.node("a")
    let access = try #require(AccessCalls.call(fixture, .open, of: node))
    let attempt = fixture.trigger(node)
    #expect(fixture.engine.gates().map(\.callers) == [2])
    #expect(try fixture.engine.release(gate: "g", .first(1), .proceed, by: "command").get() == 1)
    fixture.lane.runAll()
    #expect((attempt.isReady, access.count) == (true, 0))
    #expect(try fixture.engine.release(gate: "g", .all, .proceed, by: "command").get() == 1)
    #expect(access.isReady)
  }
}
