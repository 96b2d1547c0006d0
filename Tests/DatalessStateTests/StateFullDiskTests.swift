import DatalessCore
@testable import DatalessState
import Glibc
import Synchronization
import SystemPackage
import Testing

/// On a full disk whoever waits is told so, nothing that was acknowledged is lost, and it goes on when there is room.
@Suite(.enabled(if: isRoot, "mounting a small tmpfs needs root"))
struct StateFullDiskTests {
  /// A tmpfs of some size, that nobody else sees.
  private static func onDisk(_ size: String, _ body: @escaping @Sendable (Scratch) throws -> Void) {
    withPrivateMounts {
      let scratch = Scratch("full")
      #expect(mount("tmpfs", scratch.path, "tmpfs", 0, "size=\(size),mode=700") == 0)
      defer { umount2(scratch.path, CInt(MNT_DETACH)) }
      do {
        try body(scratch)
      } catch {
        Issue.record(error)
      }
    }
  }

  @Test func changesWaitUntilThereIsRoom() {
    Self.onDisk("2m") { scratch in
      let fixture = StateFixture(scratch)
      let volume = try fixture.open()
      let file = own(node: 40, 40)
      try fixture.keep(
        .together([
          .made(file, attributes(inode: file.inode), target: []), .named(file, name: bytes("kept"), in: root),
        ]),
        in: volume)
      // All the room is gone.
      scratch.write("log", [])
      let filler = open(scratch.full("log"), O_WRONLY)
      let block = [UInt8](repeating: 1, count: 4096)
      while write(filler, block, block.count) > 0 {}
      var number: UInt64 = 1
      var told: FSError?
      while told == nil, number < 2000 {
        number += 1
        let name = bytes("name \(number) " + String(repeating: "x", count: 200))
        let made = own(node: 1000 + number, number + 100)
        volume.journal.append(
          .together([.made(made, attributes(inode: made.inode), target: []), .named(made, name: name, in: root)]),
          ChangeNumber(rawValue: number))
        let answer = Mutex<FSError?>(nil)
        volume.journal.whenDurable(ChangeNumber(rawValue: number)) { error in answer.withLock { $0 = error } }
        fixture.lane.runAll()
        told = answer.withLock { $0 }
      }
      #expect(told?.errno == .noSpace, "\(String(describing: told)) after \(number)")
      #expect(volume.journal.backlog == 1)
      #expect(thrown { () throws(FSError) in _ = try volume.saved(of: root) }?.errno == .noSpace)
      // Room again: the next second tries again.
      ftruncate(filler, 0)
      close(filler)
      fixture.timer.passSecond()
      fixture.lane.runAll()
      #expect(volume.journal.backlog == 0)
      #expect(try volume.saved(of: root).made.count == Int(number))
      try volume.close()
    }
  }

  /// Else nothing that is removed would ever give room back: content goes when its removal is durable.
  @Test func onAFullDiskThereIsRoomForChanges() {
    Self.onDisk("24m") { scratch in
      let fixture = StateFixture(scratch)
      let volume = try fixture.open()
      try Self.fillDisk(scratch)
      // More than the WAL has before it is begun anew.
      for number in UInt64(1)...600 {
        let (file, name) = (own(node: 1000 + number, number + 100), bytes("name \(number)"))
        let changes: [StateChange] =
          number % 2 == 0
          ? [.unnamed(name: bytes("name \(number - 1)"), in: root), .forgotten(own(node: 999 + number, number + 99))]
          : [.made(file, attributes(inode: file.inode), target: []), .named(file, name: name, in: root)]
        try fixture.keep(.together(changes), in: volume)
      }
      #expect(volume.journal.backlog == 0)
      try volume.close()
    }
  }

