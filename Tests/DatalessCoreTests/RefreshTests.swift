@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// A refresh of what is listed: what changes under the names, and what open handles keep.
@Suite struct EngineRefreshTests {
  private func make(
    _ kind: StoreKind, _ files: [String: Int], links: [(String, to: String)] = [], keeps: Bool = false
  ) -> EngineFixture {
    var configuration = EngineConfiguration()
    configuration.keepsResidentChanges = keeps
    let fixture = EngineFixture(ScriptedStore(files, links: links), configuration, kind: kind)
    for path in files.keys.sorted() { _ = fixture.node(path) }
    return fixture
  }

  @Test(arguments: StoreKind.allCases) func anUnchangedTreeIsUnchangedAndTheKernelIsToldNothing(_ kind: StoreKind) {
    let fixture = make(kind, ["a": 1, "d/b": 2, "d/e/c": 3])
    fixture.kernel.calls.withLock { $0 = [] }
    let outcome = fixture.refresh("")
    #expect(outcome.text == "5 unchanged in 3")
    #expect(fixture.kernel.calls.withLock { $0 } == [])
    #expect(fixture.events.kinds.last == "refreshed")
  }

  @Test(arguments: StoreKind.allCases) func whatIsDatalessIsNotListed(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["d/b": 2, "d/e/c": 3]), kind: kind)
    #expect(fixture.refresh("").text == " in 0")
    #expect(fixture.store.lists.load(ordering: .relaxed) == 0)
    fixture.list("d")
    let lists = fixture.store.lists.load(ordering: .relaxed)
    #expect(fixture.refresh("").text == "3 unchanged in 2")
    #expect(fixture.store.lists.load(ordering: .relaxed) == lists + 2)
    // What holds it is dataless; what holds that tells whether it is there.
    #expect(fixture.refresh("d/e/c").text == "2 unchanged in 1")
  }

  @Test(arguments: StoreKind.allCases) func aDatalessFileTakesItsNewSizeWithoutAFetch(_ kind: StoreKind) {
    let fixture = make(kind, ["a": 10, "b": 1])
    let node = fixture.node("a")
    fixture.kernel.calls.withLock { $0 = [] }
    fixture.store.write("a", size: 20)
    #expect(fixture.refresh("a").text == "1 changed, 1 unchanged in 1")
    // Another node: the kernel could take the old size for that of the new version otherwise.
    #expect(fixture.node("a") != node)
    #expect(fixture.engine.attributes(of: fixture.node("a"))?.attributes.size == 20)
    #expect(fixture.kernel.calls.withLock { $0 } == ["directory 1 1"])
    #expect(fixture.store.opens.load(ordering: .relaxed) == 0)
    #expect(fixture.content("a") == fixture.store.bytes("a"))
  }

  @Test(arguments: StoreKind.allCases) func anOpenDatalessHandleGetsESTALEAndTheNameTheNewVersion(_ kind: StoreKind) {
    let fixture = make(kind, ["a": 10])
    let old = fixture.node("a")
    guard case .dataless(let handle) = fixture.engine.open(old, process: .unknown, openFlags: 0) else {
      Issue.record("not dataless")
      return
    }
    fixture.store.write("a", size: 20)
    #expect(fixture.refresh("").text == "1 changed in 1")
    #expect(fixture.node("a") != old)
    #expect(fixture.kernel.calls.withLock { $0.last } == "directory 1 1")
    #expect(fixture.read(old, handle) == .failed("ESTALE"))
    #expect(fixture.content("a") == fixture.store.bytes("a"))
    guard case .failed(.staleNFSFileHandle) = fixture.engine.open(old, process: .unknown, openFlags: 0) else {
      Issue.record("an old version is opened anew")
      return
    }
    fixture.engine.release(old, handle: handle)
    #expect(fixture.engine.counts.files == 1)
  }

  @Test(arguments: StoreKind.allCases) func aResidentFileBecomesStaleAndItsHandlesReadOnFromTheOldVersion(
    _ kind: StoreKind
  ) {
    let fixture = make(kind, ["a": 10])
    let bytes = fixture.store.bytes("a")
    let old = fixture.node("a")
    #expect(fixture.content("a") == bytes)
    let handle = fixture.open(old)
    fixture.store.write("a", size: 4)
    #expect(fixture.refresh("").text == "1 changed in 1")
    #expect(fixture.read(old, handle) == .bytes(bytes))
    #expect(fixture.engine.isDataless(fixture.node("a")))
    #expect(fixture.content("a") == fixture.store.bytes("a"))
    #expect(fixture.content.items == 2)
    fixture.engine.release(old, handle: handle)
    fixture.lane.runAll()
    #expect(fixture.content.items == 1)
    #expect(fixture.engine.counts.filesResident == 1)
  }

  @Test(arguments: StoreKind.allCases) func theLogTellsAnotherModeFromAnotherVersionAndWhichVersionAHandleIsOf(
    _ kind: StoreKind
  ) {
    let fixture = make(kind, ["a": 10])
    let old = fixture.node("a")
    func open() -> UInt64 {
      guard case .dataless(let handle) = fixture.engine.open(old, process: .unknown, openFlags: 0) else { return 0 }
      return handle
    }
    let handles = [open(), open()]
    fixture.store.edit("a") { $0.attributes.mode = 0o100600 }
    #expect(fixture.refresh("").text == "1 changed in 1")
    fixture.engine.release(old, handle: handles[0])
    fixture.store.write("a", size: 20)
    #expect(fixture.refresh("").text == "1 changed in 1")
    fixture.engine.recordOpenHandles()
    fixture.engine.release(old, handle: handles[1])
    var changes: [Bool] = []
    var closed: [Bool] = []
    for event in fixture.events.all {
      switch event {
      case .sourceChanged(let change): changes.append(change.isMetadataOnly)
      case .handleOpen(let handle), .handleClosed(let handle): closed.append(handle.isSuperseded)
      default: break
      }
    }
    #expect(changes == [true, false])
    #expect(closed == [false, true, true])
  }

  @Test(arguments: StoreKind.allCases) func aResidentFileThatNobodyHasOpenIsFreedAtOnce(_ kind: StoreKind) {
    let fixture = make(kind, ["a": 10])
    _ = fixture.content("a")
    fixture.store.write("a", size: 4)
    _ = fixture.refresh("")
    #expect(fixture.content.items == 0)
    #expect(fixture.events.kinds.contains("evicted"))
    #expect(fixture.engine.counts.filesResident == 0)
    #expect(fixture.engine.counts.files == 1)
  }

  @Test(arguments: StoreKind.allCases) func aKeptFileIsWhatItWasUntilItIsEvicted(_ kind: StoreKind) {
    let fixture = make(kind, ["a": 10], keeps: true)
    let bytes = fixture.store.bytes("a")
    #expect(fixture.content("a") == bytes)
    let node = fixture.node("a")
    fixture.store.write("a", size: 4, inode: 4711)
    #expect(fixture.refresh("").text == "1 kept in 1")
    #expect(fixture.refresh("").text == "1 kept in 1")
    #expect(fixture.events.kinds.filter { $0 == "source kept" }.count == 1)
    #expect(fixture.node("a") == node)
    #expect(fixture.engine.describe(node)?.isKept == true)
    #expect(fixture.engine.attributes(of: node)?.attributes.size == 10)
    #expect(fixture.content("a") == bytes)
    fixture.engine.evict(node, by: "command") { _ in }
    fixture.lane.runAll()
    #expect(fixture.engine.describe(node)?.isKept == false)
    #expect(fixture.engine.attributes(of: fixture.node("a"))?.attributes.size == 4)
    #expect(fixture.content("a") == fixture.store.bytes("a"))
    #expect(fixture.refresh("").text == "1 unchanged in 1")
  }

  @Test(arguments: [false, true], StoreKind.allCases) func aRenamedFileStaysTheSameNodeAndResident(
    acrossDirectories: Bool, kind: StoreKind
  ) {
    let fixture = make(kind, ["d/a": 10, "e/b": 1])
    _ = fixture.content("d/a")
    let node = fixture.node("d/a")
    let target = acrossDirectories ? "e/z" : "d/z"
    fixture.store.move("d/a", to: target)
    #expect(fixture.refresh("").text == "1 renamed, 3 unchanged in 3")
    #expect(fixture.node(target) == node)
    #expect(fixture.node("d/a") == NodeID(rawValue: 0))
    #expect(fixture.engine.describe(node)?.state == "resident")
    #expect(fixture.store.opens.load(ordering: .relaxed) == 1)
    let records = fixture.events.all.compactMap { event in
      if case .sourceChanged(let change) = event { change } else { nil }
    }
    #expect(records.map { String(decoding: $0.oldPath ?? [], as: UTF8.self) } == ["d/a"])
    #expect(records.map { String(decoding: $0.path, as: UTF8.self) } == [target])
  }

  @Test(arguments: StoreKind.allCases) func twoFilesThatHaveChangedNamesAreTwoRenames(_ kind: StoreKind) {
    let fixture = make(kind, ["a": 10, "b": 20])
    let (first, second) = (fixture.node("a"), fixture.node("b"))
    _ = fixture.content("a")
    fixture.store.move("a", to: "t")
    fixture.store.move("b", to: "a")
    fixture.store.move("t", to: "b")
    #expect(fixture.refresh("").text == "2 renamed in 1")
    #expect(fixture.node("a") == second)
    #expect(fixture.node("b") == first)
    #expect(fixture.engine.counts.files == 2)
    #expect(fixture.content("b") == fixture.store.bytes("b"))
    #expect(fixture.store.opens.load(ordering: .relaxed) == 1)
  }

  @Test(arguments: StoreKind.allCases) func aFileRenamedOverAnotherReplacesIt(_ kind: StoreKind) {
    let fixture = make(kind, ["a": 10, "b": 20])
    let node = fixture.node("a")
    _ = fixture.content("b")
    fixture.store.move("a", to: "b")
    #expect(fixture.refresh("").text == "1 renamed in 1")
    #expect(fixture.node("b") == node)
    #expect(fixture.content.items == 0)
    #expect(fixture.engine.counts.files == 1)
  }

  @Test(arguments: StoreKind.allCases) func aRenamedDirectoryKeepsWhatIsListedInIt(_ kind: StoreKind) {
    let fixture = make(kind, ["d/e/a": 10, "f": 1])
    _ = fixture.content("d/e/a")
    let (directory, file) = (fixture.node("d/e"), fixture.node("d/e/a"))
    fixture.store.move("d", to: "g")
    #expect(fixture.refresh("").text == "1 renamed, 3 unchanged in 3")
    #expect(fixture.node("g/e") == directory)
    #expect(fixture.node("g/e/a") == file)
    #expect(fixture.engine.describe(file)?.state == "resident")
    #expect(fixture.engine.counts.directories == 3)
  }

  @Test(arguments: StoreKind.allCases) func addedAndRemovedNamesComeAndGo(_ kind: StoreKind) {
    let fixture = make(kind, ["d/a": 10, "d/b": 1])
    let gone = fixture.node("d/b")
    fixture.store.remove("d/b")
    fixture.store.write("d/c", size: 5)
    #expect(fixture.refresh("d").text == "1 added, 1 gone, 2 unchanged in 2")
    #expect(fixture.names("d") == [".", "..", "a", "c"])
    #expect(fixture.kernel.calls.withLock { $0.last } == "directory \(fixture.node("d").rawValue) 2")
    #expect(fixture.engine.counts.files == 2)
    fixture.store.write("d/b", size: 1)
    #expect(fixture.refresh("d/b").text == "1 added, 2 unchanged in 1")
    #expect(fixture.node("d/b") != gone)
  }

  @Test(arguments: StoreKind.allCases) func aVanishedDirectoryTakesItsResidentChildrenWithIt(_ kind: StoreKind) {
    let fixture = make(kind, ["d/e/a": 10, "d/e/b": 20, "d/c": 1])
    _ = fixture.content("d/e/a")
    _ = fixture.content("d/e/b")
    let open = fixture.node("d/e/b")
    let inside = fixture.node("d/e")
    let bytes = fixture.store.bytes("d/e/b")
    let handle = fixture.open(open)
    fixture.store.remove("d")
    #expect(fixture.refresh("").text == "1 gone in 1")
    #expect(fixture.content.items == 1)
    #expect(fixture.engine.counts.files == 0)
    #expect(fixture.engine.counts.directories == 1)
    #expect(fixture.read(open, handle) == .bytes(bytes))
    let lost = Array("a".utf8).withUnsafeBufferPointer { fixture.engine.lookup($0, in: inside) }
    guard case .absent = lost else {
      Issue.record("a directory that is gone still has names")
      return
    }
    fixture.engine.release(open, handle: handle)
    fixture.lane.runAll()
    #expect(fixture.content.items == 0)
  }

  @Test(arguments: StoreKind.allCases) func aFileThatBecomesADirectoryAndBackIsAnotherItemEachTime(_ kind: StoreKind) {
    let fixture = make(kind, ["a": 10])
    _ = fixture.content("a")
    fixture.store.remove("a")
    fixture.store.write("a/x", size: 3)
    #expect(fixture.refresh("").text == "1 changed in 1")
    #expect(fixture.content.items == 0)
    #expect(fixture.content("a/x") == fixture.store.bytes("a/x"))
    fixture.store.remove("a")
    fixture.store.write("a", size: 6)
    #expect(fixture.refresh("").text == "1 changed in 1")
    #expect(fixture.content.items == 0)
    #expect(fixture.content("a") == fixture.store.bytes("a"))
    #expect(fixture.engine.counts.directories == 1)
  }

  @Test(arguments: StoreKind.allCases) func hardLinksAreChangedTogetherAndRenamedOneByOne(_ kind: StoreKind) {
    let fixture = make(kind, ["d/a": 10, "d/z": 1], links: [("d/b", to: "d/a")])
    let node = fixture.node("d/b")
    _ = fixture.content("d/a")
    fixture.store.move("d/b", to: "d/c")
    fixture.store.edit("d/a") { $0.attributes.changeTime.seconds += 1 }
    let linked = fixture.store.item("d/a").attributes
    fixture.store.edit("d/c") { $0.attributes = linked }
    #expect(fixture.refresh("").text == "1 changed, 1 renamed, 2 unchanged in 2")
    #expect(fixture.node("d/a") == node)
    #expect(fixture.node("d/c") == node)
    #expect(fixture.engine.describe(node)?.state == "resident")
    for name in ["d/a", "d/c"] { fixture.store.write(name, size: 30, inode: 999, links: 2) }
    #expect(fixture.refresh("d").text == "2 changed, 2 unchanged in 2")
    #expect(fixture.node("d/a") == fixture.node("d/c"))
    #expect(fixture.node("d/a") != node)
    #expect(fixture.engine.counts.files == 2)
    #expect(fixture.content.items == 0)
  }

  @Test(arguments: StoreKind.allCases) func anAttemptInFlightEndsWithESTALEAndTheNameIsTheNewVersion(_ kind: StoreKind)
  {
    let fixture = make(kind, ["a": 10])
    let old = fixture.node("a")
    guard case .dataless(let handle) = fixture.engine.open(old, process: .unknown, openFlags: 0) else { return }
    let waiting = fixture.trigger(old)
    fixture.store.write("a", size: 20)
    let refresh = fixture.startRefresh("")
    fixture.lane.runAll()
    #expect(waiting.errno == "ESTALE")
    #expect(refresh.text == "1 changed in 1")
    #expect(fixture.content("a") == fixture.store.bytes("a"))
    fixture.engine.release(old, handle: handle)
    #expect(fixture.content.items == 1)
    #expect(fixture.content.openWriters == 0)
  }

  @Test(arguments: StoreKind.allCases) func aVanishedFileIsESTALEForItsHandlesAndNotENOENT(_ kind: StoreKind) {
    let fixture = make(kind, ["a": 10])
    let old = fixture.node("a")
    guard case .dataless(let handle) = fixture.engine.open(old, process: .unknown, openFlags: 0) else { return }
    fixture.store.remove("a")
    #expect(fixture.refresh("a").text == "1 gone in 1")
    #expect(fixture.read(old, handle) == .failed("ESTALE"))
  }

  @Test(arguments: StoreKind.allCases) func aChangeOfModeOrOwnerKeepsContent(_ kind: StoreKind) {
    let fixture = make(kind, ["a": 10])
    _ = fixture.content("a")
    fixture.store.edit("a") {
      $0.attributes.mode = 0o100600
      $0.attributes.changeTime.seconds += 1
    }
    #expect(fixture.refresh("").text == "1 changed in 1")
    #expect(fixture.engine.attributes(of: fixture.node("a"))?.attributes.mode == 0o100600)
    #expect(fixture.engine.describe(fixture.node("a"))?.state == "resident")
  }

  @Test(arguments: StoreKind.allCases) func pathsThatAreNowhereAndDirectoriesThatFailAreTold(_ kind: StoreKind) {
    let fixture = make(kind, ["d/a": 10, "e/b": 1])
    fixture.store.edit("d") { $0.failure = FSError(.permissionDenied, "scripted") }
    let outcome = fixture.refresh("", "nothing/here")
    #expect(outcome.text == "3 unchanged in 2; d: EACCES, nothing/here: ENOENT")
    #expect(fixture.node("d/a") != NodeID(rawValue: 0))
  }

  @Test(arguments: StoreKind.allCases) func anEvictedDirectoryIsLeftAloneByARefreshUnderWay(_ kind: StoreKind) {
    let fixture = make(kind, ["d/a": 10, "b": 1])
    fixture.store.remove("d/a")
    let refresh = fixture.startRefresh("")
    fixture.lane.runOne()
    fixture.engine.evict(fixture.node("d"), by: "command") { _ in }
    fixture.lane.runAll()
    #expect(refresh.text == "2 unchanged in 1")
    #expect(fixture.engine.isDataless(fixture.node("d")))
  }

  @Test(arguments: StoreKind.allCases) func refreshesComeOneAfterTheOtherAndEndWithTheVolume(_ kind: StoreKind) {
    let fixture = make(kind, ["a": 10])
    let (first, second) = (fixture.startRefresh(""), fixture.startRefresh(""))
    fixture.lane.runOne()
    #expect(first.text == nil)
    fixture.engine.end(FSError(.timedOut, "the end"))
    #expect(first.error == "ETIMEDOUT")
    #expect(second.error == "ETIMEDOUT")
    fixture.lane.runAll()
    #expect(fixture.startRefresh("").error == "ETIMEDOUT")
  }

  @Test(arguments: StoreKind.allCases) func aStoreThatIsOfflineCannotBeRefreshed(_ kind: StoreKind) {
    var configuration = EngineConfiguration()
    configuration.simulation.isOffline = true
    let fixture = EngineFixture(ScriptedStore(["a": 1]), configuration, kind: kind)
    #expect(fixture.startRefresh("").error == "ETIMEDOUT")
    #expect(fixture.lane.waiting == 0)
  }

  @Test(arguments: StoreKind.allCases) func aPollRefreshesAllThatIsListedAndStopsWhenItIsTold(_ kind: StoreKind) {
    let fixture = make(kind, ["d/a": 10])
    #expect(fixture.timer.pending == 0)
    var simulation = Simulation()
    simulation.poll = 1_000_000_000
    fixture.engine.apply(simulation, restartsClock: false)
    fixture.engine.schedulePoll()
    #expect(fixture.timer.pending == 1)
    fixture.events.clear()
    fixture.timer.advance(milliseconds: 1000) { fixture.lane.runAll() }
    #expect(fixture.events.kinds == [], "nothing has changed")
    fixture.store.write("d/a", size: 20)
    fixture.timer.advance(milliseconds: 1000) { fixture.lane.runAll() }
    #expect(fixture.events.kinds == ["source changed", "refreshed"])
    fixture.engine.apply(Simulation(), restartsClock: false)
    fixture.store.write("d/a", size: 30)
    fixture.timer.advance(milliseconds: 10_000) { fixture.lane.runAll() }
    #expect(fixture.events.kinds.count == 2)
    #expect(fixture.timer.pending == 0)
  }

  @Test(arguments: StoreKind.allCases) func aLargeDirectoryIsRefreshedInSteps(_ kind: StoreKind) {
    let fixture = make(kind, Dictionary(uniqueKeysWithValues: (0..<3000).map { ("d/f\($0)", 1) }))
    for index in stride(from: 0, to: 3000, by: 2) { fixture.store.write("d/f\(index)", size: 2) }
    for index in stride(from: 1, to: 3000, by: 4) { fixture.store.remove("d/f\(index)") }
    for index in 0..<500 { fixture.store.write("d/g\(index)", size: 3) }
    #expect(fixture.refresh("").text == "500 added, 1500 changed, 750 gone, 751 unchanged in 2")
    #expect(fixture.names("d").count == 2752)
    #expect(fixture.engine.counts.files == 2750)
  }
}
