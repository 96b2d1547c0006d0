import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import Synchronization
import SystemPackage
import Testing

/// What one run keeps, the next one finds.
@Suite struct StateVolumeTests {
  private static func name(_ text: String, _ saved: [SavedDirectory.Name]) -> SavedItem? {
    saved.first { $0.name == bytes(text) }?.item
  }

  private static func write(_ text: String, in volume: StateVolume) throws(FSError) -> ContentID {
    try volume.content.make(text)
  }

  @Test func namesContentAndAttributesAreFoundByDirectory() throws {
    let fixture = StateFixture()
    let (made, file, directory) = (own(node: 50, 1), stored("d/f", node: 51, inode: 11), own(node: 53, 2))
    let parent = stored("d", node: 52, inode: 12, kind: .directory)
    var content: ContentID?
    do {
      let volume = try fixture.open()
      content = try Self.write("hell", in: volume)
      var changed = attributes(inode: made.inode, size: 9, device: .max)
      changed.mode = 0o120777
      try fixture.keep(
        .together([.made(made, changed, target: bytes("../x")), .named(made, name: bytes("link"), in: root)]),
        .dirty(of: file, try #require(content)),
        .attribute(of: file, name: bytes("user.a"), value: bytes("1")),
        .attribute(of: file, name: bytes("user.b"), value: nil),
        .together([
          .made(directory, attributes(inode: directory.inode, kind: .directory), target: []),
          .named(directory, name: bytes("new"), in: parent),
        ]),
        .hidden(stored("d/gone", node: 54, inode: 13), name: bytes("gone"), in: parent), in: volume)
      try volume.close()
    }
    let volume = try fixture.open()
    #expect(volume.highestInode == directory.inode)
    let top = try volume.saved(of: root)
    #expect(Self.name("link", top.made)?.target == bytes("../x"))
    #expect(Self.name("link", top.made)?.inode == made.inode)
    #expect(Self.name("link", top.made)?.attributes?.size == 9)
    #expect(top.listed.map(\.name) == [bytes("d")] && top.hidden.isEmpty)
    let below = try volume.saved(of: stored("d", node: 7, inode: 12, kind: .directory))
    #expect(Self.name("gone", below.hidden)?.inode == 13)
    #expect(Self.name("new", below.made)?.inode == directory.inode)
    let found = try #require(Self.name("f", below.listed))
    #expect(found.isDirty && found.content == content && found.version == file.binding?.version)
    #expect(found.extendedAttributes == [bytes("user.a"): bytes("1"), bytes("user.b"): nil])
    // Inside what was made here: by its inode number, as nobody knows its node yet.
    #expect(
      try volume.saved(of: ChangedItem(NodeID(rawValue: 9), inode: directory.inode, binding: nil)).item?.inode
        == directory.inode)
    try volume.close()
  }

  @Test func anAdoptedItemIsTheSameAsBefore() throws {
    let fixture = StateFixture()
    let made = own(node: 50, 1)
    do {
      let volume = try fixture.open()
      try fixture.keep(
        .together([.made(made, attributes(inode: made.inode), target: []), .named(made, name: bytes("a"), in: root)]),
        in: volume)
      try volume.close()
    }
    let volume = try fixture.open()
    let saved = try #require(try volume.saved(of: root).made.first)
    let node = ChangedItem(NodeID(rawValue: 3), inode: made.inode, binding: nil)
    volume.adopt(saved.item.id, as: node.node)
    try fixture.keep(
      .together([.unnamed(name: bytes("a"), in: root), .named(node, name: bytes("b"), in: root)]), in: volume)
    let after = try volume.saved(of: root)
    #expect(after.made.map(\.name) == [bytes("b")])
    #expect(after.made.first?.item.id == saved.item.id)
    try volume.close()
  }

