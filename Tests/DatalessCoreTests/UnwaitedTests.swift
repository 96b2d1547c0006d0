@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Calls during which the kernel holds directories, and what they need of the store.
@Suite struct UnwaitedTests {
  private static func slow(_ files: [String: Int]) -> EngineFixture {
    EngineFixture.writable(files) { configuration in
      configuration.simulation.latency = LatencyModel(.fixed(.milliseconds(50)))
      configuration.simulation.directoryLatency = LatencyModel(.fixed(.milliseconds(50)))
    }
  }

  private func advance(_ fixture: EngineFixture, _ milliseconds: Int64) {
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: milliseconds) { [lane = fixture.lane] in lane.runAll() }
  }

  private func listRoot(_ fixture: EngineFixture) {
    fixture.trigger(.root)
    advance(fixture, 60)
  }

  private func text<Answer>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Answer) -> Answer {
    Array(text.utf8).withUnsafeBufferPointer(body)
  }

  private let request = TriggerRequest(trigger: .link, caller: EngineFixture.maker)

  @Test func aLinkIsMadeBeforeTheFileIsHere() {
    let fixture = Self.slow(["a": 10])
    listRoot(fixture)
    let node = fixture.lookUp("a")
    func link(isComing: Bool) -> MakeAnswer {
      text("b") { fixture.engine.link(node, as: $0, in: .root, isComing: isComing, by: EngineFixture.maker) }
    }
    guard case .needsMaterialization(node) = link(isComing: false) else {
      Issue.record("it is not asked for")
      return
    }
    fixture.events.clear()
    #expect(fixture.engine.beginMaterialization(node, request, waiter: fixture.makeWaiter()) == nil)
    guard case .made(let item) = link(isComing: true) else {
      Issue.record("it waits")
      return
    }
    #expect(item.node == node && item.attributes.linkCount == 2 && item.isDataless)
    advance(fixture, 100)
    #expect(fixture.engine.describe(node)?.state == "resident")
    let waits = fixture.events.all.filter {
      switch $0 {
      case .waitStarted, .waitFinished: true
      default: false
      }
    }
    #expect(waits.isEmpty, "nobody waits")
    let ended = fixture.events.finished.last
    #expect(fixture.events.started.last?.caller.pid == request.caller.pid, "but it is the caller's")
    #expect(ended?.outcome == .ok && ended?.waiterCount == 0 && ended?.waiters.isEmpty == true)
    #expect(fixture.content("b") == PatternBytes.bytes(0, 10))
  }

  @Test func whatIsRefusedOrFailsAtOnceIsNotLinked() {
    let fixture = EngineFixture.writable(["a": 10])
    let node = fixture.lookUp("a")
    var refused = request
    refused.caller.policy.thread = false
    #expect(fixture.engine.beginMaterialization(node, refused, waiter: fixture.makeWaiter())?.errno == .deadlock)
    fixture.store.edit("a") { $0.failure = FSError(.ioError, "no network") }
    fixture.lane.isShared.store(true, ordering: .relaxed)
    let error = fixture.engine.beginMaterialization(node, request, waiter: fixture.makeWaiter(), mayFetch: true)
    #expect(error?.errno == .ioError)
    #expect(fixture.attributes(node)?.linkCount == 1)
  }

  /// A file that was linked and not fetched is the store's under both names, whatever becomes of it there.
  @Test func aLinkToADatalessFileFollowsTheStore() {
    let fixture = EngineFixture.writable(["a": 10, "b": 10, "c": 10])
    for name in ["a", "b", "c"] {
      let node = fixture.lookUp(name)
      let answer = text(name + "2") {
        fixture.engine.link(node, as: $0, in: .root, isComing: true, by: EngineFixture.maker)
      }
      guard case .made = answer else {
        Issue.record("\(answer)")
        return
      }
    }
    fixture.bring(fixture.node("c"), .read)
    fixture.store.write("a", size: 20)
    fixture.store.remove("b")
    fixture.store.remove("c")
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.content("a2") == fixture.store.bytes("a"))
    #expect(fixture.node("a2") == fixture.node("a"))
    // What is here stays, what is nowhere does not.
    #expect(fixture.entries(of: .root).keys.sorted() == ["a", "a2", "c2"])
    #expect(fixture.content("c2") == PatternBytes.bytes(0, 10))
  }

  @Test(arguments: [0, 20, 200]) func whoRemovesAnUnlistedDirectoryWaitsForAShortTime(_ limit: Int64) {
    let fixture = Self.slow(["d/e/x": 1, "f": 1])
    listRoot(fixture)
    let d = fixture.node("d")
    func remove() -> ChangeAnswer {
      text("d") { fixture.engine.removeDirectory($0, in: .root, by: EngineFixture.maker) }
    }
    guard case .needsEmptiness(d) = remove() else {
      Issue.record("\(remove())")
      return
    }
    let answer = Answer()
    let waiter = fixture.makeWaiter()
    fixture.engine.expect(waiter)
    let admission = fixture.engine.listBriefly(
      d, TriggerRequest(trigger: .lookup, caller: EngineFixture.maker), waiter: waiter,
      background: fixture.makeWaiter(), limit: .milliseconds(limit)
    ) { answer.set($0) }
    guard case .parked = admission else {
      Issue.record("\(admission)")
      return
    }
    advance(fixture, limit < 50 ? limit : 49)
    #expect(answer.errno == (limit < 50 ? "EBUSY" : nil))
    // The listing goes on, and who comes again has it.
    advance(fixture, 60)
    #expect(answer.count == 1 && (limit < 50 || answer.isReady))
    guard case .failed(.directoryNotEmpty) = remove() else {
      Issue.record("\(remove())")
      return
    }
    #expect(fixture.engine.attemptsInFlight().isEmpty)
    #expect(fixture.engine.state.withLock { $0.calls.announcedCount } == 0)
  }

  /// No request thread is free to list it, which is no reason for EBUSY.
  @Test func aPromptStoreIsWaitedForBriefly() {
    for isFast in [true, false] {
      let fixture = EngineFixture(ScriptedStore(["d/x": 1], isFastLocal: isFast))
      listRoot(fixture)
      let answer = Answer()
      let waiter = fixture.makeWaiter()
      fixture.engine.expect(waiter)
      let admission = fixture.engine.listBriefly(
        fixture.node("d"), TriggerRequest(trigger: .lookup, caller: EngineFixture.maker), waiter: waiter,
        background: fixture.makeWaiter(), limit: 0
      ) { answer.set($0) }
      guard case .parked = admission else {
        Issue.record("\(admission)")
        return
      }
      #expect(answer.errno == (isFast ? nil : "EBUSY"))
      advance(fixture, 1)
      #expect(answer.count == 1 && answer.isReady == isFast)
    }
  }

  @Test func aRefusalOfAListingIsToldAtOnce() {
    let fixture = Self.slow(["d/x": 1])
    listRoot(fixture)
    var request = TriggerRequest(trigger: .lookup, caller: EngineFixture.maker)
    request.caller.policy.thread = false
    let waiter = fixture.makeWaiter()
    fixture.engine.expect(waiter)
    let admission = fixture.engine.listBriefly(
      fixture.node("d"), request, waiter: waiter, background: fixture.makeWaiter(), limit: .milliseconds(20)
    ) { _ in }
    guard case .failed = admission else {
      Issue.record("\(admission)")
      return
    }
    #expect(fixture.engine.state.withLock { $0.calls.announcedCount } == 0)
  }
}
