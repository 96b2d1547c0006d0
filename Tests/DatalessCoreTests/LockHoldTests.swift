@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// What is done under one hold of the engine's lock does not grow with how many wait: counted in records, and in holds.
@Suite struct LockHoldTests {
  private static let count = 1_000

  private func fixture(
    gate: String? = nil, fault: Fault? = nil, _ edit: (inout Simulation) -> Void = { _ in }
  ) -> (EngineFixture, [NodeID]) {
    var rule = Rule(name: "r", match: RuleMatch(), effects: RuleEffects())
    rule.match.kind = .file
    rule.effects.gate = gate
    rule.effects.fault = fault
    var configuration = EngineConfiguration()
    configuration.simulation.rules = RuleSet([rule])
    edit(&configuration.simulation)
    let files = Dictionary(uniqueKeysWithValues: (0..<Self.count).map { ("f\($0)", 10) })
    let fixture = EngineFixture(ScriptedStore(files), configuration)
    return (fixture, (0..<Self.count).map { fixture.node("f\($0)") })
  }

  /// The largest number of records of a kind under one hold.
  private func most(_ kind: String, in fixture: EngineFixture, of work: () -> Void) -> Int {
    fixture.events.clear()
    fixture.events.setHold { [engine = fixture.engine] in engine.state.holds }
    work()
    var counts: [UInt64: Int] = [:]
    for (recorded, hold) in zip(fixture.events.kinds, fixture.events.holds) where recorded == kind {
      counts[hold, default: 0] += 1
    }
    #expect(counts.values.reduce(0, +) == Self.count, "each is recorded once")
    return counts.values.max() ?? 0
  }

  private func holds(_ fixture: EngineFixture, of work: () -> Void) -> UInt64 {
    let before = fixture.engine.state.withLock { _ in fixture.engine.state.holds }
    work()
    return fixture.engine.state.withLock { _ in fixture.engine.state.holds } - before
  }

  @Test func theEndOfTheVolumeEndsAPieceAtATime() {
    let (fixture, nodes) = fixture(gate: "g")
    let answers = nodes.map { fixture.trigger($0) }
    let most = most("finished", in: fixture) { fixture.engine.end(FSError(.timedOut, "the volume ends")) }
    #expect(most <= Engine.pieceSize)
    #expect(answers.allSatisfy { $0.errno == "ETIMEDOUT" && $0.count == 1 })
    #expect(fixture.events.finished.map(\.attempt) == fixture.events.finished.map(\.attempt).sorted())
    #expect(fixture.engine.state.withLock { $0.attempts.isIdle })
  }

  /// Of what waits for a slot nothing is begun that is about to be ended.
  @Test func theEndOfTheVolumeStartsNothing() {
    let (fixture, nodes) = fixture { $0.concurrency = 1 }
    let answers = nodes.map { fixture.trigger($0) }
    fixture.engine.end(FSError(.timedOut, "the volume ends"))
    #expect(answers.allSatisfy { $0.errno == "ETIMEDOUT" && $0.count == 1 })
    #expect(fixture.lane.waiting == 1, "the one that had the slot, which finds itself cancelled")
    fixture.lane.runAll()
    #expect(fixture.store.opens.load(ordering: .relaxed) == 0)
  }

  @Test(arguments: ["open", "release", "fail", "path", "configuration"])
  func whatAGateHoldsIsLetGoAPieceAtATime(how: String) throws {
    let (fixture, nodes) = fixture(gate: "g")
    let answers = nodes.map { fixture.trigger($0) }
    let all = try #require(PathPattern(Array("f*".utf8)))
    var released: Int?
    let engine = fixture.engine
    let most = most("released", in: fixture) {
      switch how {
      case "open": released = try? engine.setGate("g", isOpen: true, by: "test").get()
      case "release": released = try? engine.release(gate: "g", .all, .proceed, by: "test").get()
      case "fail": released = try? engine.release(gate: "g", .all, .fail(FSError(.noSpace, "x")), by: "test").get()
      case "path": released = try? engine.release(gate: "g", .path(all), .proceed, by: "test").get()
      default:
        engine.apply(Simulation(), restartsClock: false)
        released = Self.count
      }
    }
    #expect(released == Self.count)
    #expect(most <= Engine.pieceSize)
    fixture.lane.runAll()
    #expect(answers.allSatisfy { $0.count == 1 && $0.errno == (how == "fail" ? "ENOSPC" : nil) })
    #expect(engine.gates().allSatisfy { $0.callers == 0 && $0.attemptCount == 0 })
  }

