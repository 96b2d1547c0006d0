@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

@Suite struct EngineInterruptTests {
  private func slow() -> EngineFixture {
    var configuration = EngineConfiguration()
    configuration.fixedLatency = 10_000_000_000
    return EngineFixture(ScriptedStore(["a": 10]), configuration)
  }

  @Test func otherSignalsDoNotEndTheWaitButALaterFatalOneDoes() {
    let fixture = slow()
    let waiter = fixture.makeWaiter()
    let answer = fixture.trigger(fixture.node("a"), waiter: waiter)
    fixture.engine.interrupt(waiter)
    fixture.timer.advance(milliseconds: 950)
    #expect(answer.count == 0)
    fixture.signals.pending.withLock { $0[10] = .some(true) }
    fixture.timer.advance(milliseconds: 100)
    #expect(answer.errno == "EINTR")
    #expect(fixture.events.finished.last?.outcome == .cancelled)
    #expect(fixture.engine.totals.cancelled == 1)
  }

  @Test func theAttemptLivesWhileAnotherWaiterRemains() {
    let fixture = slow()
    let node = fixture.node("a")
    let first = fixture.makeWaiter()
    let killed = fixture.trigger(
      node, TriggerRequest(trigger: .read, caller: EngineFixture.caller(11)), waiter: first)
    let other = fixture.trigger(node)
    fixture.signals.pending.withLock { $0[11] = .some(true) }
    fixture.engine.interrupt(first)
    #expect(killed.errno == "EINTR")
    fixture.timer.advance(milliseconds: 10_000)
    fixture.lane.runAll()
    #expect(other.isReady)
    #expect(fixture.events.finished.last?.waiterCount == 2)
    #expect(fixture.store.opens.load(ordering: .relaxed) == 1)
  }

  /// Its request may be on its way for any time: the caller is looked at, and thousands of rules are asked.
  @Test(arguments: [0, 99, 100, 101, 10_000], [true, false])
  func anInterruptThatComesBeforeTheCallerIsParkedIsNotLost(milliseconds: Int64, hasRules: Bool) {
    let fixture = slow()
    let node = fixture.node("a")
    if hasRules {
      var simulation = fixture.engine.simulation
      simulation.rules = RuleSet([Rule(name: "r", match: RuleMatch(), effects: RuleEffects())])
      fixture.engine.apply(simulation, restartsClock: false)
    }
    let waiter = fixture.makeWaiter()
    fixture.engine.expect(waiter)
    fixture.signals.pending.withLock { $0[10] = .some(true) }
    fixture.engine.interrupt(waiter)
    fixture.timer.advance(milliseconds: milliseconds)
    let answer = fixture.trigger(node, waiter: waiter)
    #expect(answer.errno == "EINTR" && answer.count == 1)
    #expect(fixture.engine.state.withLock { $0.calls.announcedCount == 0 && $0.attempts.isIdle })
    fixture.lane.runAll()
    #expect(fixture.store.opens.load(ordering: .relaxed) == 0 && fixture.timer.pending == 0)
  }

  /// A signal that came early and is not fatal: the kernel tells of no other one, so the caller is looked at again.
  @Test func afterAnEarlyInterruptALaterFatalSignalEndsTheWait() {
    let fixture = slow()
    let node = fixture.node("a")
    let waiter = fixture.makeWaiter()
    fixture.engine.expect(waiter)
    fixture.engine.interrupt(waiter)
    fixture.timer.advance(milliseconds: 5_000)
    let answer = fixture.trigger(node, waiter: waiter)
    fixture.timer.advance(milliseconds: 950)
    #expect(answer.count == 0)
    fixture.signals.pending.withLock { $0[10] = .some(true) }
    fixture.timer.advance(milliseconds: 100)
    #expect(answer.errno == "EINTR")
  }

  @Test func anEarlyInterruptEndsACallToTheStore() {
    let fixture = slow()
    let node = fixture.node("a")
    fixture.signals.pending.withLock { $0[10] = .some(true) }
    let waiters = (0..<3).map { _ in fixture.makeWaiter() }
    for waiter in waiters {
      fixture.engine.expect(waiter)
      fixture.engine.interrupt(waiter)
    }
    fixture.timer.advance(milliseconds: 1_000)
    let interrupted = Counter()
    let count: @Sendable (Result<[UInt8], FSError>) -> Void = { result in
      if case .failure(let error) = result, error.errno == .interrupted { interrupted.add() }
    }
    fixture.engine.readLink(node, threadID: 10, waiter: waiters[0], completion: count)
    fixture.engine.extendedAttribute([65], of: node, threadID: 10, waiter: waiters[1], completion: count)
    fixture.engine.extendedAttributeNames(of: node, threadID: 10, waiter: waiters[2], completion: count)
    #expect(interrupted.value == 3)
    fixture.lane.runAll()
    #expect(interrupted.value == 3)
  }

