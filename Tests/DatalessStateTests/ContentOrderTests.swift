import DatalessCore
@testable import DatalessState
import Synchronization
import SystemPackage
import Testing

/// Content is on the disk before the catalog says what depends on it, and nothing is flushed that nothing depends on.
@Suite struct ContentOrderTests {
  /// Tells what is flushed, and what the catalog says by then.
  private final class FlushedContent: ContentStore {
    let flushed = Mutex<[ContentID]>([])
    let missing = Mutex<Set<ContentID>>([])
    let failure = Mutex<FSError?>(nil)

    func take() -> [ContentID] {
      flushed.withLock { flushed in
        defer { flushed = [] }
        return flushed
      }
    }

    func sync(_ id: ContentID) throws(FSError) {
      if let failure = failure.withLock({ $0 }) { throw failure }
      if missing.withLock({ $0.contains(id) }) { throw Self.none }
      flushed.withLock { $0.append(id) }
    }

    func size(of id: ContentID) throws(FSError) -> Int64 {
      if let failure = failure.withLock({ $0 }) { throw failure }
      guard !missing.withLock({ $0.contains(id) }) else { throw FSError(.noSuchFileOrDirectory, "no such content") }
      return 4
    }

    private static let none = FSError(.ioError, "no such content")
    let isFastLocal = true
    let allocatedBytes: Int64 = 0
    func makeWriter(size: Int64) throws(FSError) -> any ContentWriter { throw Self.none }
    func makeRanged(size: Int64) throws(FSError) -> ContentID { throw Self.none }
    func makeWritable(size: Int64, copying original: ContentID?) throws(FSError) -> ContentID { throw Self.none }
    func rangeWriter(_ id: ContentID) throws(FSError) -> any RangeWriter { throw Self.none }
    func read(
      _ id: ContentID, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(FSError) -> Int { throw Self.none }
    func seek(_ id: ContentID, from offset: Int64, hole: Bool) throws(FSError) -> Int64 { throw Self.none }
    func resize(_ id: ContentID, to size: Int64) throws(FSError) -> ContentExtent { throw Self.none }
    func write(
      _ id: ContentID, _ bytes: UnsafeRawBufferPointer, at offset: Int64
    ) throws(FSError) -> (count: Int, extent: ContentExtent) { throw Self.none }
    func allocate(_ id: ContentID, _ kind: AllocationKind, range: Range<Int64>) throws(FSError) { throw Self.none }
    func extent(of id: ContentID) throws(FSError) -> ContentExtent { throw Self.none }
    func hasOwnFile(_ id: ContentID) -> Bool { true }
    func isUsedElsewhere(_ id: ContentID) -> Bool { false }
    func openDescriptor(_ id: ContentID) throws(FSError) -> CInt? { nil }
    func remove(_ id: ContentID) {}
  }

  private final class Fixture {
    let scratch = Scratch()
    let content = FlushedContent()
    let catalog: Catalog
    let journal: CatalogJournal
    private var last: UInt64 = 0

    init() throws(FSError) {
      catalog = try Catalog(scratch.full("catalog"), .making, home: 77)
      let writer = try catalog.write("make") { connection in
        try ItemRow(id: ItemRow.root, place: nil, inode: root.inode).save(connection)
        return try CatalogWriter(connection, epoch: 1)
      }
      journal = CatalogJournal(
        catalog, writer, search: LeftoverSearch(isNeeded: false), content: content, lane: ManualLane(),
        timer: ManualTimer(), interval: Nanoseconds(1_000_000_000))
    }

    /// - Returns: What was flushed for it.
    func keep(_ change: StateChange) throws(FSError) -> [ContentID] {
      last += 1
      journal.append(change, ChangeNumber(rawValue: last))
      try journal.commit()
      return content.take()
    }
  }

  private static func id(_ number: UInt64) -> ContentID { ContentID(rawValue: 1 << 63 | number) }

  @Test func aFileOfTheStoreIsWholeBeforeItIsDirty() throws {
    let fixture = try Fixture()
    let file = stored("a", node: 5, inode: 50)
    #expect(try fixture.keep(.content(of: file, Self.id(1))) == [], "what is fetched can be fetched again")
    #expect(try fixture.keep(.dirty(of: file, Self.id(1))) == [Self.id(1)])
  }