  /// What is made takes room of the catalog that removals need: it is refused before that is used up.
  @Test func whatIsMadeOnAFullDiskLeavesRoomForRemovals() {
    Self.onDisk("24m") { scratch in
      let source = Scratch("source")
      for number in 0..<3000 { source.write("s\(number)", []) }
      let fixture = StateFixture(scratch)
      let volume = try KeptVolume(fixture, source: source)
      #expect(volume.write(String(repeating: "x", count: 6 << 20), to: "first", syncs: true) == nil)
      let first = volume.node("first")
      try Self.fillDisk(scratch)
      let made = Self.storm(20_000, in: volume) { volume.makeDirectory("\($0)" + String(repeating: "n", count: 200)) }
      #expect(made > 1000 && made < 20_000)
      #expect(Self.storm(10, in: volume) { volume.change("s\($0)") { $0.mode = 0o100600 } } == 0)
      #expect(Self.storm(10, in: volume) { volume.rename("s\($0)", to: "r\($0)") } == 0)
      // That names of SOURCE's are gone takes room, too, of which some is kept for it.
      let hidden = Self.storm(3000, in: volume) { volume.unlink("s\($0)") }
      #expect(hidden > 100 && hidden < 3000)
      #expect(volume.state.journal.backlog == 0)
      // It goes with its bytes, and there is room again.
      #expect(volume.unlink("first") == nil)
      volume.forget(first)
      #expect(volume.write(String(repeating: "y", count: 2 << 20), to: "second", syncs: true) == nil)
      let copy = fixture.copy()
      #expect(try copy.check().findings.allSatisfy { $0.kind == .unlinked || $0.kind == .leftover })
      let after = try KeptVolume(copy, source: source)
      #expect(after.read("second").utf8.allSatisfy { $0 == UInt8(ascii: "y") })
      #expect(after.attributes("second")?.size == 2 << 20)
      #expect(after.names("").count == made + 3000 - hidden + 1)
      try volume.unmount()
      #expect(try fixture.copy().check().findings == [])
    }
  }

  /// - Returns: How many calls went well before one found no room.
  private static func storm(_ count: Int, in volume: KeptVolume, _ call: (Int) -> String?) -> Int {
    defer { volume.passSecond() }
    for number in 0..<count {
      // As many as may wait for a second to pass.
      if number % 500 == 499 { volume.passSecond() }
      guard let errno = call(number) else { continue }
      #expect(errno == "ENOSPC")
      return number
    }
    return count
  }

  private static func fillDisk(_ scratch: Scratch) throws {
    scratch.write("log", [])
    let filler = open(scratch.full("log"), O_WRONLY)
    defer { close(filler) }
    let block = [UInt8](repeating: 1, count: 4096)
    while write(filler, block, block.count) > 0 {}
  }

  /// Its blocks are in the file: SQLite cuts off what lies beyond its end.
  @Test func theReserveStaysWhenTheLogIsAppliedAndIsNotMadeAgain() {
    Self.onDisk("64m") { scratch in
      let fixture = StateFixture(scratch)
      var sizes: [Int64] = []
      for round in UInt64(1)...4 {
        let volume = try fixture.open()
        try fixture.keep(.made(own(node: round, round), attributes(inode: round), target: []), in: volume)
        try volume.close()
        var status = stat()
        #expect(stat(scratch.full("catalog.sqlite"), &status) == 0)
        #expect(Int64(status.st_blocks) * 512 >= Int64(status.st_size))
        sizes.append(Int64(status.st_size))
      }
      #expect(sizes[0] >= 4 << 20 && Set(sizes).count == 1, "\(sizes)")
    }
  }