  @Test func aFetchedFileIsBelievedAsLongAsItsMountLivesOrItWasSealed() throws {
    let fixture = StateFixture()
    let file = stored("f", node: 51, inode: 11)
    func isResident(_ volume: StateVolume) throws -> Bool {
      try volume.saved(of: root).listed.first?.item.content != nil
    }
    do {
      let volume = try fixture.open()
      try fixture.keep(.content(of: file, try Self.write("abcd", in: volume)), in: volume)
      // Not closed: the process was killed.
    }
    do {
      let volume = try fixture.open()
      #expect(!volume.wasClean)
      #expect(try isResident(volume))
      // As if the machine had lost power: its mount is another one.
      try volume.journal.write("test") { _, connection in try connection.run("UPDATE epoch SET mount = mount + 1") }
    }
    do {
      let volume = try fixture.open()
      #expect(try !isResident(volume))
      try fixture.keep(.content(of: file, try Self.write("abcd", in: volume)), in: volume)
      try volume.seal()
      try volume.journal.write("test") { _, connection in try connection.run("UPDATE epoch SET mount = mount + 1") }
    }
    let volume = try fixture.open()
    #expect(try isResident(volume))
    try volume.close()
  }

  @Test func contentThatIsMissingOrOfAnotherSizeIsNoContent() throws {
    let fixture = StateFixture()
    let (clean, dirty) = (stored("clean", node: 51, inode: 11), stored("dirty", node: 52, inode: 12))
    do {
      let volume = try fixture.open()
      try fixture.keep(
        .content(of: clean, try Self.write("abc", in: volume)), .dirty(of: dirty, try Self.write("abc", in: volume)),
        in: volume)
      try volume.close()
    }
    do {
      let volume = try fixture.open()
      let saved = try volume.saved(of: root).listed
      #expect(Self.name("clean", saved)?.content == nil)
      let found = try #require(Self.name("dirty", saved))
      #expect(found.isDirty && found.content != nil)
      if let id = found.content { volume.content.remove(id) }
      try volume.close()
    }
    let volume = try fixture.open()
    let found = try #require(Self.name("dirty", try volume.saved(of: root).listed))
    // It is no empty file: it cannot be read.
    #expect(found.isDirty && found.content != nil && found.contentSize == 4)
    #expect(volume.troubles.lostFiles == 1 && volume.troubles.firstLost == bytes("dirty"))
    try volume.close()
  }

  @Test func whatACrashLeavesIsRemoved() throws {
    let fixture = StateFixture()
    let (open, named) = (own(node: 50, 1), own(node: 51, 2))
    var ids: [ContentID] = []
    do {
      let volume = try fixture.open()
      for text in ["unlinked", "named", "never told"] { ids.append(try Self.write(text, in: volume)) }
      try fixture.keep(
        .together([.made(open, attributes(inode: open.inode), target: []), .named(open, name: bytes("a"), in: root)]),
        .dirty(of: open, ids[0]),
        .together([.made(named, attributes(inode: named.inode), target: []), .named(named, name: bytes("b"), in: root)]
        ),
        .dirty(of: named, ids[1]), .unnamed(name: bytes("a"), in: root), in: volume)
    }
    let volume = try fixture.open()
    #expect(try volume.reconcile() == 1)
    #expect(ids.map { (try? volume.content.size(of: $0)) != nil } == [false, true, false])
    #expect(try volume.saved(of: root).made.map(\.name) == [bytes("b")])
    try volume.close()
  }

  /// A volume with a limit on local content has it counted as what is on its way out.
  @Test func whoRemovesWhatACrashLeavesIsGivenIt() throws {
    let fixture = StateFixture()
    let id = try Self.write("never told", in: try fixture.open())
    let volume = try fixture.open()
    let given = Mutex<[ContentID]>([])
    volume.removeLeftovers { ids in given.withLock { $0 += ids } }
    #expect(volume.searchedItems == 0)
    #expect(try volume.journal.makeRoom(), "more may be on its way out than is known")
    #expect(try volume.reconcile() == 1)
    #expect(given.withLock { $0 } == [id])
    #expect(try volume.content.size(of: id) == 10)
    #expect(volume.searchedItems == nil)
    #expect(try !volume.journal.makeRoom())
    volume.content.remove(id)
    try volume.close()
  }