  @Test func aFileThatTheStoreHasNoMoreIsWholeBeforeItIsDirty() throws {
    let fixture = try Fixture()
    let file = stored("a", node: 5, inode: 50)
    let unbound = ChangedItem(file.node, inode: file.inode, binding: nil)
    let made = StateChange.made(
      file, attributes(inode: 50, size: 4), target: [], listed: attributes(inode: 50, size: 4))
    #expect(try fixture.keep(.content(of: file, Self.id(1))) == [])
    #expect(try fixture.keep(.together([made, .named(file, name: bytes("moved"), in: root)])) == [])
    #expect(try fixture.keep(.dirty(of: unbound, Self.id(1))) == [Self.id(1)])
    #expect(try fixture.keep(.dirty(of: unbound, Self.id(1))) == [], "it was dirty")
    #expect(
      try fixture.keep(.together([.contentDropped(of: unbound, Self.id(1)), .dirty(of: unbound, Self.id(2))]))
        == [Self.id(2)], "a copy of what was clean")
  }

  @Test func aNewFileIsNotFlushedUnlessItTakesANameAway() throws {
    let fixture = try Fixture()
    let (file, other) = (own(node: 5, 1), own(node: 6, 2))
    for (item, name) in [(file, "new"), (other, "old")] {
      let made = StateChange.made(item, attributes(inode: item.inode), target: [])
      #expect(try fixture.keep(.together([made, .named(item, name: bytes(name), in: root)])) == [])
    }
    #expect(try fixture.keep(.dirty(of: file, Self.id(1))) == [])
    // To a name that nobody has.
    #expect(
      try fixture.keep(.together([.unnamed(name: bytes("new"), in: root), .named(file, name: bytes("n"), in: root)]))
        == [])
    let over: [StateChange] = [
      .unnamed(name: bytes("old"), in: root), .unnamed(name: bytes("n"), in: root),
      .named(file, name: bytes("old"), in: root),
    ]
    #expect(try fixture.keep(.together(over)) == [Self.id(1)])
  }

  @Test func aNewFileOverOneOfTheStoreIsWholeFirst() throws {
    let fixture = try Fixture()
    let file = own(node: 5, 1)
    _ = try fixture.keep(.made(file, attributes(inode: file.inode), target: []))
    _ = try fixture.keep(.dirty(of: file, Self.id(1)))
    let over: [StateChange] = [
      .hidden(stored("a", node: 7, inode: 70), name: bytes("a"), in: root), .named(file, name: bytes("a"), in: root),
    ]
    #expect(try fixture.keep(.together(over)) == [Self.id(1)])
  }

  @Test func whatCannotBeFlushedIsNotCommitted() throws {
    let fixture = try Fixture()
    fixture.content.failure.withLock { $0 = FSError(.noSpace, "full") }
    let error = thrown { () throws(FSError) in
      _ = try fixture.keep(.dirty(of: stored("a", node: 5, inode: 50), Self.id(1)))
    }
    #expect(error?.errno == .noSpace)
    #expect(try StateModel(fixture.catalog).contents.isEmpty)
    #expect(fixture.journal.backlog == 1 && fixture.journal.failure?.errno == .noSpace)
    fixture.content.failure.withLock { $0 = nil }
    try fixture.journal.commit()
    #expect(fixture.content.take() == [Self.id(1)] && fixture.journal.backlog == 0)
    #expect(try StateModel(fixture.catalog).contents.count == 1)
  }

  /// Only ENOENT says that content is gone.
  @Test func contentThatCannotBeLookedAtIsNotTakenForGone() throws {
    for errno in [Errno.tooManyOpenFiles, .ioError] {
      let fixture = try Fixture()
      fixture.content.failure.withLock { $0 = FSError(errno, "cannot look") }
      let error = thrown { () throws(FSError) in
        _ = try fixture.keep(.dirty(of: stored("a", node: 5, inode: 50), Self.id(1)))
      }
      #expect(error?.errno == errno && fixture.journal.backlog == 1)
    }
  }

  @Test func contentThatIsGoneKeepsNothingFromTheDisk() throws {
    let fixture = try Fixture()
    fixture.content.missing.withLock { $0 = [Self.id(1)] }
    #expect(try fixture.keep(.dirty(of: stored("a", node: 5, inode: 50), Self.id(1))) == [])
    #expect(fixture.journal.backlog == 0)
  }
}
