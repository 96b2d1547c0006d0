@testable import DatalessCore
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
    #expect(record.reads.bytesRead == 210)
    #expect(record.reads.coveredBytes == 160)
    #expect(record.reads.highWaterMark == 10_000)
    #expect(record.reads.reads == 3)
    #expect(record.triggered)
    #expect(record.process == ProcessID(rawValue: 9))
  }

  private func closed(_ fixture: EngineFixture) -> [Event.HandleClosed] {
    fixture.events.all.compactMap { event in
      if case .handleClosed(let record) = event { record } else { nil }
    }
  }

  private func watched(_ fixture: EngineFixture, _ node: NodeID, by process: UInt32) throws -> UInt64 {
    let answer = fixture.engine.open(node, process: ProcessID(rawValue: process), openFlags: 0)
    guard case .dataless(let handle) = answer else { throw POSIXFailure() }
    return handle
  }

  private struct POSIXFailure: Error {}

  /// What all of them read is kept with each read: at the close nothing is put together.
  @Test(arguments: [1, 2, 16, 40])
  func whatManyProcessesReadIsTheUnionOfIt(processes: UInt32) throws {
    var readers = HandleReaders()
    var (all, reads, bytes) = (Set<Int64>(), 0, Int64(0))
    var random = SeededGenerator(seed: UInt64(processes))
    for _ in 0..<2_000 {
      let process = UInt32.random(in: 1...processes, using: &random)
      let start = Int64.random(in: 0..<60_000, using: &random)
      let range = start..<start + Int64.random(in: 1...20, using: &random)
      readers.note(ProcessID(rawValue: process), range, isMapped: process % 2 == 0)
      all.formUnion(range)
      reads += 1
      bytes += Int64(range.count)
    }
    let sum = readers.all(size: 1 << 20)
    #expect(sum.reads == reads && sum.bytesRead == bytes)
    #expect(sum.coveredBytes == Int64(all.count) && sum.highWaterMark == (all.max() ?? 0) + 1)
    let each = readers.others(than: .unknown, size: 1 << 20)
    #expect(each.count == min(Int(processes), HandleReaders.processesMax))
    #expect(each.reduce(0) { $0 + $1.reads.reads } == reads)
    #expect(each.reduce(0) { $0 + $1.reads.bytesRead } == bytes)
  }

  @Test func readsAreTheReadersAndNotTheOpeners() throws {
    let fixture = EngineFixture(ScriptedStore(["a": 10_000]))
    let node = fixture.node("a")
    let handle = try watched(fixture, node, by: 9)
    fixture.trigger(node, TriggerRequest(trigger: .read, caller: EngineFixture.caller(), handle: handle))
    fixture.lane.runAll()
    for (process, offset, length, isDirect) in [
      (UInt32(7), Int64(0), Int64(100), true), (8, 50, 100, true), (7, 4_096, 4_096, false),
    ] {
      _ = fixture.engine.read(
        node, handle: handle, offset: offset, length: length, isDirect: isDirect, threadID: 1,
        process: ProcessID(rawValue: process))
    }
    fixture.engine.release(node, handle: handle)
    let record = try #require(closed(fixture).first)
    #expect(record.reads.coveredBytes == 150 + 4_096 && record.reads.bytesRead == 200 + 4_096)
    #expect(record.reads.mappedBytes == 4_096 && record.reads.ranges == [0..<150, 4_096..<8_192])
    #expect(record.readers.map(\.process.rawValue) == [7, 8])
    #expect(record.readers.first?.reads.ranges == [0..<100, 4_096..<8_192])
    #expect(record.readers.last?.reads.reads == 1)
    #expect(!record.isCachedBefore, "it asked for the pages itself")
  }

  @Test func manyReadersOfOneHandleAreBounded() throws {
    let fixture = EngineFixture(ScriptedStore(["a": 10_000]))
    let node = fixture.node("a")
    let handle = try watched(fixture, node, by: 1)
    fixture.trigger(node)
    fixture.lane.runAll()
    for process in 1...100 as ClosedRange<UInt32> {
      _ = fixture.engine.read(
        node, handle: handle, offset: Int64(process) * 10, length: 5, isDirect: true, threadID: 1,
        process: ProcessID(rawValue: process))
    }
    fixture.engine.release(node, handle: handle)
    let record = try #require(closed(fixture).first)
    #expect(record.readers.count == 16)
    #expect(record.readers.last?.process == .unknown && record.readers.last?.reads.reads == 85)
    #expect(record.reads.coveredBytes == 500 && record.reads.ranges == nil)
  }

  @Test func anOpenThatHidesReadsIsSaidOnceForEachContent() throws {
    let fixture = EngineFixture(ScriptedStore(["a": 10_000]))
    let node = fixture.node("a")
    for round in 1...2 {
      let handle = try watched(fixture, node, by: 9)
      fixture.trigger(node)
      fixture.lane.runAll()
      #expect(fixture.engine.recordsOpen(of: node))
      let later = (0..<3).map { _ in fixture.open(node, by: 5) }
      #expect(!fixture.engine.recordsOpen(of: node), "nobody need be identified any more")
      #expect(fixture.events.kinds.count { $0 == "unseen" } == round)
      for handle in later + [handle] { fixture.engine.release(node, handle: handle) }
      fixture.engine.evict(node, by: "command") { _ in }
      fixture.lane.runAll()
    }
    // What no watched handle has read, there is nothing to be said about.
    fixture.trigger(node)
    fixture.lane.runAll()
    _ = fixture.engine.open(node, process: ProcessID(rawValue: 5), openFlags: 0)
    #expect(fixture.events.kinds.count { $0 == "unseen" } == 2)
  }

  @Test func openHandlesTellWhatWasReadSoFarAndAtTheEnd() throws {
    let fixture = EngineFixture(ScriptedStore(["a": 10_000]))
    let node = fixture.node("a")
    let handle = try watched(fixture, node, by: 9)
    fixture.trigger(node)
    fixture.lane.runAll()
    _ = fixture.engine.read(node, handle: handle, offset: 0, length: 100, isDirect: true, threadID: 1)
    fixture.engine.recordOpenHandles()
    #expect(fixture.events.kinds.last == "open" && closed(fixture).isEmpty)
    fixture.engine.recordOpenHandles(isFinal: true)
    #expect(closed(fixture).map(\.reads.coveredBytes) == [100])
  }

  @Test func observedOpensOfResidentFilesAreWatched() throws {
    var configuration = EngineConfiguration()
    configuration.passthrough = true
    configuration.simulation.observation = .reads
    let fixture = EngineFixture(ScriptedStore(["a": 10_000, "empty": 0]), configuration)
    fixture.content.ownFiles.store(true, ordering: .relaxed)
    let node = fixture.node("a")
    fixture.trigger(node)
    fixture.lane.runAll()
    #expect(fixture.engine.recordsOpen(of: node))
    let handle = try watched(fixture, node, by: 9)
    _ = fixture.engine.read(
      node, handle: handle, offset: 0, length: 10_000, isDirect: true, threadID: 1, process: ProcessID(rawValue: 9))
    fixture.engine.release(node, handle: handle)
    let record = try #require(closed(fixture).first)
    #expect(
      record.reads.coveredBytes == 10_000 && !record.triggered && !record.isCachedBefore && record.readers.isEmpty)
    #expect(!fixture.events.kinds.contains("unseen"))
    guard case .resident = fixture.engine.open(fixture.node("empty"), process: .unknown, openFlags: 0) else {
      Issue.record("of an empty file there is nothing to observe")
      return
    }
    // While the kernel reads the content file itself, it refuses any other kind of open.
    configuration.simulation.observation = .off
    fixture.engine.apply(configuration.simulation, restartsClock: false)
    guard case .passthrough(_, let first) = fixture.engine.open(node, process: .unknown, openFlags: 0) else {
      Issue.record("it should pass through")
      return
    }
    #expect(fixture.engine.confirmPassthrough(first))
    configuration.simulation.observation = .reads
    fixture.engine.apply(configuration.simulation, restartsClock: false)
    guard case .passthrough(_, let second) = fixture.engine.open(node, process: .unknown, openFlags: 0) else {
      Issue.record("it must pass through")
      return
    }
    #expect(fixture.events.kinds.count { $0 == "unseen" } == 1)
    for handle in [first, second] { fixture.engine.release(node, handle: handle) }
    let late = try watched(fixture, node, by: 9)
    fixture.engine.release(node, handle: late)
    #expect(closed(fixture).last?.isCachedBefore == true, "it was read past us before")
  }

  @Test func pagesOfAnotherHandleMayHaveBeenUsed() throws {
    let fixture = EngineFixture(ScriptedStore(["a": 10_000]))
    let node = fixture.node("a")
    let handles = try [1, 2].map { try watched(fixture, node, by: $0) }
    fixture.trigger(node)
    fixture.lane.runAll()
    _ = fixture.engine.read(node, handle: handles[0], offset: 0, length: 4_096, isDirect: false, threadID: 1)
    for handle in handles { fixture.engine.release(node, handle: handle) }
    #expect(closed(fixture).map(\.isCachedBefore) == [false, true])
    fixture.engine.evict(node, by: "command") { _ in }
    fixture.lane.runAll()
    let handle = try watched(fixture, node, by: 3)
    fixture.engine.release(node, handle: handle)
    #expect(closed(fixture).last?.isCachedBefore == false, "the eviction dropped the pages")
  }

  @Test func openingAResidentOrEmptyFileNeedsNoWatch() {
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
    var handles: [UInt64] = []
    func open() -> String {
      let answer = fixture.engine.open(node, process: .unknown, openFlags: 0)
      switch answer {
      case .dataless(let handle), .resident(let handle), .passthrough(_, let handle): handles.append(handle)
      case .needsMaterialization, .isBeingEvicted, .failed: break
      }
      return switch answer {
      case .dataless: "direct"
      case .resident: "cached"
      case .passthrough: "passthrough"
      case .needsMaterialization: "materialize"
      case .isBeingEvicted: "is being evicted"
      case .failed(let errno): errno.name
      }
    }
    func close(_ count: Int) {
      for _ in 0..<count { fixture.engine.release(node, handle: handles.removeFirst()) }
    }
    #expect(open() == "direct")
    fixture.trigger(node)
    fixture.lane.runAll()
    #expect(open() == "cached")
    close(1)
    #expect(open() == "cached")
    close(2)
    #expect(open() == "passthrough")
    #expect(open() == "passthrough")
    for handle in handles { #expect(fixture.engine.refusePassthrough(handle) == .cached) }
    #expect(open() == "cached")
    close(3)
    #expect(open() == "passthrough")
    #expect(fixture.engine.confirmPassthrough(handles[0]))
    // Withdrawn, but not from a file that is open so: beside it the kernel would refuse any other kind.
    fixture.engine.withdrawPassthrough()
    #expect(open() == "passthrough")
    #expect(fixture.engine.confirmPassthrough(handles[1]))
    close(2)
    #expect(open() == "cached")
    close(1)
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
    let (first, second) = (fixture.open(node), fixture.open(node))
    if firstSucceeds {
      #expect(fixture.engine.confirmPassthrough(first))
      #expect(fixture.engine.refusePassthrough(second) == .shared, "it has to share the backing")
      #expect(fixture.engine.confirmPassthrough(second))
      #expect(fixture.engine.opens.now.passthrough == 2)
    } else {
      #expect(fixture.engine.refusePassthrough(first) == .cached)
      #expect(!fixture.engine.confirmPassthrough(second), "the other is cached by now")
      #expect(fixture.engine.opens.now.pageCache == 2)
    }
    for handle in [first, second] {
      fixture.engine.release(node, handle: firstSucceeds ? handle : OpenHandle.asCached(handle))
    }
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
    let handle = fixture.open(node)
    #expect(fixture.engine.confirmPassthrough(handle))
    fixture.engine.release(node, handle: handle)
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