  /// Nobody removes a directory in which something is without saying so: what lost its name with that was not removed.
  @Test func whatIsInADirectoryWithoutANameIsNotRemoved() throws {
    let fixture = StateFixture()
    let (directory, file) = (own(node: 50, 1), own(node: 51, 2))
    var id: ContentID?
    do {
      let volume = try fixture.open()
      id = try Self.write("mine", in: volume)
      try fixture.keep(
        .together([
          .made(directory, attributes(inode: directory.inode, kind: .directory), target: []),
          .named(directory, name: bytes("d"), in: root),
        ]),
        .together([
          .made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("f"), in: directory),
        ]),
        .dirty(of: file, try #require(id)), .unnamed(name: bytes("d"), in: root), in: volume)
      try volume.close()
    }
    let volume = try fixture.open()
    _ = try volume.reconcile()
    #expect(try volume.content.size(of: try #require(id)) == 4)
    try volume.close()
  }

  /// What was to be removed when the volume ended is there still, and counts against a quota: nobody could evict it.
  @Test func contentThatAnEndLeavesIsRemovedByTheNextRun() throws {
    let fixture = StateFixture()
    func end(leavesContent: Bool = false, reconciles: Bool = false) throws -> (wasClean: Bool, removed: Int) {
      let volume = try fixture.open()
      let removed = reconciles ? try volume.reconcile() : 0
      try volume.close(leavesContent: leavesContent)
      return (volume.wasClean, removed)
    }
    do {
      let volume = try fixture.open()
      _ = try Self.write("to be removed", in: volume)
      try volume.close(leavesContent: true)
    }
    #expect(try end() == (false, 0), "it ends before it has looked")
    #expect(try end(reconciles: true) == (false, 1))
    #expect(try end() == (true, 0))
    #expect(try end(leavesContent: true) == (true, 0))
    #expect(try end() == (false, 0))
  }

  /// As the engine tells a rename: the name is taken from the one, given to it again, and led to the other.
  @Test func whatACrashLeavesOfARenameOverAFileIsRemoved() throws {
    let fixture = StateFixture()
    let (old, new) = (own(node: 50, 1), own(node: 51, 2))
    var ids: [ContentID] = []
    do {
      let volume = try fixture.open()
      for text in ["old", "new"] { ids.append(try Self.write(text, in: volume)) }
      try fixture.keep(
        .together([.made(old, attributes(inode: old.inode), target: []), .named(old, name: bytes("a"), in: root)]),
        .dirty(of: old, ids[0]),
        .together([.made(new, attributes(inode: new.inode), target: []), .named(new, name: bytes("b"), in: root)]),
        .dirty(of: new, ids[1]),
        .together([
          .unnamed(name: bytes("a"), in: root), .attributes(of: old, attributes(inode: old.inode)),
          .made(new, attributes(inode: new.inode), target: []), .named(old, name: bytes("a"), in: root),
          .named(new, name: bytes("a"), in: root), .unnamed(name: bytes("b"), in: root),
        ]), in: volume)
    }
    try fixture.run { volume in
      let made = try volume.saved(of: root).made.map(\.name)
      #expect(made == [bytes("a")])
      #expect(ids.map { (try? volume.content.size(of: $0)) != nil } == [false, true])
    }
    #expect(try fixture.check().findings == [])
  }

  @Test func anotherDeviceNumberOfSourceIsTheSameSource() throws {
    let fixture = StateFixture()
    do {
      let volume = try fixture.open()
      try fixture.keep(
        .attributes(of: stored("f", node: 51, inode: 11, device: 77), attributes(inode: 11)), in: volume)
      try volume.close()
    }
    let volume = try fixture.open(root: attributes(inode: 2, kind: .directory, device: 78))
    let saved = try #require(try volume.saved(of: root).listed.first?.item)
    #expect(saved.version?.device == 78)
    #expect(try volume.savedItem(stored("f", node: 60, inode: 11, device: 78))?.id == saved.id)
    try volume.close()
  }

  @Test func aRenameInTheStoreTakesWhatIsBelowAlong() throws {
    let fixture = StateFixture()
    let directory = stored("d", node: 60, inode: 20, kind: .directory)
    let file = stored("d/e/f", node: 61, inode: 21)
    let volume = try fixture.open()
    try fixture.keep(
      .dirty(of: file, try Self.write("x", in: volume)),
      .bound(stored("moved", node: 60, inode: 20, kind: .directory), formerKey: bytes("d")), in: volume)
    #expect(
      try volume.saved(of: stored("moved/e", node: 0, inode: 5, kind: .directory)).listed.map(\.name) == [bytes("f")])
    #expect(try volume.saved(of: directory).item?.inode == 20, "the same item, whatever its name was")
    #expect(try volume.saved(of: root).listed.map(\.name) == [bytes("moved")])
    try volume.close()
  }

