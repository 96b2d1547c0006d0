@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Thousands of callers of one file: nothing that is done for one of them looks at the others.
@Suite struct ManyWaitersTests {
  private func fixture(_ size: Int, _ hydration: Hydration) -> EngineFixture {
    var configuration = EngineConfiguration()
    configuration.simulation.hydration = hydration
    return EngineFixture(ScriptedStore(["a": size]), configuration)
  }

  private func read(_ offset: Int64, _ length: Int64 = 4096, _ thread: Int32 = 10) -> TriggerRequest {
    TriggerRequest(trigger: .read, caller: EngineFixture.caller(thread), offset: offset, length: length, io: .direct)
  }

  @Test func anEndIsRecordedInPartsAndAnsweredWhenAllOfItIs() {
    let fixture = fixture(100, .full)
    let node = fixture.node("a")
    fixture.events.clear()
    let answers = (0..<1000).map { _ in fixture.trigger(node) }
    fixture.lane.runAll()
    #expect(answers.allSatisfy { $0.isReady && $0.count == 1 })
    let kinds = fixture.events.kinds
    #expect(kinds.count { $0 == "waited" } == 1000 && kinds.last == "finished")
    #expect(fixture.events.finished.last?.waiterCount == 1000 && fixture.events.finished.last?.waiters.count == 64)
    #expect(fixture.engine.state.withLock { $0.attempts.waiterCount == 0 })
  }

  @Test func lookupsAreAnsweredBeforeListingsHoweverManyThereAre() {
    let fixture = EngineFixture(ScriptedStore(["d/a": 1]))
    let node = fixture.node("d")
    let order = Mutex<[Trigger]>([])
    for index in 0..<300 {
      let trigger: Trigger = index % 3 == 0 ? .readdir : .lookup
      _ = fixture.engine.materialize(
        node, TriggerRequest(trigger: trigger, caller: EngineFixture.caller()), waiter: fixture.makeWaiter()
      ) { _ in order.withLock { $0.append(trigger) } }
    }
    fixture.lane.runAll()
    let answered = order.withLock { $0 }
    #expect(answered.count == 300)
    #expect(answered.firstIndex(of: .readdir) == 200)
  }

  /// Each is answered with the piece that brings the last page that he misses.
  @Test func aPieceAnswersThoseWhomItServes() {
    let fixture = fixture(4 << 20, .progressive)
    let node = fixture.node("a")
    var answers: [(end: Int64, answer: Answer)] = []
    for index in 0..<2000 {
      let offset = Int64(index) * 2048
      answers.append((offset + 4096, fixture.trigger(node, read(offset))))
    }
    let whole = fixture.trigger(node, TriggerRequest(trigger: .open, caller: EngineFixture.caller()))
    var there: Int64 = 0
    let index = fixture.index(node)
    while fixture.lane.runOne() {
      there = fixture.engine.state.withLock { $0.contents.parts(of: index)?.ranges.count } ?? 4 << 20
      for (end, answer) in answers where answer.isReady != (end <= there) { Issue.record("\(end) of \(there)") }
    }
    #expect(there == 4 << 20 && whole.isReady && answers.allSatisfy { $0.answer.count == 1 })
    #expect(fixture.engine.state.withLock { $0.attempts.isIdle })
  }

  @Test func whoLeavesIsNotLookedForWhenHisPageComes() {
    let fixture = fixture(4 << 20, .progressive)
    let node = fixture.node("a")
    let stays = fixture.trigger(node, read(0))
    for index in 0..<500 {
      let waiter = fixture.makeWaiter()
      let leaves = fixture.trigger(node, read(Int64(index) * 4096), waiter: waiter)
      fixture.engine.leave(waiter, FSError(.interrupted, "killed"))
      #expect(leaves.errno == "EINTR")
    }
    let index = fixture.index(node)
    let pages = fixture.engine.state.withLock { $0.attempts.pageCount(of: index) }
    #expect(pages == 1)
    fixture.lane.runAll()
    #expect(stays.isReady && stays.count == 1)
  }

  /// What one attempt brings is there for all: an attempt that waits for its turn has nothing left to do.
  @Test func whatAnotherAttemptBringsIsThereForThoseWhoWaitForTheirTurn() {
    var configuration = EngineConfiguration()
    configuration.simulation.hydration = .partial
    configuration.simulation.concurrency = 1
    let fixture = EngineFixture(ScriptedStore(["a": 1 << 20]), configuration)
    let node = fixture.node("a")
    let first = fixture.trigger(node, read(4096, 8192))
    let queued = fixture.trigger(node, read(0, 8192))
    let apart = fixture.trigger(node, read(65_536))
    #expect(fixture.events.started.count { $0.kind == .file } == 3)
    fixture.lane.runOne()
    #expect(first.isReady && queued.count == 0)
    fixture.lane.runAll()
    #expect([first, queued, apart].allSatisfy { $0.isReady && $0.count == 1 })
    #expect(fixture.engine.state.withLock { $0.attempts.isIdle && $0.slots.inUse == 0 })
  }

  @Test func eachOfManyPartsIsJoinedAndForgotten() {
    let fixture = fixture(8 << 20, .partial)
    let node = fixture.node("a")
    let first = (0..<1000).map { fixture.trigger(node, read(Int64($0) * 8192)) }
    let joined = (0..<1000).map { fixture.trigger(node, read(Int64($0) * 8192 + 100, 200)) }
    #expect(fixture.events.started.count { $0.kind == .file } == 1000)
    // It reaches beyond one that is in flight.
    let wider = fixture.trigger(node, read(4096, 8192))
    let inWider = fixture.trigger(node, read(8192, 4096))
    #expect(fixture.events.started.count { $0.kind == .file } == 1001)
    fixture.lane.runAll()
    #expect((first + joined + [wider, inWider]).allSatisfy { $0.isReady && $0.count == 1 })
    let index = fixture.index(node)
    let isEmpty = fixture.engine.state.withLock {
      !$0.content(of: index).isBusy && $0.attempts.isIdle
    }
    #expect(isEmpty)
  }
}