  /// Somebody has made the file larger, with a hole, so that room for it would take the disk; or has its header say so.
  @Test(arguments: [false, true]) func aFileThatSaysItIsLargeTakesNoRoom(saysHeader: Bool) {
    Self.onDisk("256m") { scratch in
      let fixture = StateFixture(scratch)
      for round in UInt64(1)...2 {
        let volume = try fixture.open()
        try fixture.keep(.made(own(node: round, round), attributes(inode: round), target: []), in: volume)
        try volume.close()
        var status = stat()
        #expect(stat(scratch.full("catalog.sqlite"), &status) == 0)
        #expect(Int64(status.st_blocks) * 512 < 16 << 20, "round \(round): \(status.st_blocks) blocks")
        guard round == 1 else { break }
        let catalog = open(scratch.full("catalog.sqlite"), O_RDWR)
        defer { close(catalog) }
        #expect(ftruncate(catalog, 200 << 20) == 0)
        var page: [UInt8] = [0, 0]
        #expect(pread(catalog, &page, 2, 16) == 2)
        let pages = UInt32(200 << 20) / (UInt32(page[0]) << 8 | UInt32(page[1]))
        let count = (0..<4).map { UInt8(truncatingIfNeeded: pages >> (24 - 8 * $0)) }
        if saysHeader { #expect(pwrite(catalog, count, 4, 28) == 4) }
      }
    }
  }

  /// The end has removed its log, and others have used up the disk since: the database has room for another one.
  @Test(arguments: [false, true]) func whatEndedCleanlyOpensOnAFullDisk(isHeaderWrong: Bool) {
    Self.onDisk("64m") { scratch in
      let fixture = StateFixture(scratch)
      try fixture.run { volume in
        for number in UInt64(1)...2000 {
          let (file, name) = (own(node: 1000 + number, 1000 + number), bytes("name \(number)"))
          volume.journal.append(
            .together([.made(file, attributes(inode: file.inode), target: []), .named(file, name: name, in: root)]),
            ChangeNumber(rawValue: number))
        }
      }
      try Self.fillDisk(scratch)
      guard !isHeaderWrong else {
        let catalog = open(scratch.full("catalog.sqlite"), O_RDWR)
        defer { close(catalog) }
        // One page, it says: what is not zero stays all the same.
        let pages: [UInt8] = [0, 0, 0, 1]
        #expect(pwrite(catalog, pages, 4, 28) == 4)
        var status = stat()
        fstat(catalog, &status)
        let before = status.st_size
        CatalogReserve.makeRoomForLog(scratch.full("catalog.sqlite"))
        fstat(catalog, &status)
        #expect(before - status.st_size <= 512 << 10 && status.st_size > 300 << 10)
        return
      }
      try fixture.run { volume in
        #expect(try volume.saved(of: root).made.count == 2000)
        try fixture.keep(.unnamed(name: bytes("name 7"), in: root), in: volume)
        #expect(try volume.saved(of: root).made.count == 1999)
      }
      #expect(try fixture.copy().check().damages == 0)
    }
  }

  /// What was removed or evicted is on its way out until that is durable, a second later. Who needs its room before
  /// that has it.
  @Test func roomOfWhatWasRemovedIsThereAtOnce() {
    Self.onDisk("24m") { scratch in
      let source = Scratch("source")
      source.write("big", [UInt8](repeating: 7, count: Self.large))
      let volume = try KeptVolume(StateFixture(scratch), source: source)
      #expect(Self.fill("first", in: volume) == nil)
      volume.passSecond()
      let first = volume.node("first")
      #expect(volume.unlink("first") == nil)
      volume.forget(first)
      #expect(volume.engine.trashStatus.items == 1)
      #expect(Self.fill("second", in: volume) == nil)
      volume.passSecond()
      let second = volume.node("second")
      #expect(volume.remove("second") == nil)
      volume.forget(second)
      #expect(volume.bring(volume.node("big"), .read) == nil)
      volume.passSecond()
      volume.evict("big")
      #expect(volume.bring(volume.node("big"), .read) == nil)
      volume.passSecond()
      // What is there is in use: nothing is on its way out.
      #expect(Self.fill("third", in: volume) == "ENOSPC")
      try volume.unmount()
    }
  }

  /// More than half of the disk.
  private static let large = 12 << 20

  /// Writes to a file until it is large. - Returns: An errno's name, or nil.
  private static func fill(_ path: String, in volume: KeptVolume) -> String? {
    let piece = String(repeating: "x", count: 1 << 20)
    var size: Int64 = 0
    while size < large {
      if let errno = volume.write(piece, to: path, at: size) { return errno }
      size = volume.attributes(path)?.size ?? .max
    }
    return nil
  }

  @Test func aReadOnlyFileSystemSaysSo() {
    Self.onDisk("4m") { scratch in
      let fixture = StateFixture(scratch)
      try fixture.open().close()
      #expect(mount("tmpfs", scratch.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "size=4m,mode=700") == 0)
      #expect(thrown { () throws(FSError) in _ = try fixture.open() }?.errno == .readOnlyFileSystem)
      #expect(try fixture.check(isDryRun: true).findings == [])
    }
  }
}
