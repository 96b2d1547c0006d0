import DatalessCore
import Synchronization
import SystemPackage
import Testing

@Suite struct EngineMaterializeTests {
  @Test(arguments: StoreKind.allCases) func readMaterializesOnceForAllWaiters(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["a": 5000]), kind: kind)
    let node = fixture.node("a")
    fixture.events.clear()
    let answers = (0..<16).map { _ in fixture.trigger(node) }
    #expect(answers.allSatisfy { $0.count == 0 })
    fixture.lane.runAll()
    #expect(answers.allSatisfy { $0.isReady && $0.count == 1 })
    #expect(fixture.store.opens.load(ordering: .relaxed) == 1)
    #expect(fixture.events.finished.map(\.waiterCount) == [16])
    #expect(fixture.events.finished.first?.bytes == 5000)
    #expect(fixture.events.kinds.first == "started")
    #expect(fixture.events.kinds.last == "finished")
    #expect(fixture.events.kinds.filter { $0 == "waited" }.count == 16)
    #expect(fixture.engine.totals.files == 1)
  }

  @Test(arguments: StoreKind.allCases) func answersComeAfterAttributesWereInvalidated(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["a": 10]), kind: kind)
    let node = fixture.node("a")
    let order = Mutex<[String]>([])
    _ = fixture.engine.materialize(
      node, TriggerRequest(trigger: .read, caller: EngineFixture.caller()), waiter: fixture.makeWaiter()
    ) { _ in order.withLock { $0 += fixture.kernel.calls.withLock { $0 } + ["answer"] } }
    fixture.lane.runAll()
    #expect(order.withLock { $0 }.suffix(2) == ["attributes \(node.rawValue)", "answer"])
  }

  @Test func aSmallFileIsFetchedByItsReader() {
    let fixture = EngineFixture(ScriptedStore(["a": 5000, "large": 200_000]))
    let (node, large) = (fixture.node("a"), fixture.node("large"))
    fixture.lane.isShared.store(true, ordering: .relaxed)
    fixture.events.clear()
    #expect(fixture.trigger(node, mayFetch: true).isReady)
    #expect(fixture.events.kinds == ["started", "wait", "waited", "finished"])
    #expect(fixture.lane.waiting == 0)
    // A large one goes to the lane, as does a small one whose reader may not fetch.
    #expect(!fixture.trigger(large, mayFetch: true).isReady)
    #expect(fixture.lane.runAll() > 0)
  }

  @Test(arguments: StoreKind.allCases) func whatMayHangIsNotFetchedByItsReader(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["a": 5000, "b": 5000], isFastLocal: false), kind: kind)
    let node = fixture.node("a")
    fixture.lane.isShared.store(true, ordering: .relaxed)
    let answer = fixture.trigger(node, mayFetch: true)
    #expect(answer.count == 0)
    fixture.lane.runAll()
    #expect(answer.isReady)
  }

  /// A delay ends on the timer's thread, which fetches nothing.
  @Test(arguments: StoreKind.allCases) func afterADelayTheLaneFetches(_ kind: StoreKind) {
    var configuration = EngineConfiguration()
    configuration.fixedLatency = 1_000_000
    let fixture = EngineFixture(ScriptedStore(["a": 5000]), configuration, kind: kind)
    let node = fixture.node("a")
    fixture.lane.isShared.store(true, ordering: .relaxed)
    let answer = fixture.trigger(node, mayFetch: true)
    fixture.timer.advance(milliseconds: 1)
    #expect(answer.count == 0)
    fixture.lane.runAll()
    #expect(answer.isReady)
  }

  @Test(arguments: StoreKind.allCases) func blocksAreZeroUntilCommit(_ kind: StoreKind) {
    var configuration = EngineConfiguration()
    configuration.fixedLatency = 1_000_000
    let fixture = EngineFixture(ScriptedStore(["a": 5000]), configuration, kind: kind)
    let node = fixture.node("a")
    #expect(fixture.engine.attributes(of: node)?.attributes.blocks == 0)
    fixture.trigger(node)
    #expect(fixture.engine.attributes(of: node)?.attributes.blocks == 0)
    #expect(fixture.attribute("user.dataless.state", of: node) == "dataless")
    fixture.timer.advance(milliseconds: 1)
    fixture.lane.runAll()
    #expect(fixture.engine.attributes(of: node)?.attributes.blocks == 10)
    #expect(fixture.attribute("user.dataless.state", of: node) == "resident")
  }

  @Test(arguments: StoreKind.allCases) func latencyIsExactAndRecorded(_ kind: StoreKind) throws {
    var configuration = EngineConfiguration()
    configuration.fixedLatency = 200_000_000
    let fixture = EngineFixture(ScriptedStore(["a": 1]), configuration, kind: kind)
    let node = fixture.node("a")
    fixture.events.clear()
    let answer = fixture.trigger(node)
    fixture.timer.advance(milliseconds: 199)
    #expect(fixture.lane.waiting == 0)
    fixture.timer.advance(milliseconds: 1)
    fixture.lane.runAll()
    #expect(answer.isReady)
    let record = try #require(fixture.events.finished.first)
    #expect(record.requestedDelay == 200_000_000)
    #expect(record.delay == 200_000_000)
    #expect(record.waiters.first?.blocked == 200_000_000)
  }

  @Test(arguments: StoreKind.allCases) func concurrencyQueuesTheRest(_ kind: StoreKind) {
    var configuration = EngineConfiguration()
    configuration.fixedLatency = 10_000_000
    configuration.concurrency = 2
    let files = Dictionary(uniqueKeysWithValues: (0..<5).map { ("f\($0)", 10) })
    let fixture = EngineFixture(ScriptedStore(files), configuration, kind: kind)
    let nodes = (0..<5).map { fixture.node("f\($0)") }
    fixture.events.clear()
    let answers = nodes.map { fixture.trigger($0) }
    var ready: [Int] = []
    for _ in 0..<3 {
      fixture.timer.advance(milliseconds: 10)
      fixture.lane.runAll()
      ready.append(answers.filter(\.isReady).count)
    }
    #expect(ready == [2, 4, 5])
    #expect(fixture.events.finished.map(\.queued) == [0, 0, 10_000_000, 10_000_000, 20_000_000])
  }

  @Test(arguments: StoreKind.allCases) func bandwidthIsSharedByAllFetches(_ kind: StoreKind) {
    var configuration = EngineConfiguration()
    configuration.bandwidthBytesPerSecond = 1_000_000
    let fixture = EngineFixture(ScriptedStore(["a": 100_000, "b": 100_000]), configuration, kind: kind)
    let nodes = [fixture.node("a"), fixture.node("b")]
    let answers = nodes.map { fixture.trigger($0) }
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 179) { fixture.lane.runAll() }
    #expect(!answers.contains { $0.isReady })
    fixture.timer.advance(milliseconds: 21) { fixture.lane.runAll() }
    #expect(answers.allSatisfy { $0.isReady })
    #expect(fixture.events.finished.suffix(2).map(\.duration) == [180_000_000, 200_000_000])
  }

  @Test(arguments: ["ENOENT", "ESTALE", "EACCES", "EIO"], StoreKind.allCases)
  func failureReachesEveryWaiterAndLeavesTheFileDataless(name: String, kind: StoreKind) throws {
    let errno = try #require(Errno(name: name))
    let fixture = EngineFixture(ScriptedStore(["a": 10]), kind: kind)
    let node = fixture.node("a")
    fixture.store.edit("a") { $0.failure = FSError(errno, "scripted") }
    let answers = (0..<3).map { _ in fixture.trigger(node) }
    fixture.lane.runAll()
    #expect(answers.allSatisfy { $0.errno == (name == "ENOENT" ? "ESTALE" : name) }, "the profile says what is gone")
    #expect(fixture.engine.isDataless(node))
    #expect(fixture.engine.counts.filesDataless == 1)
    fixture.store.edit("a") { $0.failure = nil }
    let again = fixture.trigger(node)
    fixture.lane.runAll()
    #expect(again.isReady)
    #expect(fixture.events.started.last?.itemAttempt == 2)
  }

  @Test(arguments: StoreKind.allCases) func changedSourceIsStaleAndNothingIsKept(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["grown": 10, "short": 1000, "rewritten": 10]), kind: kind)
    let nodes = ["grown", "short", "rewritten"].map { fixture.node($0) }
    fixture.store.edit("grown") { $0.attributes.size = 11 }
    fixture.store.edit("short") { $0.shortAt = 500 }
    fixture.store.edit("rewritten") { $0.changed = FSError(.staleNFSFileHandle, "changed during the fetch") }
    let answers = nodes.map { fixture.trigger($0) }
    fixture.lane.runAll()
    #expect(answers.map(\.errno) == ["ESTALE", "ESTALE", "ESTALE"])
    #expect(fixture.content.items == 0)
    #expect(fixture.content.openWriters == 0)
  }

  @Test(arguments: StoreKind.allCases) func fullDiskIsENOSPCAndNoHalfFile(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["a": 1000]), kind: kind)
    let node = fixture.node("a")
    fixture.content.limit.store(10, ordering: .relaxed)
    let answer = fixture.trigger(node)
    fixture.lane.runAll()
    #expect(answer.errno == "ENOSPC")
    #expect(fixture.content.items == 0)
    #expect(fixture.content.openWriters == 0)
  }

  @Test(arguments: StoreKind.allCases) func endAnswersEverybodyAndRefusesNewTriggers(_ kind: StoreKind) {
    var configuration = EngineConfiguration()
    configuration.fixedLatency = 1_000_000_000
    let fixture = EngineFixture(ScriptedStore(["a": 10, "b": 10, "d/c": 1]), configuration, kind: kind)
    let nodes = ["a", "b", "d"].map { fixture.node($0) }
    var answers = nodes.map { fixture.trigger($0) }
    fixture.engine.end(FSError(.timedOut, "the volume is being unmounted"))
    answers.append(fixture.trigger(nodes[0]))
    #expect(answers.map(\.errno) == ["ETIMEDOUT", "ETIMEDOUT", "ETIMEDOUT", "ETIMEDOUT"])
    fixture.timer.advance(milliseconds: 2000)
    fixture.lane.runAll()
    #expect(answers.allSatisfy { $0.count == 1 })
    #expect(fixture.content.items == 0)
  }

  @Test(arguments: StoreKind.allCases) func budgetsCountWhatDescendantsMaterialized(_ kind: StoreKind) {
    var configuration = EngineConfiguration()
    configuration.budget = .init(maxFiles: 1, maxBytes: 25)
    let fixture = EngineFixture(ScriptedStore(["a": 10, "b": 10, "c": 10, "d": 10]), configuration, kind: kind)
    for (name, budgeted) in [("a", false), ("b", true), ("c", true), ("d", true)] {
      fixture.trigger(
        fixture.node(name), TriggerRequest(trigger: .read, caller: EngineFixture.caller(budgeted: budgeted)))
      fixture.lane.runAll()
    }
    let totals = fixture.engine.totals
    #expect(totals.files == 4)
    #expect(totals.budgetedFiles == 3)
    #expect(totals.budgetedBytes == 30)
    #expect(totals.exceeded.map(\.budget) == ["files", "bytes"])
    #expect(totals.exceeded.map { String(decoding: $0.path, as: UTF8.self) } == ["c", "d"])
  }
}
