@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// What was changed on the volume, while the store changes underneath.
@Suite struct WritableRefreshTests {
  @Test func aDirtyFileStaysWhenTheStoreHasAnotherVersion() {
    let fixture = EngineFixture.writable(["a": 10, "b": 10])
    let node = fixture.lookUp("a")
    let (handle, _) = fixture.openForWriting(node)
    fixture.write([9], to: node, handle, at: 0)
    fixture.close(node, handle)
    fixture.store.write("a", size: 20)
    fixture.store.remove("b")
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.content("a") == [9] + PatternBytes.bytes(1, 9))
    #expect(fixture.node("a") == node)
    fixture.store.remove("a")
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: .root) == ["a": node])
    #expect(fixture.content("a") == [9] + PatternBytes.bytes(1, 9))
    #expect(fixture.evict(node) == "EBUSY")
  }

  @Test func whatIsOpenForWritingStaysToo() {
    let fixture = EngineFixture.writable(["a": 10])
    let node = fixture.lookUp("a")
    fixture.bring(node, .read)
    let (handle, _) = fixture.openForWriting(node)
    fixture.store.write("a", size: 20)
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.node("a") == node)
    fixture.write([9], to: node, handle, at: 0)
    fixture.close(node, handle)
    #expect(fixture.content("a") == [9] + PatternBytes.bytes(1, 9))
  }

  @Test func whoOpenedForWritingAndWroteNothingKeepsNothing() {
    let fixture = EngineFixture.writable(["a": 10])
    let node = fixture.lookUp("a")
    let (handle, _) = fixture.openForWriting(node)
    fixture.store.write("a", size: 20)
    #expect(fixture.refresh("").error == nil)
    // What was listed is not to be had any more.
    #expect(fixture.write([9], to: node, handle, at: 0).errno == "ESTALE")
    fixture.close(node, handle)
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.content("a") == fixture.store.bytes("a"))
  }

  /// The kernel looks the path up again then, and changes what has it now.
  @Test func anOlderVersionIsNotChanged() {
    let fixture = EngineFixture.writable(["a": 10, "b": 10])
    let (node, unread) = (fixture.lookUp("a"), fixture.lookUp("b"))
    fixture.bring(node, .read)
    for path in ["a", "b"] { fixture.store.write(path, size: 20) }
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.node("a") != node && fixture.node("b") != unread)
    var mode = AttributeChange()
    mode.mode = 0o600
    for old in [node, unread] {
      for size: Int64 in [0, 5] { #expect(fixture.truncate(old, to: size) == "ESTALE") }
      #expect(fixture.set(mode, of: old) == "ESTALE")
    }
    for path in ["a", "b"] { #expect(fixture.content(path) == fixture.store.bytes(path)) }
    // What was removed here may be changed by who has it.
    let removed = fixture.lookUp("a")
    let (handle, _) = fixture.openForWriting(removed)
    #expect(fixture.unlink("a") == .ok)
    #expect(fixture.truncate(removed, to: 3) == nil && fixture.set(mode, of: removed) == nil)
    fixture.close(removed, handle)
  }

  @Test func aDirectoryThatIsGoneStaysWithWhatWasChangedBelowIt() {
    let fixture = EngineFixture.writable(["d/e/f/a": 10, "d/e/b": 10, "d/x/y": 1, "g": 1])
    let node = fixture.lookUp("d/e/f/a")
    _ = fixture.node("d/x/y")
    let (handle, _) = fixture.openForWriting(node)
    fixture.write([9], to: node, handle, at: 0)
    fixture.close(node, handle)
    fixture.store.remove("d")
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: .root).keys.sorted() == ["d", "g"])
    #expect(fixture.content("d/e/f/a") == [9] + PatternBytes.bytes(1, 9))
    // What was not here is nowhere.
    #expect(fixture.content("d/e/b") == nil)
    for path in ["d/e/f", "d/e", "d"] { #expect(fixture.evict(fixture.node(path)) == "EBUSY", "\(path)") }
    // And can be removed.
    #expect(fixture.unlink("a", in: fixture.node("d/e/f")) == .ok)
    #expect(fixture.removeDirectory("f", in: fixture.node("d/e")) == .ok)
  }

  @Test func aDirectoryThatIsGoneGoesWhenNothingWasChangedInIt() {
    let fixture = EngineFixture.writable(["d/e/a": 10, "g": 1])
    let made = fixture.makeFile("x", in: fixture.node("d/e"))
    #expect(made.node != nil)
    #expect(fixture.unlink("x", in: fixture.node("d/e")) == .ok)
    fixture.store.remove("d")
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: .root).keys.sorted() == ["g"])
  }

  @Test func aNameThatWasMadeOnBothSidesIsTheOneThatWasMadeHere() {
    let fixture = EngineFixture.writable(["a": 10])
    let node = fixture.makeFile("x").node!
    fixture.store.write("x", size: 20)
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: .root)["x"] == node)
    // Removed here, the store's is not brought back to light.
    #expect(fixture.unlink("x") == .ok)
    #expect(fixture.entries(of: .root).keys.sorted() == ["a"])
  }

  @Test func whatIsTheVolumesOwnIsNotEvicted() {
    let fixture = EngineFixture.writable(["d/a": 10])
    let made = fixture.makeDirectory("made").node!
    #expect(fixture.evict(made) == "EBUSY")
    #expect(fixture.evict(fixture.node("d")) == nil)
    let moved = fixture.node("d/a")
    fixture.bring(moved, .read)
    #expect(fixture.rename("a", in: fixture.node("d"), to: "b", into: made) == .ok)
    fixture.store.remove("d/a")
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.content("made/b") == PatternBytes.bytes(0, 10))
    #expect(fixture.evict(moved) == "EBUSY")
  }

  /// A version that was remembered for a file that is removed is not remembered for ever.
  @Test func whatIsRemovedRemembersNothing() {
    let fixture = EngineFixture.writable(["a": 10])
    let node = fixture.lookUp("a")
    fixture.bring(node, .read)
    let (handle, _) = fixture.openForWriting(node)
    fixture.store.write("a", size: 20)
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.node("a") == node)
    #expect(fixture.unlink("a") == .ok)
    fixture.close(node, handle)
    fixture.forget(node)
    #expect(fixture.engine.state.withLock { $0.contents.isIdle })
  }

  // MARK: - Kept

  @Test func aFileIsDirtyInTheJournalBeforeItsFirstByteChanges() {
    let journal = RecordingJournal()
    let fixture = EngineFixture.writable(["a": 10], writing: .kept, journal: journal)
    fixture.content.ownFiles.store(true, ordering: .relaxed)
    let node = fixture.lookUp("a")
    fixture.bring(node, .read)
    let (handle, _) = fixture.openForWriting(node)
    #expect(fixture.write([9], to: node, handle, at: 0).errno == "durability")
    guard case .dirty(let item, _)? = journal.changes.last else {
      Issue.record("\(journal.changes)")
      return
    }
    #expect(item.node == node)
    #expect(fixture.read(node, handle) == .bytes(PatternBytes.bytes(0, 10)))
    let number = ChangeNumber(rawValue: UInt64(journal.changes.count))
    let isDurable = Mutex(false)
    fixture.engine.whenDurable(number) { error in isDurable.withLock { $0 = error == nil } }
    #expect(!isDurable.withLock { $0 })
    journal.makeDurable(number.rawValue)
    #expect(isDurable.withLock { $0 })
    #expect(fixture.write([9], to: node, handle, at: 0).count == 1)
    // Size and times are told at the end.
    let before = journal.changes.count
    fixture.close(node, handle)
    #expect(journal.changes.count == before + 1)
  }

  @Test func oneOperationIsOneChange() {
    let journal = RecordingJournal()
    let fixture = EngineFixture.writable(["a": 10, "b": 10], writing: .kept, journal: journal)
    _ = fixture.node("a")
    var numbers = [journal.changes.count]
    func note(_ done: Done) {
      #expect(done.errno == nil)
      numbers.append(journal.changes.count)
    }
    note(fixture.makeFile("x"))
    note(fixture.makeDirectory("d"))
    note(fixture.rename("a", to: "y"))
    note(fixture.rename("x", to: "y"))
    note(fixture.rename("b", to: "y", .exchange))
    note(fixture.unlink("y"))
    note(fixture.removeDirectory("d"))
    // Nothing but what was made has gone: each is one change. What was made is forgotten later.
    for (one, next) in zip(numbers, numbers.dropFirst()) { #expect(next >= one + 1 && next <= one + 2) }
    for change in journal.changes {
      if case .named = change { Issue.record("named without what it is: \(change)") }
      if case .hidden = change { Issue.record("hidden, and nothing with it: \(change)") }
    }
    let replay = JournalReplay(journal.changes)
    #expect(replay.names.map { String(decoding: $0.key.text, as: UTF8.self) }.sorted() == ["b"])
    #expect(replay.hidden.map { String(decoding: $0.key.text, as: UTF8.self) }.sorted() == ["a", "b"])
  }

  /// A file that is emptied by giving it other content is the old one or the empty one after a crash.
  @Test func whoEmptiesAFileWaitsForNothing() {
    let journal = RecordingJournal()
    let fixture = EngineFixture.writable(["a": 10], writing: .kept, journal: journal)
    let node = fixture.lookUp("a")
    fixture.bring(node, .read)
    #expect(fixture.truncate(node, to: 0) == nil)
    #expect(fixture.attributes(node)?.size == 0 && fixture.content.items == 2)
    let (handle, _) = fixture.openForWriting(node)
    #expect(fixture.write([1], to: node, handle, at: 0).errno == "durability")
    let last = UInt64(journal.changes.count)
    fixture.engine.whenDurable(ChangeNumber(rawValue: last)) { _ in }
    journal.makeDurable(last)
    fixture.lane.runAll()
    #expect(fixture.content.items == 1)
    #expect(fixture.write([1], to: node, handle, at: 0).count == 1)
    #expect(fixture.read(node, handle) == .bytes([1]))
  }

  /// Nothing that is known after a crash leads to what is written: the file is there, empty, or it is not there.
  @Test func theFirstContentOfAFileThatWasMadeHereWaitsForNothing() {
    let journal = RecordingJournal()
    let fixture = EngineFixture.writable([:], writing: .kept, journal: journal)
    let (made, handle) = fixture.create("a")
    let node = made.node!
    #expect(fixture.write([1], to: node, handle, at: 0).count == 1)
    #expect(fixture.write([2], to: node, handle, at: 1).count == 1)
    fixture.close(node, handle)
    let dirty = journal.changes.firstIndex { if case .dirty(let item, _) = $0 { item.node == node } else { false } }
    #expect(dirty != nil && dirty! < journal.changes.count - 1, "its size is told after it is dirty")
    // What is dirty is changed in place, and nothing is waited for then, either.
    #expect(fixture.truncate(node, to: 0) == nil)
    let (again, _) = fixture.openForWriting(node)
    #expect(fixture.write([3], to: node, again, at: 0).count == 1)
    #expect(fixture.read(node, again) == .bytes([3]))
  }

  /// The store's empty file has its name after a crash, and what it was written to is this volume's from then on.
  @Test func theFirstContentOfAnEmptyFileOfTheStoreWaits() {
    let fixture = EngineFixture.writable(["a": 0], writing: .kept, journal: RecordingJournal())
    let node = fixture.lookUp("a")
    let (handle, _) = fixture.openForWriting(node)
    #expect(fixture.write([1], to: node, handle, at: 0).errno == "durability")
  }

  @Test func contentThatWasGivenUpIsRemovedWhenThatIsDurable() {
    let journal = RecordingJournal()
    let fixture = EngineFixture.writable([:], writing: .kept, journal: journal)
    let (made, handle) = fixture.create("a")
    let node = made.node!
    _ = fixture.write([1], to: node, handle, at: 0)
    journal.makeDurable(UInt64(journal.changes.count))
    fixture.engine.whenDurable(ChangeNumber(rawValue: UInt64(journal.changes.count))) { _ in }
    #expect(fixture.write([1], to: node, handle, at: 0).count == 1)
    fixture.close(node, handle)
    #expect(fixture.unlink("a") == .ok)
    fixture.forget(node)
    #expect(fixture.content.items == 1)
    journal.makeDurable(UInt64(journal.changes.count))
    fixture.lane.runAll()
    #expect(fixture.content.items == 0)
  }

  // MARK: - Records

  @Test func changesAreInTheLogWithWhoMadeThem() {
    let fixture = EngineFixture.writable(["a": 10])
    let (made, handle) = fixture.create("x")
    let node = made.node!
    fixture.write([1, 2], to: node, handle, at: 0)
    fixture.write([3], to: node, handle, at: 2)
    fixture.close(node, handle)
    _ = fixture.rename("x", to: "a")
    _ = fixture.unlink("a")
    var texts: [String] = []
    for case .changed(let record) in fixture.events.all {
      #expect(record.caller == EngineFixture.maker)
      let path = String(decoding: record.path, as: UTF8.self)
      switch record.change {
      case .written(let written): texts.append("\(path) \(written.bytes) in \(written.calls), \(written.size)")
      case .renamed(let from, false, let replaced):
        texts.append("\(String(decoding: from, as: UTF8.self)) over \(replaced?.wasDataless ?? false) \(path)")
      case .removed(let removed): texts.append("\(path) lost \(removed.lostBytes)")
      default: texts.append("\(record.name) \(path)")
      }
    }
    #expect(texts == ["created x", "x 3 in 2, 3", "x over true a", "a lost 3"])
  }
}
