import DatalessCore
import Synchronization
import Testing

@Suite struct HandleTests {
  @Test func aHandleOfADatalessFileRecordsWhatWasRead() throws {
    let fixture = EngineFixture(ScriptedStore(["a": 10_000]))
    let node = fixture.node("a")
    guard case .dataless(let handle) = fixture.engine.open(node, process: ProcessID(rawValue: 9), openFlags: 0) else {
      Issue.record("the file should be dataless")
      return
    }
    fixture.trigger(node, TriggerRequest(trigger: .read, caller: EngineFixture.caller(), handle: handle))
    fixture.lane.runAll()
    for (offset, length) in [(Int64(0), Int64(100)), (50, 100), (9_990, 4096)] {
      _ = fixture.engine.read(node, handle: handle, offset: offset, length: length, isDirect: true, threadID: 1)
    }
    fixture.engine.release(node, handle: handle)
    let closed = fixture.events.all.compactMap { event in
      if case .handleClosed(let record) = event { record } else { nil }
    }
    let record = try #require(closed.first)
    #expect(closed.count == 1)
    #expect(record.bytesRead == 210)
    #expect(record.coveredBytes == 160)
    #expect(record.highWaterMark == 10_000)
    #expect(record.reads == 3)
    #expect(record.triggered)
    #expect(record.process == ProcessID(rawValue: 9))
  }

  @Test func openingAResidentOrEmptyFileNeedsNoHandle() {
    let fixture = EngineFixture(ScriptedStore(["a": 10, "empty": 0]))
    let node = fixture.node("a")
    fixture.trigger(node)
    fixture.lane.runAll()
    for name in ["a", "empty"] {
      guard case .resident = fixture.engine.open(fixture.node(name), process: .unknown, openFlags: 0) else {
        Issue.record("'\(name)' should open as resident")
        return
      }
    }
    #expect(fixture.engine.counts.filesEmpty == 1)
    #expect(!fixture.engine.isDataless(fixture.node("empty")))
  }

  @Test func residentFilesPassThroughOnlyBesideTheirKind() {
    var configuration = EngineConfiguration()
    configuration.passthrough = true
    let fixture = EngineFixture(ScriptedStore(["a": 10]), configuration)
    fixture.content.ownFiles.store(true, ordering: .relaxed)
    let node = fixture.node("a")
    func open() -> String {
      switch fixture.engine.open(node, process: .unknown, openFlags: 0) {
      case .dataless: "direct"
      case .resident: "cached"
      case .passthrough: "passthrough"
      case .needsMaterialization: "materialize"
      case .failed(let errno): errno.name
      }
    }
    #expect(open() == "direct")
    fixture.trigger(node)
    fixture.lane.runAll()
    #expect(open() == "cached")
    fixture.engine.release(node, handle: 1)
    #expect(open() == "cached")
    for _ in 0..<2 { fixture.engine.release(node, handle: 0) }
    #expect(open() == "passthrough")
    #expect(open() == "passthrough")
    for _ in 0..<2 { #expect(fixture.engine.refusePassthrough(node)) }
    #expect(open() == "cached")
    for _ in 0..<3 { fixture.engine.release(node, handle: 0) }
    #expect(open() == "passthrough")
    #expect(fixture.engine.confirmPassthrough(node))
    // Withdrawn, but not from a file that is open so: beside it the kernel would refuse any other kind.
    fixture.engine.withdrawPassthrough()
    #expect(open() == "passthrough")
    #expect(fixture.engine.confirmPassthrough(node))
    for _ in 0..<2 { fixture.engine.release(node, handle: Engine.passthroughHandle) }
    #expect(open() == "cached")
    fixture.engine.release(node, handle: 0)
    #expect(fixture.engine.opens.now == OpenModes())
    #expect(fixture.engine.opens.sinceMount.direct == 1)
    #expect(fixture.engine.opens.sinceMount.pageCache == 6)
    #expect(fixture.engine.opens.sinceMount.passthrough == 2)
  }

  /// Two opens decided at once, of which one gets a backing and the other does not.
  @Test(arguments: [true, false]) func opensDecidedAtOnceAreServedAlike(firstSucceeds: Bool) {
    var configuration = EngineConfiguration()
    configuration.passthrough = true
    let fixture = EngineFixture(ScriptedStore(["a": 10]), configuration)
    fixture.content.ownFiles.store(true, ordering: .relaxed)
    let node = fixture.node("a")
    fixture.trigger(node)
    fixture.lane.runAll()
    for _ in 0..<2 { _ = fixture.engine.open(node, process: .unknown, openFlags: 0) }
    if firstSucceeds {
      #expect(fixture.engine.confirmPassthrough(node))
      #expect(!fixture.engine.refusePassthrough(node), "it has to share the backing")
      #expect(fixture.engine.confirmPassthrough(node))
      #expect(fixture.engine.opens.now.passthrough == 2)
    } else {
      #expect(fixture.engine.refusePassthrough(node))
      #expect(!fixture.engine.confirmPassthrough(node), "the other is cached by now")
      #expect(fixture.engine.opens.now.pageCache == 2)
    }
    for _ in 0..<2 { fixture.engine.release(node, handle: firstSucceeds ? Engine.passthroughHandle : 0) }
    #expect(fixture.engine.opens.now == OpenModes())
    fixture.engine.evict(node, by: "command") { _ in }
    fixture.lane.runAll()
    #expect(fixture.content.items == 0)
  }

  @Test func aMappingPastTheDaemonRefusesEviction() {
    var configuration = EngineConfiguration()
    configuration.passthrough = true
    let fixture = EngineFixture(ScriptedStore(["a": 10]), configuration)
    fixture.content.ownFiles.store(true, ordering: .relaxed)
    let node = fixture.node("a")
    fixture.trigger(node)
    fixture.lane.runAll()
    _ = fixture.engine.open(node, process: .unknown, openFlags: 0)
    #expect(fixture.engine.confirmPassthrough(node))
    fixture.engine.release(node, handle: Engine.passthroughHandle)
    fixture.content.mapped.store(true, ordering: .relaxed)
    for expected in ["refused", "refused", "evicted"] {
      if expected == "evicted" { fixture.content.mapped.store(false, ordering: .relaxed) }
      fixture.engine.evict(node, by: "command") { _ in }
      fixture.lane.runAll()
      fixture.timer.advance(milliseconds: 300) { fixture.lane.runAll() }
      #expect(fixture.events.kinds.last == expected)
    }
    #expect(fixture.content.items == 0)
  }

  @Test func seekFindsAllDataWhileDataless() {
    let fixture = EngineFixture(ScriptedStore(["a": 10_000]))
    let node = fixture.node("a")
    #expect(fixture.engine.seek(node, from: 17, hole: false) == .offset(17))
    #expect(fixture.engine.seek(node, from: 17, hole: true) == .offset(10_000))
    guard case .failed(let error) = fixture.engine.seek(node, from: 10_000, hole: false) else {
      Issue.record("beyond the end there is no data")
      return
    }
    #expect(error.errno.name == "ENXIO")
    #expect(fixture.engine.totals.files == 0)
  }
}
