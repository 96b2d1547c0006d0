@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Opens through which programs write to the content file, past the volume.
@Suite struct PassthroughWriteTests {
  @Test func aFileIsDirtyBeforeAnybodyCanWritePastTheVolume() throws {
    let volume = PassthroughFixture(["a": 200])
    let node = volume.resident("a")
    let reader = try #require(volume.open(node, flags: 0).open)
    #expect(reader.kind == .passing && !volume.isDirty(node))
    let writer = try #require(volume.open(node).open)
    #expect(writer.kind == .passing && writer.content == reader.content && volume.isDirty(node))
    #expect(volume.fixture.evict(node) == "EBUSY")
    for open in [reader, writer] { volume.close(node, open) }
    #expect(volume.fixture.evict(node) == "EBUSY" && volume.refused == [])
  }

  @Test func onAKeptVolumeItIsDurablyDirty() throws {
    let journal = RecordingJournal()
    let volume = PassthroughFixture(["a": 200], writing: .kept, journal: journal)
    let node = volume.resident("a")
    #expect(volume.open(node).errno == "durability")
    #expect(volume.fixture.engine.opens.now == OpenModes())
    let number = try #require(
      journal.changes.lastIndex { if case .dirty(let item, _) = $0 { item.node == node } else { false } })
    journal.makeDurable(UInt64(number))
    volume.fixture.engine.whenDurable(ChangeNumber(rawValue: UInt64(number))) { _ in }
    #expect(volume.open(node).errno == "durability")
    journal.makeDurable(UInt64(number) + 1)
    volume.fixture.engine.whenDurable(ChangeNumber(rawValue: UInt64(number) + 1)) { _ in }
    #expect(volume.open(node).open?.kind == .passing)
  }

  /// Emptied by an open that fails because its change cannot be kept, a dataless file is as it was before.
  @Test func anOpenThatCannotBeKeptEmptiesNothing() throws {
    let journal = RecordingJournal()
    let volume = PassthroughFixture(["a": 200], writing: .kept, journal: journal) {
      $0.simulation.profile = .windows
    }
    let (node, fixture) = (volume.fixture.node("a"), volume.fixture)
    let before = try #require(fixture.attributes(node))
    #expect(volume.open(node, flags: 0o1001).errno == "durability" && fixture.attributes(node)?.size == 0)
    let failure = Mutex<String?>(nil)
    fixture.engine.whenDurable(ChangeNumber(rawValue: UInt64(journal.changes.count)), opening: node) { error in
      failure.withLock { $0 = error?.errno.name }
    }
    journal.fail(FSError(.noSpace, "the test's disk is full"))
    #expect(failure.withLock { $0 } == "ENOSPC")
    #expect(fixture.attributes(node) == before && fixture.engine.describe(node)?.state == "dataless")
    #expect(!volume.isDirty(node) && fixture.kernel.calls.withLock { $0.last } == "attributes \(node.rawValue)")
    // With room it is as if nobody had tried.
    let last = UInt64(journal.changes.count)
    journal.makeDurable(last)
    fixture.engine.whenDurable(ChangeNumber(rawValue: last)) { _ in }
    fixture.lane.runAll()
    #expect(fixture.content.items == 0 && JournalReplay(journal.changes).contents.isEmpty)
    fixture.bring(node, .read)
    #expect(volume.bytes(node) == PatternBytes.bytes(0, 200))
  }

  /// What another one has done since is his: truncate(2) has returned.
  @Test func anOpenThatCannotBeKeptTakesNothingBackFromOthers() throws {
    let journal = RecordingJournal()
    let volume = PassthroughFixture(["a": 200, "b": 200], writing: .kept, journal: journal) {
      $0.simulation.profile = .windows
    }
    let (node, other, fixture) = (volume.fixture.node("a"), volume.fixture.node("b"), volume.fixture)
    #expect(fixture.truncate(other, to: 0) == nil)
    for (opened, flags) in [(node, Int32(0o1001)), (other, 1)] {
      volume.open(opened, flags: flags)
      fixture.engine.whenDurable(ChangeNumber(rawValue: UInt64(journal.changes.count)), opening: opened) { _ in }
    }
    // Somebody reads the file while it is empty.
    let reader = try #require(volume.open(node, flags: 0).open)
    journal.fail(FSError(.noSpace, "the test's disk is full"))
    for emptied in [node, other] { #expect(fixture.attributes(emptied)?.size == 0 && volume.isDirty(emptied)) }
    volume.close(node, reader)
  }

  @Test func sizeAndTimesAreTheContents() throws {
    let volume = PassthroughFixture(["d/a": 200])
    let (node, fixture) = (volume.resident("d/a"), volume.fixture)
    let before = try #require(fixture.attributes(node))
    let writer = try #require(volume.open(node).open)
    #expect(fixture.attributes(node)?.modificationTime == before.modificationTime, "nothing was written")
    #expect(fixture.kernel.calls.withLock { $0.last } == "attributes \(node.rawValue)", "what it knows was of before")
    #expect(fixture.content.writePast(writer.content, [1, 2, 3], at: 1_000))
    let now = fixture.content.state.withLock { $0.now }
    var seen: [(Int64, Timestamp, Bool)] = []
    func look(_ item: ItemSnapshot?) {
      if let item { seen.append((item.attributes.size, item.attributes.modificationTime, item.changesUnseen)) }
    }
    look(fixture.engine.attributes(of: node))
    let directory = fixture.node("d")
    if case .found(let item) = Array("a".utf8).withUnsafeBufferPointer({ fixture.engine.lookup($0, in: directory) }) {
      look(item)
    }
    _ = fixture.engine.readDirectory(directory, from: 2, countsLookups: true) { entry in
      seen.append((entry.attributes.size, entry.attributes.modificationTime, entry.changesUnseen))
      return true
    }
    var change = AttributeChange()
    change.mode = 0o600
    if case .changed(let item) = fixture.engine.setAttributes(change, of: node, by: EngineFixture.maker) { look(item) }
    let name = Array("b".utf8)
    let linked = name.withUnsafeBufferPointer {
      fixture.engine.link(node, as: $0, in: directory, by: EngineFixture.maker)
    }
    if case .made(let item) = linked { look(item) }
    #expect(seen.count == 5 && seen.allSatisfy { $0 == (1_003, now, true) }, "\(seen)")
    #expect(fixture.engine.describe(node)?.attributes.size == 1_003)
    #expect(fixture.engine.size(of: node) == 1_003)
    #expect(fixture.engine.seek(node, from: 1_001, hole: true) == .offset(1_003))
  }

  @Test func aTimeThatIsSetStaysUntilSomebodyWrites() throws {
    let volume = PassthroughFixture(["a": 200])
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    let writer = try #require(volume.open(node).open)
    #expect(fixture.content.writePast(writer.content, [1], at: 0))
    var change = AttributeChange()
    let time = Timestamp(seconds: 77, nanoseconds: 7)
    change.modificationTime = .at(time)
    #expect(fixture.set(change, of: node) == nil)
    #expect(fixture.attributes(node)?.modificationTime == time)
    volume.close(node, writer)
    volume.advance(milliseconds: 5_000)
    #expect(fixture.attributes(node)?.modificationTime == time && volume.unsettled == 0)
    let again = try #require(volume.open(node).open)
    #expect(fixture.attributes(node)?.modificationTime == time)
    #expect(fixture.content.writePast(again.content, [2], at: 0))
    #expect(fixture.attributes(node)?.modificationTime == fixture.content.state.withLock { $0.now })
  }

  @Test func aTickOfTheDisksClockDatesNothingBack() {
    var attributes = ItemAttributes(
      device: 1, inode: 1, mode: 0o100644, linkCount: 1, uid: 0, gid: 0, specialDevice: 0, size: 5, blocks: 8,
      accessTime: .init(seconds: 9, nanoseconds: 0), modificationTime: .init(seconds: 9, nanoseconds: 1_000_000),
      changeTime: .init(seconds: 9, nanoseconds: 1_000_000))
    func status(_ seconds: Int64, _ nanoseconds: UInt32) -> ContentStatus {
      ContentStatus(
        extent: ContentExtent(size: 5, blocks: 8),
        modificationTime: Timestamp(seconds: seconds, nanoseconds: nanoseconds))
    }
    let seen = status(3, 0)
    #expect(attributes.following(status(8, 999_000_000), since: seen) == attributes)
    #expect(
      attributes.following(status(8, 900_000_000), since: seen).modificationTime
        == status(8, 900_000_000).modificationTime)
    attributes.modificationTime.seconds = .max
    #expect(attributes.following(status(.min, 0), since: seen).modificationTime.seconds == .min)
    #expect(attributes.following(seen, since: seen) == attributes)
  }

  @Test func allOpensOfAFileAreOfOneKind() throws {
    let volume = PassthroughFixture(["a": 200])
    let node = volume.fixture.node("a")
    let dataless = try #require(volume.open(node, flags: 0).open)
    #expect(dataless.kind == .direct)
    volume.fixture.bring(node, .read)
    let cached = try #require(volume.open(node).open)
    #expect(cached.kind == .cached && !volume.isDirty(node), "beside the other")
    for open in [dataless, cached] { volume.close(node, open) }
    let first = try #require(volume.open(node, flags: 1).open)
    #expect(first.kind == .passing)
    // Emptied, too, and asked not to: it must.
    volume.fixture.engine.withdrawPassthrough()
    #expect(volume.open(node, flags: 0o1001).open?.kind == .passing)
    #expect(volume.open(node, flags: 0o1000).open?.kind == .passing)
    #expect(volume.open(node, flags: 0).open?.kind == .passing)
    #expect(volume.fixture.attributes(node)?.size == 0)
    volume.closeAll()
    volume.advance(milliseconds: 2_000)
    #expect(volume.open(node).open?.kind == .cached && volume.refused == [])
  }

  @Test func withoutABackingItIsACachedOpenThatWritesByRequests() throws {
    let volume = PassthroughFixture(["a": 200])
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    let writer = try #require(volume.open(node, hasBacking: false).open)
    #expect(writer.kind == .cached && volume.unsettled == 0)
    #expect(fixture.write([1, 2], to: node, writer.handle, at: 300).count == 2)
    #expect(fixture.attributes(node)?.size == 302)
    volume.close(node, writer)
    #expect(fixture.events.kinds.contains("changed written") && volume.open(node, flags: 0).open?.kind == .passing)
    fixture.content.failsWatch.store(true, ordering: .relaxed)
    #expect(volume.open(node).errno == "EMFILE", "beside a passthrough reader there is no other kind")
    volume.closeAll()
    #expect(volume.open(node).open?.kind == .cached)
  }

  /// A call that fails has cut nothing, beside readers and mappings, too.
  @Test func anOpenWithoutADescriptorEmptiesNothing() throws {
    let volume = PassthroughFixture(["a": 200])
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    let before = try #require(fixture.attributes(node))
    let reader = try #require(volume.open(node, flags: 0).open)
    fixture.content.failsWatch.store(true, ordering: .relaxed)
    for flags in [Int32(0o1001), 0o1002] { #expect(volume.open(node, flags: flags).errno == "EMFILE") }
    #expect(fixture.attributes(node) == before && !volume.isDirty(node))
    #expect(volume.bytes(node) == PatternBytes.bytes(0, 200) && fixture.engine.opens.now.passthrough == 1)
    // A reader that empties it is not watched, and shares the backing.
    #expect(volume.open(node, flags: 0o1000).open?.kind == .passing && fixture.attributes(node)?.size == 0)
    fixture.content.failsWatch.store(false, ordering: .relaxed)
    let writer = try #require(volume.open(node).open)
    #expect(fixture.content.writePast(writer.content, [1, 2, 3], at: 0))
    for open in [reader, writer] { volume.close(node, open) }
    volume.closeAll()
    // Nobody has it open, but somebody mapped.
    fixture.content.mapped.store(true, ordering: .relaxed)
    for flags in [Int32(0o1000), 0o1001, 0o1002] {
      #expect(volume.open(node, flags: flags, hasBacking: false).errno == "no backing")
    }
    #expect(volume.bytes(node) == [1, 2, 3] && fixture.attributes(node)?.size == 3)
    #expect(volume.open(node, flags: 0o1002).open?.kind == .passing && volume.bytes(node) == [])
    #expect(volume.refused == [])
  }

  /// Where it is no other kind's turn, it is a cached open, and empties the file.
  @Test func anOpenWithoutADescriptorThatMayBeCachedEmptiesTheFile() throws {
    let volume = PassthroughFixture(["a": 200, "b": 200])
    let (node, other, fixture) = (volume.resident("a"), volume.resident("b"), volume.fixture)
    #expect(volume.open(node, flags: 0o1002, hasBacking: false).open?.kind == .cached && volume.bytes(node) == [])
    fixture.content.failsWatch.store(true, ordering: .relaxed)
    #expect(volume.open(other, flags: 0o1002).open?.kind == .cached && volume.bytes(other) == [])
    #expect(fixture.attributes(node)?.size == 0 && fixture.attributes(other)?.size == 0 && volume.unsettled == 0)
  }

  /// What fails last gives back what was had.
  @Test func anOpenWhoseFileCannotBeCutIsNone() throws {
    let volume = PassthroughFixture(["a": 200])
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    fixture.content.failsResize.store(true, ordering: .relaxed)
    #expect(volume.open(node, flags: 0o1002).errno == "EIO")
    #expect(fixture.engine.opens.now == OpenModes() && fixture.attributes(node)?.size == 200)
    fixture.content.failsResize.store(false, ordering: .relaxed)
    let writer = try #require(volume.open(node, flags: 0o1001).open)
    volume.close(node, writer)
    #expect(volume.bytes(node) == [] && !fixture.events.kinds.contains("changed written"), "it alone is no write")
  }

  /// On a volume that is kept the file is durably dirty first: until then there is nothing to be taken back.
  @Test(arguments: [Int32(0o1000), 0o1001]) func onAKeptVolumeItIsDirtyBeforeItIsCut(flags: Int32) throws {
    let journal = RecordingJournal()
    let volume = PassthroughFixture(["a": 200], writing: .kept, journal: journal)
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    let reader = try #require(volume.open(node, flags: 0).open)
    #expect(volume.open(node, flags: flags).errno == "durability" && fixture.attributes(node)?.size == 200)
    let last = UInt64(journal.changes.count)
    journal.makeDurable(last)
    fixture.engine.whenDurable(ChangeNumber(rawValue: last)) { _ in }
    #expect(volume.open(node, flags: flags).open?.kind == .passing && fixture.attributes(node)?.size == 0)
    volume.close(node, reader)
  }

  @Test func aMappingThatIsLeftKeepsItPassthrough() throws {
    let volume = PassthroughFixture(["a": 200])
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    let writer = try #require(volume.open(node).open)
    volume.close(node, writer)
    fixture.content.mapped.store(true, ordering: .relaxed)
    volume.advance(milliseconds: 1_500)
    #expect(volume.unsettled == 1)
    #expect(fixture.content.writePast(writer.content, [9], at: 5))
    #expect(fixture.attributes(node)?.modificationTime == fixture.content.state.withLock { $0.now })
    // Pages of the kernel's own would not show what is stored.
    #expect(volume.open(node, flags: 0, hasBacking: false).errno == "no backing")
    #expect(volume.open(node, hasBacking: false).errno == "no backing")
    let reader = try #require(volume.open(node, flags: 0).open)
    #expect(reader.kind == .passing)
    volume.close(node, reader)
    fixture.content.mapped.store(false, ordering: .relaxed)
    volume.advance(milliseconds: 200_000)
    #expect(volume.unsettled == 0)
    #expect(fixture.kernel.calls.withLock { $0.last } == "content \(node.rawValue)")
    #expect(volume.open(node, flags: 0, hasBacking: false).open?.kind == .cached)
  }

  @Test func whatCannotBeAccountedForGoesThroughTheVolume() throws {
    for edit: @Sendable (inout EngineConfiguration) -> Void in [
      { $0.simulation.quota = 1 << 30 }, { $0.simulation.observation = .reads },
      { $0.simulation.access[.write] = LatencyModel(.fixed(AccessCalls.ms)) }, { $0.passthrough = false },
      { $0.cachedMax = 200 },
    ] {
      let volume = PassthroughFixture(["a": 200], edit)
      let node = volume.resident("a")
      #expect(volume.open(node).open.map { $0.kind != .passing } ?? false && !volume.isDirty(node))
    }
  }

  @Test func recordsSayThatNobodyKnowsHowMuch() throws {
    let volume = PassthroughFixture(["a": 200])
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    func written() -> [Event.VolumeChange.Written] {
      fixture.events.all.compactMap {
        if case .changed(let change) = $0, case .written(let written) = change.change { written } else { nil }
      }
    }
    let idle = try #require(volume.open(node).open)
    volume.close(node, idle)
    #expect(written() == [])
    let (first, second) = (try #require(volume.open(node).open), try #require(volume.open(node).open))
    #expect(fixture.content.writePast(first.content, [1], at: 500))
    volume.close(node, first)
    let third = try #require(volume.open(node).open)
    for open in [second, third] { volume.close(node, open) }
    // Whoever had it open meanwhile may have done it.
    #expect(written().count == 2 && written().allSatisfy { $0.isUnseen && $0.size == 501 && $0.bytes == 0 })
  }

  @Test func whatWasEmptyInItsRecordIsNotOnceItIsWritten() throws {
    let volume = PassthroughFixture(["a": 200])
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    let writer = try #require(volume.open(node, flags: 0o1002).open)
    #expect(writer.kind == .passing && fixture.attributes(node)?.size == 0)
    #expect(fixture.content.writePast(writer.content, [1, 2], at: 0))
    #expect(fixture.engine.describe(node)?.localBytes ?? 0 > 0)
    #expect(fixture.evict(node) == "EBUSY")
    #expect(fixture.unlink("a") == .ok)
    let lost = fixture.events.all.compactMap {
      if case .changed(let change) = $0, case .removed(let item) = change.change { item.lostBytes } else { nil }
    }
    #expect(lost == [2])
  }

  /// Its holes are known, and the same before and after the close. Else, with pages that are not written back, they are
  /// not.
  @Test func holesAreTheContentsWhileItIsWrittenPast() throws {
    let volume = PassthroughFixture(["a": 200])
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    let cached = try #require(volume.open(node, hasBacking: false).open)
    #expect(fixture.engine.seek(node, from: 0, hole: true) == .offset(200))
    #expect(fixture.content.seeks.load(ordering: .relaxed) == 0)
    volume.close(node, cached)
    let writer = try #require(volume.open(node).open)
    #expect(fixture.engine.seek(node, from: 0, hole: true) == .offset(200))
    volume.close(node, writer)
    #expect(fixture.engine.seek(node, from: 0, hole: true) == .offset(200))
    #expect(fixture.content.seeks.load(ordering: .relaxed) == 2)
  }

  @Test func aFileThatATransferMayStillWriteToIsNone() throws {
    let volume = PassthroughFixture(["a": 200])
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    fixture.engine.state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return }
      state.updateContent(of: position) { $0.begin(AttemptID(rawValue: 77), range: 0..<200) }
      state.updateContent(of: position) { _ = $0.end(AttemptID(rawValue: 78), range: nil, isRanged: false, isOk: true) }
    }
    #expect(volume.open(node, flags: 0).open?.kind == .cached)
  }

  @Test func aFileThatIsGoneIsForgotten() throws {
    let volume = PassthroughFixture(["a": 200])
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    let found = fixture.lookUp("a")
    #expect(found == node)
    let writer = try #require(volume.open(node).open)
    #expect(fixture.unlink("a") == .ok)
    #expect(fixture.content.writePast(writer.content, [1], at: 900))
    #expect(fixture.attributes(node)?.size == 901)
    volume.close(node, writer)
    fixture.forget(node)
    #expect(volume.unsettled == 0 && fixture.content.items == 0)
    volume.advance(milliseconds: 3_000)
    #expect(fixture.engine.state.withLock { $0.pageDrops.isEmpty })
  }

  @Test func copiesAndRoomBesideThemAreTheContents() throws {
    let volume = PassthroughFixture(["a": 200])
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    let writer = try #require(volume.open(node).open)
    let (made, handle) = fixture.create("b")
    let target = try #require(made.node)
    #expect(fixture.content.writePast(writer.content, [UInt8](repeating: 4, count: 300), at: 100))
    let answer = fixture.engine.copyRange(
      from: node, at: 200, to: target, at: 0, length: 1_000, sourceHandle: writer.handle, targetHandle: handle,
      by: EngineFixture.maker)
    guard case .done(200) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(fixture.allocate(.allocate(keepsSize: false), 0..<600, of: node, writer.handle).errno == nil)
    #expect(fixture.attributes(node)?.size == 600)
    #expect(fixture.truncate(node, to: 30) == nil && fixture.attributes(node)?.size == 30)
    #expect(fixture.content.writePast(writer.content, [1], at: 40) && fixture.attributes(node)?.size == 41)
  }

  @Test func aTreesRemovalCountsWhatWasWrittenPastTheVolume() throws {
    let volume = PassthroughFixture(["t/a": 200])
    let node = volume.resident("t/a")
    let writer = try #require(volume.open(node).open)
    #expect(volume.fixture.content.writePast(writer.content, [1], at: 9_999))
    let found = volume.fixture.remove("t").found
    #expect(found?.dirtyBytes == 10_000 && found?.bytes == Int64(Room.pages(10_000)))
    volume.close(node, writer)
  }
}