  /// A gate that no rule names, and then again: what it held goes on, and counts as nobody at the new one.
  @Test func aGateThatComesBackHoldsNothingOfTheOldOne() {
    let (fixture, nodes) = fixture(gate: "g")
    let waiters = nodes.map { _ in fixture.makeWaiter() }
    for (node, waiter) in zip(nodes, waiters) { fixture.trigger(node, waiter: waiter) }
    let simulation = fixture.engine.simulation
    let (_, released) = fixture.engine.state.withLock { state in
      let gone = state.gates.setNames([])
      _ = state.gates.setNames(simulation.rules.gates)
      return gone
    }
    #expect(released.map(\.held.count) == [Self.count])
    fixture.engine.leave(waiters[0], FSError(.interrupted, "killed"))
    #expect(fixture.engine.gates().map(\.callers) == [0])
    let held = released[0].held.sorted()
    #expect(fixture.engine.release(held, from: "g", .proceed, by: "configuration") == Self.count - 1)
    #expect(fixture.engine.gates().map(\.callers) == [0])
  }

  /// Each fails as soon as it has a slot, and gives it to the next.
  @Test func aQueueOfFailingAttemptsIsDrainedAPieceAtATime() {
    let (fixture, nodes) = fixture(gate: "g", fault: Fault(.errno(.ioError))) { $0.concurrency = 1 }
    // The first has the slot, and the delay of another rule set.
    var slow = fixture.engine.simulation
    slow.rules = RuleSet([])
    slow.latency = LatencyModel(.fixed(1_000_000_000))
    let failing = fixture.engine.simulation
    fixture.engine.apply(slow, restartsClock: false)
    let first = fixture.trigger(nodes[0])
    fixture.engine.apply(failing, restartsClock: false)
    _ = fixture.engine.setGate("g", isOpen: true, by: "test")
    let answers = nodes.dropFirst().map { fixture.trigger($0) }
    #expect(answers.allSatisfy { $0.count == 0 })
    let most = most("finished", in: fixture) {
      fixture.timer.advance(milliseconds: 1_000)
      fixture.lane.runAll()
    }
    #expect(first.isReady && answers.allSatisfy { $0.errno == "EIO" && $0.count == 1 })
    #expect(most <= Engine.pieceSize)
    #expect(fixture.engine.state.withLock { $0.slots.inUse == 0 && $0.slots.waitingCount == 0 })
  }

  @Test func whoeverLooksAtAllAttemptsLooksAtAPieceAtATime() {
    let (fixture, nodes) = fixture(gate: "g")
    for node in nodes { fixture.trigger(node) }
    let pieces = UInt64(Self.count / Engine.pieceSize)
    let status = holds(fixture) { #expect(fixture.engine.attemptsInFlight().count == Self.count) }
    #expect(status >= pieces)
    let gates = holds(fixture) { #expect(fixture.engine.gates(heldEach: .max).first?.held.count == Self.count) }
    #expect(gates >= pieces)
    #expect(
      fixture.engine.gates(heldEach: 3).first?.held.map(\.path)
        == [nodes[0], nodes[1], nodes[2]].map { node in
          fixture.engine.describe(node)?.path ?? []
        })
    // Of one with many waiters each counts.
    for _ in 0..<200 { for node in nodes.prefix(20) { fixture.trigger(node) } }
    let waiting = holds(fixture) { #expect(fixture.engine.attemptsInFlight().first?.waiterCount == 201) }
    #expect(waiting >= status + 8)
  }

  @Test func nodesThatTheKernelDoesNotKnowAreLookedAtAPieceAtATime() {
    let (fixture, nodes) = fixture()
    let holds = holds(fixture) { fixture.engine.forgetOnceKnown(nodes) }
    #expect(holds >= UInt64(Self.count / 256))
  }
}
