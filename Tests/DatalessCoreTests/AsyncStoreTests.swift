import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// A store whose calls wait: nothing waits with it but memory, and it is told when nobody wants its answer any more.
/// That what is fetched, listed and refreshed is as from a store that blocks, the suites say that take a `StoreKind`.
@Suite struct AsyncStoreTests {
  private func fixture(_ files: [String: Int], _ edit: (inout Simulation) -> Void = { _ in }) -> EngineFixture {
    var configuration = EngineConfiguration()
    edit(&configuration.simulation)
    return EngineFixture(ScriptedStore(files), configuration, kind: .async)
  }

  /// Nothing is held for a fetch that has ended.
  private func expectNothingIsHeld(_ fixture: EngineFixture, items: Int = 0) {
    #expect(fixture.waiting.openContents.load(ordering: .relaxed) == 0)
    #expect(fixture.content.openWriters == 0)
    #expect(fixture.content.items == items)
    #expect(fixture.lane.waiting == 0)
  }

  // MARK: - Many at a time

  @Test(arguments: [Hydration.full, .partial, .progressive])
  func thousandsOfFetchesWaitWithoutAThread(hydration: Hydration) {
    let count = 5_000
    let fixture = fixture(Dictionary(uniqueKeysWithValues: (0..<count).map { ("d/f\($0)", 10) })) {
      $0.hydration = hydration
    }
    fixture.list("d")
    let nodes = (0..<count).map { fixture.node("d/f\($0)") }
    fixture.waiting.hold(.open, .read)
    let answers = nodes.map { fixture.trigger($0) }
    #expect(fixture.lane.runAll() <= 2 * count, "a fetch is at most two pieces of work until it waits")
    for stage in [ScriptedAsyncStore.Stage.open, .read] {
      #expect(fixture.waiting.count(stage) == count)
      #expect(fixture.lane.waiting == 0, "who waits keeps nothing of the lane")
      #expect(fixture.engine.attemptsInFlight().count == count)
      #expect(!answers.contains { $0.count > 0 })
      fixture.waiting.release(stage)
      fixture.lane.runAll()
    }
    #expect(answers.allSatisfy { $0.isReady && $0.count == 1 })
    #expect(fixture.waiting.threadCount == 1, "only the lane's thread has asked the store")
    expectNothingIsHeld(fixture, items: count)
  }

  // MARK: - Cancellation

  @Test(
    arguments: [.open, .findData, .read, .verify] as [ScriptedAsyncStore.Stage],
    [Hydration.full, .partial, .progressive])
  func theStoreIsToldWhenTheLastCallerLeaves(stage: ScriptedAsyncStore.Stage, hydration: Hydration) {
    let fixture = fixture(["a": 100_000]) { $0.hydration = hydration }
    let node = fixture.node("a")
    fixture.waiting.hold(stage)
    let waiters = [fixture.makeWaiter(), fixture.makeWaiter()]
    let answers = waiters.map { fixture.trigger(node, waiter: $0) }
    fixture.lane.runAll()
    #expect(fixture.waiting.count(stage) == 1)
    fixture.engine.leave(waiters[0], FSError(.interrupted, "a signal"))
    #expect(fixture.waiting.cancelled == [], "somebody still waits for it")
    fixture.engine.leave(waiters[1], FSError(.interrupted, "a signal"))
    #expect(fixture.waiting.cancelled == [stage])
    #expect(answers.map(\.errno) == ["EINTR", "EINTR"])
    fixture.lane.runAll()
    expectNothingIsHeld(fixture)
    #expect(fixture.engine.describe(node)?.state == "dataless")
    fixture.waiting.release(stage)
    let again = fixture.trigger(node)
    fixture.lane.runAll()
    #expect(again.isReady && answers.allSatisfy { $0.count == 1 })
    #expect(fixture.content("a") == fixture.store.bytes("a"))
  }

  @Test(arguments: [ScriptedAsyncStore.Stage.open, .findData, .read, .verify])
  func theEndOfTheVolumeReachesTheStore(stage: ScriptedAsyncStore.Stage) {
    let fixture = fixture(["a": 100_000, "b": 10])
    let nodes = [fixture.node("a"), fixture.node("b")]
    fixture.waiting.hold(stage)
    let answers = nodes.map { fixture.trigger($0) }
    fixture.lane.runAll()
    fixture.engine.end(FSError(.timedOut, "the volume is being unmounted"))
    #expect(answers.map(\.errno) == ["ETIMEDOUT", "ETIMEDOUT"])
    #expect(fixture.waiting.cancelled == [stage, stage])
    fixture.lane.runAll()
    expectNothingIsHeld(fixture)
  }

