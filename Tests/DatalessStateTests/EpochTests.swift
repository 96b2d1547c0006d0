import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import SystemPackage
import Testing

/// What a failed transaction, or a disk that refuses bytes, leaves of numbers and epochs.
@Suite struct EpochTests {
  private struct Stop: Error {}

  @Test func theHighestInodeIsKeptThoughTheFirstAttemptFails() throws {
    let scratch = Scratch()
    let catalog = try Catalog(scratch.full("catalog"), .making, home: 77)
    var writer = try catalog.write("make") { connection in
      try ItemRow(id: ItemRow.root, place: nil, inode: root.inode).save(connection)
      return try CatalogWriter(connection, epoch: 1)
    }
    let file = own(node: 5, 7)
    let change = StateChange.together([
      .made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("f"), in: root),
    ])
    #expect(throws: FSError.self) {
      try catalog.write("fail") { connection in
        try writer.apply(change, connection)
        throw Stop()
      }
    }
    writer.rollBack()
    #expect(writer.highestInode == 0)
    try catalog.write("succeed") { try writer.apply(change, $0) }
    writer.commit()
    #expect(try catalog.read("look") { try $0.number(.highestInode) } == file.inode)
  }

  @Test func aNumberIsNotGivenAgainAfterATransactionFailed() throws {
    let scratch = Scratch()
    let catalog = try Catalog(scratch.full("catalog"), .making, home: 77)
    var epochs = try catalog.write("begin") { try Epochs($0, MountIdentity(boot: [1], mount: 2)) }
    #expect(epochs.current == 1)
    #expect(throws: FSError.self) {
      try catalog.write("fail") { connection in
        _ = try epochs.next(connection, nil)
        throw Stop()
      }
    }
    #expect(epochs.current == 1)
    let next = try catalog.write("succeed") { try epochs.next($0, nil) }
    epochs.commit(next.begun)
    #expect(next.ended == 1 && next.begun == 3 && epochs.current == 3)
  }

  /// A flipped bit, or somebody's own row: the daemon would end at its next epoch, each time.
  @Test(arguments: [.max, .max - 1, .max / 2, 0, -1] as [Int64])
  func aNumberThatHasNoNextOneIsDamage(number: Int64) throws {
    let scratch = Scratch()
    let catalog = try Catalog(scratch.full("catalog"), .making, home: 77)
    try catalog.write("spoil") { connection in
      try connection.run(
        "INSERT INTO epoch(number, boot, mount, sealed) VALUES(?, ?, 2, 1)", .integer(number), .bytes([1]))
    }
    let error = #expect(throws: FSError.self) {
      _ = try catalog.write("begin") { try Epochs($0, MountIdentity(boot: [1], mount: 2)) }
    }
    #expect(error?.errno == .ioError)
  }

  /// Content of an end without time is believed as long as the machine runs, and not after a loss of power; nothing of
  /// the other changes is lost.
  @Test(arguments: [false, true]) func anEndDoesNotWaitForTheDisk(hasTime: Bool) throws {
    let fixture = StateFixture()
    let volume = try fixture.open()
    try fixture.keep(.content(of: stored("a", node: 50, inode: 10), try volume.content.make("four")), in: volume)
    #expect(try volume.flush())
    try fixture.keep(
      .content(of: stored("b", node: 51, inode: 11), try volume.content.make("four")),
      .hidden(stored("c", node: 52, inode: 12), name: bytes("c"), in: root), in: volume)
    #expect(try !volume.flush { false })
    try volume.close { hasTime }
    func seen(_ fixture: StateFixture) throws -> (content: [Bool], hidden: Int, wasClean: Bool) {
      let copy = fixture.copy()
      let volume = try copy.open()
      defer { try? volume.close() }
      let saved = try volume.saved(of: root)
      let files = saved.listed.filter { $0.name != bytes("c") }
      return (files.map { $0.item.content != nil }, saved.hidden.count, volume.wasClean)
    }
    var found = try seen(fixture)
    #expect(found.content == [true, true] && found.hidden == 1 && found.wasClean)
    let lost = fixture.copy()
    try StateCheckTests.edit(lost, "UPDATE epoch SET boot = x'00' WHERE sealed = 0")
    found = try seen(lost)
    #expect(found.content == [true, hasTime] && found.hidden == 1 && found.wasClean == hasTime)
  }

  @Test func whatTheDiskHasRefusedIsNeverSealed() throws {
    let fixture = StateFixture()
    try fixture.run { volume in
      try fixture.keep(
        .content(of: stored("a", node: 50, inode: 10), try volume.content.make("four")), in: volume)
      #expect(thrown { () throws(FSError) in try volume.seal { _ in -Int(EIO) } }?.errno == .ioError)
      try fixture.keep(
        .content(of: stored("b", node: 51, inode: 11), try volume.content.make("four")), in: volume)
      // The disk tells of an error once: the synchronization at the end says nothing of what was lost before.
    }
    try StateCheckTests.edit(fixture, "UPDATE epoch SET boot = x'00' WHERE sealed = 0")
    try fixture.run { volume in
      let isThere = try volume.saved(of: root).listed.map { $0.item.content != nil }
      #expect(isThere == [false, true])
    }
  }
}
