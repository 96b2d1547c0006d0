import DatalessCore
import Synchronization
import SystemPackage
import Testing

@Suite struct EngineInterruptTests {
  private func slow() -> EngineFixture {
    var configuration = EngineConfiguration()
    configuration.latencyNanoseconds = 10_000_000_000
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

  @Test func anInterruptThatComesBeforeTheCallerIsParkedIsNotLost() {
    let fixture = slow()
    let node = fixture.node("a")
    let waiter = fixture.makeWaiter()
    fixture.signals.pending.withLock { $0[10] = .some(true) }
    fixture.engine.interrupt(waiter)
    let answer = fixture.trigger(node, waiter: waiter)
    #expect(answer.count == 0)
    fixture.timer.advance(milliseconds: 100)
    #expect(answer.errno == "EINTR")
  }

  @Test func anyModeEndsTheWaitForEverySignal() {
    var configuration = EngineConfiguration()
    configuration.latencyNanoseconds = 1_000_000_000
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