  @Test func whatIsGivenUpBeforeItsTaskHasBegunAsksTheStoreNothing() {
    let fixture = fixture(["a": 10])
    let node = fixture.node("a")
    let calls = fixture.waiting.calls
    let waiter = fixture.makeWaiter()
    let answer = fixture.trigger(node, waiter: waiter)
    fixture.engine.leave(waiter, FSError(.interrupted, "a signal"))
    #expect(answer.errno == "EINTR")
    fixture.lane.runAll()
    #expect(fixture.waiting.calls == calls)
    expectNothingIsHeld(fixture)
  }

  @Test(arguments: [ScriptedAsyncStore.Stage.list, .page])
  func aListingThatNobodyWaitsForIsGivenUp(stage: ScriptedAsyncStore.Stage) {
    let fixture = fixture(["d/a": 1, "d/b": 1])
    let node = fixture.node("d")
    fixture.waiting.hold(stage)
    let waiter = fixture.makeWaiter()
    let answer = fixture.trigger(
      node, TriggerRequest(trigger: .readdir, caller: EngineFixture.caller()), waiter: waiter)
    fixture.lane.runAll()
    fixture.engine.leave(waiter, FSError(.interrupted, "a signal"))
    #expect(answer.errno == "EINTR" && fixture.waiting.cancelled == [stage])
    fixture.lane.runAll()
    #expect(fixture.engine.isDataless(node))
    fixture.waiting.release(stage)
    fixture.list("d")
    #expect(fixture.names("d").sorted().suffix(2) == ["a", "b"])
  }

  @Test(arguments: [false, true]) func aQuestionThatNobodyWaitsForIsGivenUp(byTheEnd: Bool) {
    let fixture = fixture(["a": 10])
    let node = fixture.node("a")
    fixture.waiting.hold(.link, .attribute, .attributeNames)
    let answers = [Answer(), Answer(), Answer()]
    let waiters = answers.map { _ in fixture.makeWaiter() }
    func told(_ answer: Answer) -> @Sendable (Result<[UInt8], FSError>) -> Void {
      { if case .failure(let error) = $0 { answer.set(.failed(error)) } else { answer.set(.ready) } }
    }
    fixture.engine.readLink(node, threadID: 10, waiter: waiters[0], completion: told(answers[0]))
    fixture.engine.extendedAttribute([97], of: node, threadID: 10, waiter: waiters[1], completion: told(answers[1]))
    fixture.engine.extendedAttributeNames(of: node, threadID: 10, waiter: waiters[2], completion: told(answers[2]))
    fixture.lane.runAll()
    if byTheEnd {
      fixture.engine.end(FSError(.timedOut, "the volume is being unmounted"))
    } else {
      fixture.signals.pending.withLock { $0[10] = .some(true) }
      for waiter in waiters { fixture.engine.interrupt(waiter) }
    }
    #expect(Set(fixture.waiting.cancelled) == [.link, .attribute, .attributeNames])
    fixture.lane.runAll()
    #expect(answers.allSatisfy { $0.count == 1 && $0.errno == (byTheEnd ? "ETIMEDOUT" : "EINTR") })
  }

  @Test(arguments: [ScriptedAsyncStore.Stage.root, .list, .page], [false, true])
  func aRefreshThatIsGivenUpChangesNothing(stage: ScriptedAsyncStore.Stage, byTheEnd: Bool) {
    let fixture = fixture(["a": 10, "d/b": 10])
    let node = fixture.node("d/b")
    fixture.store.remove("d/b")
    fixture.waiting.hold(stage)
    let answer = RefreshAnswer()
    let refresh = fixture.engine.refresh([[]], by: .command) { answer.set($0) }
    fixture.lane.runAll()
    #expect(fixture.waiting.count(stage) == 1 && fixture.lane.waiting == 0)
    if byTheEnd { fixture.engine.end(FSError(.timedOut, "the end")) } else { refresh.cancel() }
    #expect(fixture.waiting.cancelled == [stage])
    fixture.lane.runAll()
    #expect(answer.error == (byTheEnd ? "ETIMEDOUT" : "EINTR"))
    #expect(fixture.node("d/b") == node)
    if !byTheEnd {
      fixture.waiting.release(stage)
      #expect(fixture.refresh("").text == "1 gone, 2 unchanged in 2")
    }
  }