  /// Nothing is kept of requests that have been answered, whatever is said of them later.
  @Test func interruptsOfAnsweredRequestsAreNotKept() {
    let fixture = EngineFixture(ScriptedStore(["a": 10]))
    let node = fixture.node("a")
    let waiters = (0..<1_000).map { _ in fixture.makeWaiter() }
    for waiter in waiters {
      fixture.engine.expect(waiter)
      #expect(fixture.engine.state.withLock { $0.calls.announcedCount == 1 })
      let answer = fixture.trigger(node, waiter: waiter)
      fixture.lane.runAll()
      #expect(answer.isReady)
    }
    for waiter in waiters { fixture.engine.interrupt(waiter) }
    let gone = fixture.makeWaiter()
    fixture.engine.expect(gone)
    fixture.engine.interrupt(gone)
    #expect(fixture.trigger(NodeID(rawValue: 99), waiter: gone).errno == "ESTALE")
    fixture.engine.end(FSError(.timedOut, "the volume ends"))
    for waiter in waiters.prefix(4) { fixture.engine.expect(waiter) }
    fixture.engine.readLink(node, threadID: 10, waiter: waiters[0]) { _ in }
    fixture.engine.extendedAttribute([65], of: node, threadID: 10, waiter: waiters[1]) { _ in }
    fixture.engine.waitForEviction(node, threadID: 10, waiter: waiters[2]) { _ in }
    #expect(fixture.trigger(node, waiter: waiters[3]).isReady)
    #expect(fixture.engine.state.withLock { $0.calls.announcedCount == 0 })
    #expect(fixture.timer.pending == 0)
  }

  @Test func anyModeEndsTheWaitForEverySignal() {
    var configuration = EngineConfiguration()
    configuration.fixedLatency = 1_000_000_000
    configuration.interruptMode = .any
    let fixture = EngineFixture(ScriptedStore(["a": 10]), configuration)
    let waiter = fixture.makeWaiter()
    let answer = fixture.trigger(fixture.node("a"), waiter: waiter)
    fixture.engine.interrupt(waiter)
    #expect(answer.errno == "EINTR")
  }

  @Test func aCancelledFetchIsDroppedAndTheNextTriggerStartsAnew() {
    let fixture = EngineFixture(ScriptedStore(["a": 10]))
    let node = fixture.node("a")
    let waiter = fixture.makeWaiter()
    fixture.trigger(node, waiter: waiter)
    fixture.engine.leave(waiter, FSError(.interrupted, "test"))
    let next = fixture.trigger(node)
    fixture.lane.runAll()
    #expect(next.isReady)
    #expect(fixture.content.items == 1)
    #expect(fixture.content.openWriters == 0)
  }

  @Test func aFaultIsRepeatedTwiceAndNoRepeatOutlivesTheWindow() {
    let fixture = EngineFixture(ScriptedStore(["a": 200_000, "b": 200_000]))
    let nodes = [fixture.node("a"), fixture.node("b")]
    for (node, name) in zip(nodes, ["a", "b"]) {
      fixture.store.edit(name) { $0.failure = FSError(.ioError, "once") }
      fixture.trigger(
        node,
        TriggerRequest(
          trigger: .read, caller: EngineFixture.caller(), offset: 0, length: 131_072, io: .pageCache,
          pageWait: .fault))
      fixture.lane.runAll()
    }
    func isRepeat(_ node: NodeID) -> Bool {
      let answer = fixture.engine.read(
        node, handle: 0, offset: 4096, length: 4096, isDirect: false, threadID: 10)
      if case .repeatedFailure = answer { return true } else { return false }
    }
    #expect([isRepeat(nodes[0]), isRepeat(nodes[0]), isRepeat(nodes[0])] == [true, true, false])
    fixture.timer.advance(milliseconds: 51)
    #expect(!isRepeat(nodes[1]))
  }

  @Test func theKernelsOwnRetryOfAFailedPageCacheReadGetsTheSameOutcomeAndNoRecord() {
    let fixture = EngineFixture(ScriptedStore(["a": 200_000]))
    let node = fixture.node("a")
    fixture.store.edit("a") { $0.failure = FSError(.ioError, "once") }
    fixture.trigger(
      node,
      TriggerRequest(
        trigger: .read, caller: EngineFixture.caller(), offset: 0, length: 131_072, io: .pageCache))
    fixture.lane.runAll()
    fixture.store.edit("a") { $0.failure = nil }
    func read(_ offset: Int64, thread: Int32 = 10, isDirect: Bool = false) -> String {
      switch fixture.engine.read(
        node, handle: 0, offset: offset, length: 4096, isDirect: isDirect, threadID: thread)
      {
      case .repeatedFailure(let error): error.errno.name
      case .needsMaterialization: "attempt"
      case .resident: "resident"
      case .failed(let errno): errno.name
      }
    }
    #expect(read(0, thread: 11) == "attempt")
    #expect(read(0, isDirect: true) == "attempt")
    #expect(read(131_072) == "attempt")
    #expect(read(0) == "EIO")
    #expect(read(0) == "attempt")
  }
}
