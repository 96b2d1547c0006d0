import DatalessCore
@testable import DatalessState
import Glibc
import Synchronization
import SystemPackage
import Testing

/// On a full disk whoever waits is told so, nothing that was acknowledged is lost, and it goes on when there is room.
@Suite(.enabled(if: isRoot, "mounting a small tmpfs needs root"))
struct StateFullDiskTests {
  @Test func changesWaitUntilThereIsRoom() {
    withPrivateMounts {
      do {
        let scratch = Scratch("full")
        #expect(mount("tmpfs", scratch.path, "tmpfs", 0, "size=2m,mode=700") == 0)
        defer { umount2(scratch.path, CInt(MNT_DETACH)) }
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
      } catch {
        Issue.record(error)
      }
    }
  }

  /// Else nothing that is removed would ever give room back: content goes when its removal is durable.
  @Test func onAFullDiskThereIsRoomForChanges() {
    withPrivateMounts {
      do {
        let scratch = Scratch("full")
        #expect(mount("tmpfs", scratch.path, "tmpfs", 0, "size=24m,mode=700") == 0)
        defer { umount2(scratch.path, CInt(MNT_DETACH)) }
        let fixture = StateFixture(scratch)
        let volume = try fixture.open()
        scratch.write("log", [])
        let filler = open(scratch.full("log"), O_WRONLY)
        let block = [UInt8](repeating: 1, count: 4096)
        while write(filler, block, block.count) > 0 {}
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
        close(filler)
        try volume.close()
      } catch {
        Issue.record(error)
      }
    }
  }

  /// What was removed or evicted is on its way out until that is durable, a second later. Who needs its room before
  /// that has it.
  @Test func roomOfWhatWasRemovedIsThereAtOnce() {
    withPrivateMounts {
      do {
        let scratch = Scratch("full")
        #expect(mount("tmpfs", scratch.path, "tmpfs", 0, "size=24m,mode=700") == 0)
        defer { umount2(scratch.path, CInt(MNT_DETACH)) }
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
      } catch {
        Issue.record(error)
      }
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
    withPrivateMounts {
      do {
        let scratch = Scratch("full")
        #expect(mount("tmpfs", scratch.path, "tmpfs", 0, "size=4m,mode=700") == 0)
        defer { umount2(scratch.path, CInt(MNT_DETACH)) }
        let fixture = StateFixture(scratch)
        try fixture.open().close()
        #expect(mount("tmpfs", scratch.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "size=4m,mode=700") == 0)
        #expect(thrown { () throws(FSError) in _ = try fixture.open() }?.errno == .readOnlyFileSystem)
        #expect(try fixture.check(isDryRun: true).findings == [])
      } catch {
        Issue.record(error)
      }
    }
  }
}