  /// A store that was told to give up has not told the generation: what is taken for a new item then would be lost.
  @Test func aRefreshThatIsGivenUpWhileItAsksForAGenerationRenamesNothing() {
    let fixture = fixture(["a": 10])
    fixture.store.hasBirths.store(false, ordering: .relaxed)
    fixture.store.edit("a") { $0.generation = 7 }
    #expect(fixture.content("a") != nil)
    let node = fixture.node("a")
    fixture.store.move("a", to: "b")
    fixture.waiting.hold(.generation)
    let answer = RefreshAnswer()
    let refresh = fixture.engine.refresh([[]], by: .command) { answer.set($0) }
    fixture.lane.runAll()
    #expect(fixture.waiting.count(.generation) == 1)
    refresh.cancel()
    fixture.lane.runAll()
    #expect(answer.error == "EINTR" && fixture.known("a") == node)
    fixture.waiting.release(.generation)
    #expect(fixture.refresh("").text == "1 renamed in 1")
    #expect(fixture.known("b") == node && fixture.engine.describe(node)?.state == "resident")
  }

  // MARK: - Pace and errors

  @Test func theSimulatedLineCarriesWhatTheStoreBrings() {
    let fixture = fixture(["a": 200_000]) { $0.bandwidth = 1_000_000 }
    let calls = fixture.waiting.calls
    let answer = fixture.trigger(fixture.node("a"))
    fixture.lane.runAll()
    #expect(fixture.waiting.openContents.load(ordering: .relaxed) == 0, "opened when its first bytes can come")
    fixture.timer.advance(milliseconds: 199) { fixture.lane.runAll() }
    #expect(answer.count == 0 && fixture.waiting.calls > calls)
    fixture.timer.advance(milliseconds: 1) { fixture.lane.runAll() }
    #expect(answer.isReady)
    #expect(fixture.content("a") == fixture.store.bytes("a"))
  }

  @Test func aFetchThatIsGivenUpOnTheLineEndsAtOnce() {
    let fixture = fixture(["a": 200_000]) { $0.bandwidth = 1_000_000 }
    let waiter = fixture.makeWaiter()
    let answer = fixture.trigger(fixture.node("a"), waiter: waiter)
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 50) { fixture.lane.runAll() }
    #expect(fixture.waiting.openContents.load(ordering: .relaxed) == 1)
    fixture.engine.leave(waiter, FSError(.interrupted, "a signal"))
    fixture.lane.runAll()
    #expect(answer.errno == "EINTR" && fixture.timer.pending == 0)
    expectNothingIsHeld(fixture)
  }

  /// What the record says was spent in the store is the time that the store was waited for.
  @Test func timeInTheStoreIsTimeInTheStore() throws {
    let fixture = fixture(["a": 10])
    let node = fixture.node("a")
    fixture.waiting.hold(.open)
    let answer = fixture.trigger(node)
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 100) { fixture.lane.runAll() }
    fixture.waiting.release(.open)
    fixture.lane.runAll()
    #expect(answer.isReady)
    #expect(try #require(fixture.events.finished.last).storeTime == 100_000_000)
  }

  @Test func whoFindsNoDescriptorTriesAgain() {
    let fixture = fixture(["a": 10])
    let node = fixture.node("a")
    fixture.store.edit("a") { $0.failure = FSError(.tooManyOpenFiles, "scripted") }
    let answer = fixture.trigger(node)
    fixture.lane.runAll()
    fixture.store.edit("a") { $0.failure = nil }
    #expect(answer.count == 0)
    fixture.timer.advance(milliseconds: 20) { fixture.lane.runAll() }
    #expect(answer.isReady)
    expectNothingIsHeld(fixture, items: 1)
  }

  @Test(arguments: [Hydration.full, .partial]) func aStoreThatGivesMoreThanItWasAskedForIsNotBelieved(
    hydration: Hydration
  ) {
    let fixture = fixture(["a": 100]) { $0.hydration = hydration }
    let node = fixture.node("a")
    fixture.waiting.surplus.store(1, ordering: .relaxed)
    let answer = fixture.trigger(node)
    fixture.lane.runAll()
    #expect(answer.errno == "EIO")
    expectNothingIsHeld(fixture)
  }
}
