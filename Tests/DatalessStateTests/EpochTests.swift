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
