@testable import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Trees that are removed in one request: what goes at once, what later, and what stays.
@Suite struct TreeRemovalTests {
  private static let files = ["t/a": 10, "t/d/b": 9_000, "t/d/e/c": 5, "t/empty": 0, "other": 7]

  private func make(_ edit: (inout EngineConfiguration) -> Void = { _ in }) -> EngineFixture {
    .writable(Self.files, edit)
  }

  @Test func theNameGoesAtOnceAndTheRestLater() {
    let fixture = make()
    for path in ["t/a", "t/d/b", "t/d/e/c"] { #expect(fixture.content(path) != nil) }
    let (d, e) = (fixture.lookUp("t/d"), fixture.lookUp("t/d/e"))
    fixture.events.clear()
    let before = fixture.content.items
    let found = fixture.detach("t").found
    #expect(found?.items == 7 && found?.directories == 3 && found?.dirtyItems == 0)
    #expect(found?.bytes == Int64(Room.pages(10) + Room.pages(9_000) + Room.pages(5)))
    #expect(fixture.entries(of: .root).keys.sorted() == ["other"])
    #expect(fixture.removals == ["t 7"], "one record for all of it")
    #expect(fixture.content.items == before, "nothing was waited for")
    #expect(fixture.engine.trashStatus.items == 6)
    // Whoever is in there is in a directory that was removed.
    #expect(fixture.lookUpCounted("b", in: d) == nil)
    #expect(fixture.makeFile("new", in: d) == .failed("ENOENT"))
    #expect(fixture.makeDirectory("new", in: e) == .failed("ENOENT"))
    fixture.lane.runAll()
    #expect(fixture.removals == ["t 7"])
    #expect(fixture.content.items == 0 && fixture.engine.trashStatus == TrashStatus())
    #expect(fixture.makeFile("new", in: e) == .failed("ENOENT"))
    for node in [d, e] { fixture.forget(node) }
    #expect(fixture.attributes(e) == nil, "nothing is kept of it")
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: .root).keys.sorted() == ["other"])
    #expect(fixture.store.bytes("t/d/e/c").count == 5, "the store has it still")
  }

  /// Whoever ends the volume then must not say that nothing is left.
  @Test func contentThatNobodyHasIsLeftUntilItIsRemoved() {
    let fixture = make()
    #expect(fixture.content("other") != nil && fixture.content("t/a") != nil)
    #expect(!fixture.engine.leavesContent)
    Array("other".utf8).withUnsafeBufferPointer {
      _ = fixture.engine.unlink($0, in: .root, by: EngineFixture.maker)
    }
    #expect(fixture.engine.leavesContent, "it is to be removed")
    fixture.lane.runAll()
    #expect(!fixture.engine.leavesContent)
  }

  @Test func directoriesThatWereNeverListedAreNot() {
    let fixture = make()
    fixture.list("")
    let lists = fixture.store.lists.load(ordering: .relaxed)
    #expect(fixture.remove("t").found?.items == 1)
    #expect(fixture.store.lists.load(ordering: .relaxed) == lists)
    #expect(fixture.entries(of: .root).keys.sorted() == ["other"])
  }

  @Test func aDirectoryOnTheWayIsListed() {
    let fixture = make()
    #expect(fixture.remove("t/d/e").found?.items == 1)
    #expect(fixture.entries(of: fixture.node("t/d")).keys.sorted() == ["b"])
    #expect(fixture.attributes(fixture.node("t/d"))?.modificationTime.nanoseconds == 5, "it has another time")
  }

  @Test func whatIsNotThereIsRefusedAndThenNothingGoes() {
    let fixture = make()
    #expect(fixture.remove("t", "nowhere") == .refused("nowhere", "ENOENT"))
    #expect(fixture.remove("t/a/x") == .refused("t/a/x", "ENOTDIR"))
    #expect(fixture.remove("t", "") == .refused("", "EBUSY"))
    #expect(fixture.entries(of: .root).keys.sorted() == ["other", "t"])
    let readOnly = EngineFixture(ScriptedStore(["a": 1]), EngineConfiguration())
    #expect(readOnly.remove("a") == .refused("a", "EROFS"))
  }

  @Test func pathsThatLieInOthersGoWithThem() {
    let fixture = make()
    fixture.list("t/d")
    #expect(fixture.remove("t/d/b", "t", "t", "other").found?.items == 7)
    #expect(fixture.removals == ["t 6", "other 0"])
    #expect(fixture.entries(of: .root).isEmpty)
  }

  @Test func moreTreesThanGoInOneStep() {
    let files = Dictionary(uniqueKeysWithValues: (0..<200).map { ("d\($0)/f", 1) })
    let fixture = EngineFixture.writable(files)
    fixture.list("")
    #expect(fixture.detach((0..<200).map { "d\($0)" }).found?.items == 200)
    fixture.lane.runAll()
    #expect(fixture.entries(of: .root).isEmpty)
  }

  @Test func dirtyFilesAreCountedAndNamed() {
    let fixture = make()
    for path in ["t/d/b", "t/empty"] {
      let node = fixture.lookUp(path)
      let (handle, errno) = fixture.openForWriting(node)
      #expect(errno == nil)
      fixture.write([1, 2, 3], to: node, handle, at: 0)
      fixture.close(node, handle)
      fixture.forget(node)
    }
    let found = fixture.remove("t").found
    #expect(found?.dirtyItems == 2 && found?.dirtyBytes == 9_003)
    #expect(found?.dirtyPaths.map { String(decoding: $0, as: UTF8.self) } == ["t/d/b", "t/empty"])
    #expect(fixture.content.items == 0)
    #expect(fixture.engine.changes.dirtyFiles == 0)
  }

  @Test func openFilesLiveOn() {
    let fixture = make()
    let node = fixture.lookUp("t/d/b")
    let (handle, _) = fixture.openForWriting(node)
    fixture.write([7], to: node, handle, at: 1)
    let read = fixture.lookUp("t/a")
    let reader = fixture.open(read)
    #expect(fixture.remove("t").found != nil)
    #expect(fixture.attributes(node)?.linkCount == 0)
    fixture.write([8], to: node, handle, at: 2)
    #expect(fixture.bytes(of: node, handle).map { Array($0[..<3]) } == [PatternBytes.bytes(0, 1)[0], 7, 8])
    #expect(fixture.bring(read, .read) == nil, "it is fetched by the name that it had")
    #expect(fixture.bytes(of: read, reader) == PatternBytes.bytes(0, 10))
    #expect(fixture.link(node, as: "again") == .made(node), "as one that was unlinked")
    fixture.close(node, handle)
    fixture.close(read, reader)
    for node in [node, read] { fixture.forget(node) }
    #expect(fixture.content.items == 1 && fixture.entries(of: .root).keys.sorted() == ["again", "other"])
  }

  @Test func anotherNameOutsideKeepsTheFile() {
    let fixture = EngineFixture.writable(["t/a": 10, "u/x": 1], links: [("u/b", to: "t/a")])
    let node = fixture.lookUp("t/a")
    #expect(fixture.lookUp("u/b") == node)
    #expect(fixture.content("t/a") != nil)
    #expect(fixture.link(fixture.lookUp("u/x"), as: "y", in: fixture.node("t")).node != nil)
    #expect(fixture.remove("t").found?.bytes == 0)
    #expect(fixture.attributes(node)?.linkCount == 1)
    #expect(fixture.content("u/b") == PatternBytes.bytes(0, 10))
    #expect(fixture.attributes(fixture.node("u/x"))?.linkCount == 1)
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.content("u/b") == PatternBytes.bytes(0, 10))
  }

  @Test func whatWasMovedOutIsStillFetched() {
    let fixture = EngineFixture.writable(["s/d/x": 10, "s/f": 20, "s/g": 1])
    let s = fixture.node("s")
    #expect(fixture.rename("d", in: s, to: "d") == .ok)
    #expect(fixture.rename("f", in: s, to: "f") == .ok)
    #expect(fixture.remove("s").found?.items == 2)
    #expect(fixture.content("d/x") == PatternBytes.bytes(0, 10))
    #expect(fixture.content("f") == PatternBytes.bytes(0, 20))
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: .root).keys.sorted() == ["d", "f"])
  }

  @Test func severalTreesQueueUp() {
    let fixture = EngineFixture.writable(["a/x": 1, "b/x": 1, "b/c/x": 1, "z": 1])
    for path in ["a/x", "b/x", "b/c/x"] { #expect(fixture.content(path) != nil) }
    #expect(fixture.detach("b/c").found?.items == 2)
    #expect(fixture.detach("a").found?.items == 2)
    #expect(fixture.detach("b").found?.items == 2, "what is in the trash already is not in it")
    #expect(fixture.detach("b/c") == .refused("b/c", "ENOENT"))
    fixture.lane.runAll()
    #expect(fixture.content.items == 0 && fixture.entries(of: .root).keys.sorted() == ["z"])
  }

  @Test func aNameThatWasRemovedCanBeMadeAgainAtOnce() {
    let fixture = make()
    fixture.list("t/d")
    #expect(fixture.detach("t").found != nil)
    let made = fixture.makeDirectory("t").node
    #expect(made.map { fixture.makeFile("a", in: $0).errno } == .some(nil))
    fixture.lane.runAll()
    #expect(fixture.entries(of: fixture.node("t")).keys.sorted() == ["a"])
  }

  // MARK: - Beside other things

  @Test func aListingThatIsUnderWayBringsNothingBack() {
    let fixture = make()
    let d = fixture.lookUp("t/d")
    var slow = fixture.engine.simulation
    slow.directoryLatency = LatencyModel(.fixed(.milliseconds(5)))
    fixture.engine.apply(slow, restartsClock: false)
    let answer = fixture.trigger(d, TriggerRequest(trigger: .readdir, caller: EngineFixture.maker))
    #expect(fixture.remove("t").found != nil)
    #expect(answer.count == 0)
    fixture.timer.advance(milliseconds: 10) { [lane = fixture.lane] in lane.runAll() }
    #expect(answer.count == 1)
    fixture.lane.runAll()
    #expect(fixture.lookUpCounted("b", in: d) == nil)
    #expect(fixture.entries(of: d).isEmpty)
    #expect(fixture.engine.state.withLock { !$0.trash.isBusy })
    fixture.forget(d)
    #expect(fixture.attributes(d) == nil)
  }

  @Test func aDirectoryThatIsOpenAndWasNeverListedIsEmptyThen() {
    let fixture = make()
    let d = fixture.lookUp("t/d")
    #expect(fixture.remove("t").found != nil)
    let lists = fixture.store.lists.load(ordering: .relaxed)
    #expect(fixture.entries(of: d).isEmpty && fixture.lookUpCounted("b", in: d) == nil)
    #expect(fixture.store.lists.load(ordering: .relaxed) == lists)
  }

  @Test func refreshesLeaveItAlone() {
    let fixture = make()
    for path in ["t/a", "t/d/b"] { #expect(fixture.content(path) != nil) }
    #expect(fixture.detach("t").found != nil)
    fixture.store.write("t/d/new", size: 3)
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: .root).keys.sorted() == ["other"])
    #expect(fixture.content.items == 0)
    fixture.store.remove("t")
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: .root).keys.sorted() == ["other"])
    fixture.store.write("t/back", size: 3)
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: .root).keys.sorted() == ["other", "t"], "it is another one")
    #expect(fixture.entries(of: fixture.node("t")).keys.sorted() == ["back"])
  }

  @Test func theEndOfTheVolumeEndsIt() {
    let fixture = make()
    for path in ["t/a", "t/d/b"] { #expect(fixture.content(path) != nil) }
    #expect(fixture.detach("t").found != nil)
    fixture.engine.end(FSError(.timedOut, "the volume is being unmounted"))
    fixture.lane.runAll()
    #expect(fixture.remove("other") == .refused("other", "ETIMEDOUT"))
  }

  @Test func aWriterWithoutRoomWaitsForTheTrash() {
    let page = EngineFixture.page
    let fixture = EngineFixture.limited(4 * page, ["t/a": page, "t/b": page, "t/c": page], writing: .scratch)
    for path in ["t/a", "t/b", "t/c"] { #expect(fixture.read(path) == nil) }
    let (done, handle) = fixture.create("new")
    guard let node = done.node else { return }
    #expect(fixture.detach("t").found?.bytes == Int64(3 * page))
    let (count, errno) = fixture.write([UInt8](repeating: 1, count: 3 * page), to: node, handle, at: 0)
    #expect(count == 3 * page && errno == nil)
    #expect(fixture.evictions.isEmpty, "nothing else had to go")
    #expect(fixture.engine.roomStatus.removing == 0)
  }

  // MARK: - On a volume that is kept

  @Test func itIsOneChangeOfTheJournal() {
    let journal = RecordingJournal()
    let fixture = EngineFixture.writable(Self.files, writing: .kept, journal: journal)
    fixture.list("t/d")
    let before = journal.changes.count
    #expect(fixture.detach("t").found != nil)
    #expect(journal.changes.count == before + 1)
    guard case .together(let parts)? = journal.changes.last else {
      Issue.record("\(String(describing: journal.changes.last))")
      return
    }
    let trashed = parts.compactMap { part -> UInt64? in
      if case .trashed(let item, isKnown: true) = part { item.inode } else { nil }
    }
    #expect(trashed.count == 1)
    #expect(JournalReplay(journal.changes).hidden.keys.map { String(decoding: $0.text, as: UTF8.self) } == ["t"])
  }

  @Test func contentGoesWhenItIsDurable() {
    let journal = RecordingJournal()
    let fixture = EngineFixture.writable(Self.files, writing: .kept, journal: journal)
    #expect(fixture.content("t/d/b") != nil)
    #expect(fixture.remove("t").found != nil)
    #expect(fixture.content.items == 1 && fixture.engine.trashStatus.items == 1)
    journal.makeDurable(UInt64(journal.changes.count))
    fixture.lane.runAll()
    #expect(fixture.content.items == 0 && fixture.engine.trashStatus == TrashStatus())
    #expect(JournalReplay(journal.changes).contents.isEmpty)
  }

  // MARK: - Many

  @Test func manyNamesGoSomeAtATime() {
    var files = Dictionary(uniqueKeysWithValues: (0..<2_000).map { ("t/d\($0 % 7)/f\($0)", 1) })
    files["stays"] = 1
    let fixture = EngineFixture.writable(files)
    for number in 0..<7 { fixture.list("t/d\(number)") }
    let nodes = fixture.engine.state.withLock { $0.namespace.counts }
    #expect(nodes.files == 2_001)
    #expect(fixture.detach("t").found?.items == 2_008)
    var steps = 0
    while fixture.engine.trashStatus.items > 0, steps < 100 {
      steps += 1
      let before = fixture.engine.trashStatus.items
      _ = fixture.engine.state.withLock { $0.emptySome(fixture.timer.now) }
      #expect(before - fixture.engine.trashStatus.items <= EngineState.emptiedAtATime)
    }
    #expect(steps >= 2_007 / EngineState.emptiedAtATime)
    fixture.lane.runAll()
    #expect(fixture.engine.state.withLock { $0.namespace.counts.files } == 1)
  }
}