  @Test func twoFilesMayChangeTheirPlacesInTheStore() throws {
    let fixture = StateFixture()
    let volume = try fixture.open()
    let (a, b) = (stored("a", node: 60, inode: 20), stored("b", node: 61, inode: 21))
    let (one, two) = (try Self.write("aaaa", in: volume), try Self.write("bbbb", in: volume))
    try fixture.keep(
      .content(of: a, one), .content(of: b, two), .bound(stored("b", node: 60, inode: 20), formerKey: bytes("a")),
      .bound(stored("a", node: 61, inode: 21), formerKey: bytes("b")), in: volume)
    let saved = try volume.saved(of: root).listed
    #expect(Self.name("a", saved)?.content == two && Self.name("b", saved)?.content == one)
    try volume.close()
  }

  @Test func whatTheStoreHasNoMoreIsTheVolumesOwn() throws {
    let fixture = StateFixture()
    do {
      let volume = try fixture.open()
      try fixture.keep(.dirty(of: stored("a", node: 60, inode: 20), try Self.write("aaaa", in: volume)), in: volume)
      let kept = ChangedItem(NodeID(rawValue: 60), inode: 20, binding: nil)
      try fixture.keep(
        .together([.made(kept, attributes(inode: 20), target: []), .named(kept, name: bytes("a"), in: root)]),
        in: volume)
      #expect(try volume.saved(of: root).listed.isEmpty)
      try volume.close()
    }
    let volume = try fixture.open()
    #expect(volume.highestInode == 0)
    let saved = try volume.saved(of: root)
    #expect(saved.listed.isEmpty && Self.name("a", saved.made)?.isDirty == true)
    let again = ChangedItem(NodeID(rawValue: 7), inode: 20, binding: nil)
    try fixture.keep(.attributes(of: again, attributes(inode: 20, size: 99)), in: volume)
    #expect(Self.name("a", try volume.saved(of: root).made)?.attributes?.size == 99)
    try volume.close()
  }

  @Test func anIdThatIsGivenAgainIsOfOneFileOnly() throws {
    let fixture = StateFixture()
    let volume = try fixture.open()
    let id = try Self.write("aaaa", in: volume)
    try fixture.keep(
      .content(of: stored("a", node: 60, inode: 20), id), .content(of: stored("b", node: 61, inode: 21), id), in: volume
    )
    let saved = try volume.saved(of: root).listed
    #expect(Self.name("a", saved)?.content == nil && Self.name("b", saved)?.content == id)
    try volume.close()
  }

  @Test func listingsAreKept() throws {
    let fixture = StateFixture()
    let entries = (0..<700).map {
      StoreEntry(name: bytes("n\($0)"), item: ListedItem(attributes(inode: UInt64(5000 + $0))))
    }
    do {
      let volume = try fixture.open()
      #expect(try volume.listing(of: root) == nil)
      try volume.keepListing(entries, of: root)
      try volume.keepListing([], of: stored("d", node: 8, inode: 8, kind: .directory))
      try volume.close()
    }
    let volume = try fixture.open()
    #expect(try volume.listing(of: root) == entries)
    #expect(try volume.listing(of: stored("d", node: 9, inode: 8, kind: .directory)) == [])
    try volume.close()
  }

  @Test func theJournalCommitsAfterASecondOrWhenSomebodyWaits() throws {
    let fixture = StateFixture()
    let volume = try fixture.open()
    let answers = Mutex<[String]>([])
    volume.journal.append(
      .attributes(of: stored("f", node: 51, inode: 11), attributes(inode: 11)), ChangeNumber(rawValue: 1))
    volume.journal.afterNextCommit(ChangeNumber(rawValue: 1)) { answers.withLock { $0.append("later") } }
    #expect(fixture.lane.count == 0 && fixture.timer.count == 1 && volume.journal.backlog == 1)
    fixture.timer.passSecond()
    #expect(fixture.lane.count == 1)
    fixture.lane.runAll()
    #expect(answers.withLock { $0 } == ["later"] && volume.journal.backlog == 0)
    volume.journal.append(
      .attributes(of: stored("f", node: 51, inode: 11), attributes(inode: 11)), ChangeNumber(rawValue: 2))
    for name in ["a", "b"] {
      volume.journal.whenDurable(ChangeNumber(rawValue: 2)) { error in
        answers.withLock { $0.append(error == nil ? name : "failed") }
      }
    }
    #expect(fixture.lane.count == 1)
    fixture.lane.runAll()
    #expect(answers.withLock { $0 } == ["later", "a", "b"])
    try volume.close()
  }
}
