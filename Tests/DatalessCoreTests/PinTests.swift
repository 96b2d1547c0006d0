@testable import DatalessCore
import SystemPackage
import Testing

/// Content policies: inherited down the tree, fetched for, kept.
@Suite struct PinTests {
  private static let files = ["d/a": 10, "d/e/b": 20, "d/e/c": 30, "f/g": 40, "h": 50]

  private func make(_ writing: EngineConfiguration.Writing = .readOnly) -> EngineFixture {
    .limited(nil, Self.files, writing: writing)
  }

  private func inForce(_ fixture: EngineFixture, _ path: String) -> ContentPolicy? {
    fixture.engine.policy(of: fixture.node(path))?.inForce
  }

  @Test func whatHasNoneInheritsIt() {
    let fixture = make()
    #expect(inForce(fixture, "d/e/b") == .lazyAndEvict)
    #expect(fixture.engine.setPolicy(.lazy, of: .root) == nil)
    #expect(inForce(fixture, "d/e/b") == .lazy)
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("d")) == nil)
    #expect(fixture.engine.setPolicy(.lazy, of: fixture.node("d/e")) == nil)
    #expect(inForce(fixture, "d/a") == .eager)
    #expect(inForce(fixture, "d/e/b") == .lazy, "a child's own overrides that of a directory above")
    #expect(fixture.engine.setPolicy(.inherited, of: fixture.node("d/e")) == nil)
    #expect(inForce(fixture, "d/e/b") == .eager)
  }

  @Test func whatIsPinnedIsFetchedWithAllBelowIt() {
    let fixture = EngineFixture(ScriptedStore(Self.files))
    // Nothing below it is listed yet.
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("d")) == nil)
    fixture.settle()
    #expect(fixture.resident(Self.files.keys.sorted()) == ["d/a", "d/e/b", "d/e/c"])
    let triggers = fixture.events.all.compactMap { event -> Trigger? in
      guard case .materializationStarted(let record) = event, record.kind == .file else { return nil }
      return record.trigger
    }
    #expect(triggers == [.eager, .eager, .eager])
  }

  @Test func whatIsFetchedEarlyIsNotUsedByThat() {
    let fixture = make()
    let use = fixture.engine.lastUse
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("d")) == nil)
    fixture.settle()
    #expect(fixture.engine.lastUse == use)
    #expect(fixture.read("h") == nil)
    #expect(fixture.engine.lastUse > use)
  }

  @Test func whatIsUnpinnedMayGo() {
    let fixture = make()
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("d")) == nil)
    fixture.settle()
    #expect(fixture.refusal("d/a")?.reason == .pinned)
    #expect(fixture.engine.unpin(fixture.node("d/a")) == nil)
    #expect(inForce(fixture, "d/a") == .lazy, "its directory is still pinned")
    #expect(fixture.refusal("d/a") == nil)
    #expect(fixture.engine.unpin(fixture.node("d")) == nil)
    #expect(fixture.refusal("d/e/b") == nil)
    #expect(fixture.engine.policy(of: fixture.node("d"))?.own == .inherited)
    #expect(fixture.engine.unpin(fixture.node("h")) == nil, "what is not pinned is as it was")
    #expect(fixture.engine.policy(of: fixture.node("h"))?.own == .inherited)
  }

  @Test func atMostSixAreFetchedAtOnce() {
    let files = Dictionary(uniqueKeysWithValues: (0..<40).map { ("d/\($0)", 10) })
    var configuration = EngineConfiguration()
    configuration.fixedLatency = 1_000_000
    let fixture = EngineFixture(ScriptedStore(files), configuration)
    fixture.list("")
    fixture.timer.advance(milliseconds: 5) { fixture.lane.runAll() }
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("d")) == nil)
    fixture.lane.runAll()
    var most = 0
    for _ in 0..<200 where fixture.resident(files.keys.sorted()).count < 40 {
      most = max(most, fixture.engine.attemptsInFlight().count)
      fixture.timer.advance(milliseconds: 1) { fixture.lane.runAll() }
    }
    #expect(most == EagerFetches.atOnce)
    #expect(fixture.resident(files.keys.sorted()).count == 40)
  }

  @Test func readersGoFirst() {
    let files = Dictionary(uniqueKeysWithValues: (0..<20).map { ("d/\($0)", 10) } + [("x", 10)])
    var configuration = EngineConfiguration()
    configuration.fixedLatency = 1_000_000
    configuration.simulation.concurrency = 1
    let fixture = EngineFixture(ScriptedStore(files), configuration)
    let (reader, directory) = (fixture.node("x"), fixture.node("d"))
    #expect(fixture.engine.setPolicy(.eager, of: directory) == nil)
    fixture.lane.runAll()
    while fixture.engine.attemptsInFlight().count < EagerFetches.atOnce {
      fixture.timer.advance(milliseconds: 1) { fixture.lane.runAll() }
    }
    let answer = fixture.trigger(reader)
    fixture.timer.advance(milliseconds: 2) { fixture.lane.runAll() }
    #expect(answer.isReady, "before the five that wait for the slot")
  }

  @Test func aRefusedCallersPolicyDoesNotHoldItUp() {
    var configuration = EngineConfiguration()
    configuration.simulation.materialize = false
    let fixture = EngineFixture(ScriptedStore(["a": 10]), configuration)
    fixture.trigger(.root, TriggerRequest(trigger: .command, caller: EngineFixture.caller()))
    fixture.lane.runAll()
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("a")) == nil)
    fixture.settle()
    #expect(fixture.isResident("a"))
  }

  @Test func aFailedFetchIsNotRepeatedByItself() {
    let fixture = make()
    fixture.store.edit("d/a") { $0.failure = FSError(.ioError, "broken") }
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("d")) == nil)
    fixture.settle()
    fixture.timer.advance(milliseconds: 60_000) { fixture.lane.runAll() }
    #expect(fixture.resident(["d/a", "d/e/b", "d/e/c"]) == ["d/e/b", "d/e/c"])
    let failures = fixture.events.all.filter {
      if case .materializationFinished(let record) = $0 { record.outcome == .failed(.ioError) } else { false }
    }
    #expect(failures.count == 1)
  }

  @Test func whatIsPinnedComesWhenTheStoreIsBack() {
    let fixture = make()
    var simulation = fixture.engine.simulation
    simulation.isOffline = true
    fixture.engine.apply(simulation, restartsClock: false)
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("d")) == nil)
    fixture.settle()
    #expect(fixture.resident(Self.files.keys.sorted()) == [])
    simulation.isOffline = false
    fixture.engine.apply(simulation, restartsClock: false)
    fixture.settle()
    #expect(fixture.resident(Self.files.keys.sorted()) == ["d/a", "d/e/b", "d/e/c"])
  }

  @Test func anotherVersionOfWhatIsPinnedIsFetchedAndPinned() {
    let fixture = make()
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("d/a")) == nil)
    #expect(fixture.engine.setPolicy(.lazy, of: fixture.node("f")) == nil)
    fixture.settle()
    for path in ["f/g", "h"] { #expect(fixture.read(path) == nil) }
    for path in ["d/a", "f/g", "h"] { fixture.store.write(path, size: 70) }
    #expect(fixture.refresh("").text?.contains("3 changed") == true)
    fixture.settle()
    #expect(fixture.isResident("d/a"), "pinned")
    #expect(fixture.isResident("f/g"), "lazy: what was local follows the store")
    #expect(!fixture.isResident("h"), "the default: dataless")
    #expect(fixture.refusal("d/a")?.reason == .pinned, "the pin is the new version's")
    #expect(fixture.refusal("f/g") == nil)
  }

  @Test func whereThereIsNoRoomTheRestIsLeft() {
    let files = Dictionary(uniqueKeysWithValues: (0..<30).map { ("d/\($0)", EngineFixture.page) })
    let fixture = EngineFixture.limited(10 * EngineFixture.page, files)
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("d")) == nil)
    fixture.settle()
    fixture.timer.advance(milliseconds: 60_000) { fixture.lane.runAll() }
    #expect(fixture.resident(files.keys.sorted()).count == 10)
    #expect(fixture.evictions.isEmpty)
    #expect(fixture.events.all.count < 300, "not an attempt for each")
  }

  @Test func aRenameIntoAnotherDirectoryChangesWhatIsInherited() {
    let fixture = make(.scratch)
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("d")) == nil)
    fixture.settle()
    #expect(!fixture.isResident("h") && !fixture.isResident("f/g"))
    #expect(fixture.rename("h", to: "h", into: fixture.node("d")) == .ok)
    #expect(fixture.rename("f", to: "f", into: fixture.node("d/e")) == .ok)
    fixture.settle()
    #expect(fixture.isResident("d/h") && fixture.isResident("d/e/f/g"))
    #expect(fixture.refusal("d/h")?.reason == .pinned)
    #expect(fixture.rename("a", in: fixture.node("d"), to: "a") == .ok)
    #expect(inForce(fixture, "a") == .lazyAndEvict, "it lies in the root now")
  }

  @Test func attributesSetAndTellPolicies() {
    let fixture = make(.scratch)
    func set(_ name: String, _ value: String?, of path: String) -> String? {
      let answer = Answer()
      let done: @Sendable (FSError?) -> Void = { answer.set($0.map { .failed($0) } ?? .ready) }
      let (node, waiter) = (fixture.node(path), fixture.makeWaiter())
      if let value {
        fixture.engine.setExtendedAttribute(
          Array(name.utf8), to: Array(value.utf8), how: .any, of: node, by: EngineFixture.maker, waiter: waiter,
          completion: done)
      } else {
        fixture.engine.removeExtendedAttribute(
          Array(name.utf8), of: node, by: EngineFixture.maker, waiter: waiter, completion: done)
      }
      fixture.lane.runAll()
      return answer.errno
    }
    let (pin, policy) = ("user.com.apple.fileprovider.pinned#PX", "user.dataless.policy")
    #expect(set(pin, "1", of: "d") == nil)
    fixture.settle()
    #expect(fixture.isResident("d/e/b"))
    #expect(fixture.attribute(pin, of: fixture.node("d")) == "1")
    #expect(fixture.attribute(policy, of: fixture.node("d")) == "eager")
    #expect(set(pin, "yes", of: "d") == "EINVAL")
    #expect(set(policy, "lazy", of: "d/e") == nil)
    #expect(fixture.refusal("d/e/b") == nil)
    #expect(set(pin, nil, of: "d") == nil)
    #expect(set(pin, nil, of: "d") == "ENODATA")
    #expect(fixture.refusal("d/a") == nil)
  }

  @Test func thePolicyIsToldToTheJournal() {
    let journal = RecordingJournal()
    let fixture = EngineFixture.writable(["a": 10], writing: .kept, journal: journal)
    let node = fixture.node("a")
    #expect(fixture.engine.setPolicy(.eager, of: node) == nil)
    #expect(fixture.engine.setPolicy(.inherited, of: node) == nil)
    let told = journal.changes.compactMap { change -> String? in
      guard case .attribute(_, let name, let value) = change else { return nil }
      return String(decoding: name, as: UTF8.self) + " " + String(decoding: value ?? [], as: UTF8.self)
    }
    #expect(told == ["user.dataless.policy eager", "user.dataless.policy "])
  }

  /// SOURCE has another file under one of two names: what is kept says of the other one what is so here.
  @Test func aPinThatGoesWithOneNameIsTakenFromTheOther() {
    let journal = RecordingJournal()
    let fixture = EngineFixture.writable(["a": 10], links: [("b", to: "a")], writing: .kept, journal: journal)
    #expect(fixture.engine.setPolicy(.eager, of: fixture.node("a")) == nil)
    fixture.settle()
    fixture.store.write("a", size: 30, inode: 999)
    fixture.store.edit("b") { item in
      item.attributes.linkCount = 1
      item.attributes.changeTime.seconds += 1
    }
    #expect(fixture.refresh("").error == nil)
    fixture.settle()
    let (a, b) = (fixture.node("a"), fixture.node("b"))
    #expect(a != b)
    #expect(fixture.engine.policy(of: a)?.own == .eager && fixture.engine.policy(of: b)?.own == .inherited)
    var kept: [NodeID: [UInt8]] = [:]
    let changes = journal.changes.flatMap { if case .together(let changes) = $0 { changes } else { [$0] } }
    for case .attribute(let item, let name, let value) in changes where name == PolicyAttribute.policy {
      kept[item.node] = value
    }
    #expect(kept == [a: Array("eager".utf8)])
  }
}
