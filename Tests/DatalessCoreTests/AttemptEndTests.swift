import Synchronization
import SystemPackage
import Testing

@testable import DatalessCore

/// What ends with an attempt, and what must not outlive it.
@Suite struct AttemptEndTests {
  private final class Order: Sendable {
    private let triggers = Mutex<[Trigger]>([])
    func add(_ trigger: Trigger) { triggers.withLock { $0.append(trigger) } }
    var all: [Trigger] { triggers.withLock { $0 } }
  }

  private func configuration(_ edit: (inout Simulation) -> Void) -> EngineConfiguration {
    var configuration = EngineConfiguration()
    edit(&configuration.simulation)
    return configuration
  }

  /// A readdir in the kernel waits for the names of the directory (docs/ARCHITECTURE.md, R4).
  @Test(arguments: StoreKind.allCases) func lookupsAreAnsweredBeforeDirectoryReads(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["d/a": 10]), kind: kind)
    let node = fixture.node("d")
    let order = Order()
    for trigger in [Trigger.readdir, .lookup, .readdir, .lookup] {
      let request = TriggerRequest(trigger: trigger, caller: EngineFixture.caller())
      _ = fixture.engine.materialize(node, request, waiter: fixture.makeWaiter()) { _ in order.add(trigger) }
    }
    fixture.lane.runAll()
    #expect(order.all == [.lookup, .lookup, .readdir, .readdir])
  }

  @Test(arguments: StoreKind.allCases) func whatIsGivenUpIsReadNoFurther(_ kind: StoreKind) {
    let fixture = EngineFixture(
      ScriptedStore(["a": 1_000_000]),
      configuration {
        $0.bandwidth = 1_000_000
        $0.giveUpAfter = 100_000_000
      }, kind: kind)
    let answer = fixture.trigger(fixture.node("a"))
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 100) { fixture.lane.runAll() }
    #expect(answer.errno == "ETIMEDOUT")
    var steps = 0
    fixture.timer.advance(milliseconds: 2_000) { steps += fixture.lane.runAll() }
    #expect(steps <= 1, "the fetch notices it at its next step")
    #expect(fixture.content.items == 0 && fixture.content.openWriters == 0)
  }

  /// The last waiter leaves while the content is being committed.
  @Test(arguments: StoreKind.allCases) func contentThatComesTooLateIsFreed(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["a": 10]), kind: kind)
    let node = fixture.node("a")
    let waiter = fixture.makeWaiter()
    let answer = fixture.trigger(node, waiter: waiter)
    fixture.content.committing.withLock { hook in
      hook = { [engine = fixture.engine] in engine.leave(waiter, FSError(.interrupted, "killed")) }
    }
    fixture.lane.runAll()
    #expect(answer.errno == "EINTR" && answer.count == 1)
    #expect(fixture.engine.describe(node)?.state == "dataless")
    #expect(fixture.content.items == 0)
  }

  /// The last waiter leaves while a range is being written: the space is another file's only when that has ended.
  @Test(arguments: StoreKind.allCases) func spaceIsNotFreedUnderATransfer(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["a": 10_000]), configuration { $0.hydration = .progressive }, kind: kind)
    let node = fixture.node("a")
    let waiter = fixture.makeWaiter()
    let answer = fixture.trigger(node, waiter: waiter)
    fixture.content.committing.withLock { hook in
      hook = { [engine = fixture.engine, lane = fixture.lane] in
        engine.leave(waiter, FSError(.interrupted, "killed"))
        // What is to be removed is removed while the write goes on, by another thread of the lane.
        lane.runAll()
      }
    }
    fixture.lane.runAll()
    #expect(answer.errno == "EINTR")
    #expect(fixture.engine.describe(node)?.state == "dataless")
    #expect(fixture.content.items == 0 && fixture.content.openWriters == 0)
  }

  @Test(arguments: StoreKind.allCases) func aFetchThatNeverFindsADescriptorFails(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["a": 10]), kind: kind)
    let node = fixture.node("a")
    fixture.store.edit("a") { $0.failure = FSError(.tooManyOpenFiles, "no descriptor is free") }
    let answer = fixture.trigger(node)
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 9_000) { fixture.lane.runAll() }
    #expect(answer.count == 0)
    fixture.timer.advance(milliseconds: 2_000) { fixture.lane.runAll() }
    #expect(answer.errno == "EMFILE")
  }

  @Test(arguments: StoreKind.allCases) func aFailureThatLeavesPartsTellsTheKernel(_ kind: StoreKind) throws {
    var rule = Rule(name: "half", match: RuleMatch(), effects: RuleEffects())
    rule.match.kind = .file
    rule.effects.fault = Fault(.errno(.ioError), after: .fraction(0.5))
    let rules = [rule]
    let fixture = EngineFixture(
      ScriptedStore(["a": 100_000]),
      configuration {
        $0.hydration = .partial
        $0.rules = RuleSet(rules)
      }, kind: kind)
    let node = fixture.node("a")
    let answer = fixture.trigger(node)
    fixture.lane.runAll()
    #expect(answer.errno == "EIO")
    #expect(fixture.engine.describe(node)?.state == "partial")
    #expect(fixture.kernel.calls.withLock { $0 }.last == "attributes \(node.rawValue)")
  }

  /// Who has been answered reads on: the rest comes, although the last who waits has left.
  @Test(arguments: StoreKind.allCases) func aProgressiveAttemptThatHasServedGoesOn(_ kind: StoreKind) {
    let fixture = EngineFixture(
      ScriptedStore(["a": 200_000]),
      configuration {
        $0.hydration = .progressive
        $0.bandwidth = 1_000_000
      }, kind: kind)
    let node = fixture.node("a")
    func request(_ offset: Int64) -> TriggerRequest {
      TriggerRequest(trigger: .read, caller: EngineFixture.caller(), offset: offset, length: 100)
    }
    let last = fixture.makeWaiter()
    let (first, second) = (fixture.trigger(node, request(0)), fixture.trigger(node, request(190_000), waiter: last))
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 60) { fixture.lane.runAll() }
    #expect(first.isReady && second.count == 0)
    fixture.engine.leave(last, FSError(.interrupted, "killed"))
    #expect(second.errno == "EINTR")
    fixture.timer.advance(milliseconds: 300) { fixture.lane.runAll() }
    #expect(fixture.engine.describe(node)?.state == "resident")
    #expect(fixture.events.finished.last?.outcome == .ok)
  }

  @Test(arguments: StoreKind.allCases) func policyDoesNotRefuseACommand(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["a": 10]), kind: kind)
    let node = fixture.node("a")
    fixture.engine.apply(configuration { $0.materialize = false }.simulation, restartsClock: false)
    #expect(fixture.trigger(node).errno == "EDEADLK")
    let answer = fixture.trigger(node, TriggerRequest(trigger: .command, caller: EngineFixture.caller()))
    fixture.lane.runAll()
    #expect(answer.isReady)
  }

  @Test(arguments: StoreKind.allCases) func partsOfAFileAreOneFileOfTheBudget(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["a": 100_000]), configuration { $0.hydration = .partial }, kind: kind)
    let node = fixture.node("a")
    for offset in [Int64(0), 40_960, 81_920] {
      let request = TriggerRequest(
        trigger: .read, caller: EngineFixture.caller(budgeted: true), offset: offset, length: 4096)
      fixture.trigger(node, request)
      fixture.lane.runAll()
    }
    #expect(fixture.engine.totals.files == 1 && fixture.engine.totals.budgetedFiles == 1)
    #expect(fixture.engine.totals.bytes == 12_288 && fixture.engine.totals.budgetedBytes == 12_288)
  }

  @Test(arguments: StoreKind.allCases) func aResidentFileThatIsGoneDoesNotKeepItsDirectoryBusy(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["d/x": 10, "d/y": 10]), kind: kind)
    fixture.trigger(fixture.node("d/x"))
    fixture.lane.runAll()
    let node = fixture.node("d")
    fixture.engine.evict(node, by: "command") { _ in }
    #expect(!fixture.engine.isDataless(node), "one of its files is resident")
    fixture.store.edit("d") { $0.children = ["y"] }
    #expect(fixture.refresh("d").text == "1 gone, 2 unchanged in 2")
    fixture.engine.evict(node, by: "command") { _ in }
    #expect(fixture.engine.isDataless(node))
  }

  @Test func aFaultBeyondTheEndComesAtTheEnd() {
    let fault = Fault(.errno(.ioError), after: .bytes(100))
    #expect(fault.failingOffset(size: 1_000) == 100)
    #expect(fault.failingOffset(size: 10) == 10)
    #expect(Fault(.errno(.ioError), after: .bytes(-1)).failingOffset(size: 10) == 0)
  }

  @Test func anotherDeviceUnderANameIsAnotherVersion() {
    var known = ItemAttributes.file(inode: 7, size: 0, mode: 0o20644)
    known.specialDevice = 0x103
    var listed = known
    #expect(known.relation(to: listed) == .same)
    listed.specialDevice = 0x105
    #expect(known.relation(to: listed) == .version)
  }

  @Test(arguments: StoreKind.allCases) func readsOfPartialContentAreInTheRecordOfTheirHandle(_ kind: StoreKind) throws {
    let fixture = EngineFixture(ScriptedStore(["a": 100_000]), configuration { $0.hydration = .partial }, kind: kind)
    let node = fixture.node("a")
    guard case .dataless(let handle) = fixture.engine.open(node, process: .unknown, openFlags: 0) else {
      Issue.record("it is not dataless")
      return
    }
    let request = TriggerRequest(
      trigger: .read, caller: EngineFixture.caller(), offset: 0, length: 8192, handle: handle, io: .direct)
    fixture.trigger(node, request)
    fixture.lane.runAll()
    for offset in [Int64(0), 4096] {
      let answer = fixture.engine.read(
        node, handle: handle, offset: offset, length: 4096, isDirect: true, threadID: 10)
      guard case .resident = answer else {
        Issue.record("\(answer) at \(offset)")
        return
      }
    }
    fixture.engine.release(node, handle: handle)
    let closed = fixture.events.all.compactMap { event in
      if case .handleClosed(let record) = event { record } else { nil }
    }
    let record = try #require(closed.last)
    let reads = record.reads
    #expect(reads.reads == 2 && reads.coveredBytes == 8192 && reads.highWaterMark == 8192)
  }
}
