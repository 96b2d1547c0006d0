import DatalessCore
import Glibc
import Testing

@testable import DatalessDaemon

/// Who has a file open, and who holds a lock, as /proc shows it of real programs. Their volume is any directory: it is
/// told by nothing but the paths of descriptors.
@Suite struct FileHoldersTests {
  private let fixture = ProcessFixture()
  private let scratch = ScratchDirectory()

  /// A shell that has opened files; it waits until the test lets go of it.
  private func program(_ script: String) throws -> ChildProcess {
    let child = try ChildProcess(script: "cd '\(scratch.path)'; \(script); echo ready; read line")
    #expect(child.readLine() == "ready")
    return child
  }

  private func look(_ writer: ChildProcess, beside others: [Int32], volume: [UInt8]? = nil) -> SharedWrite.Answer {
    let opener = fixture.caller(writer.pid)
    let write = SharedWrite(
      threadID: writer.pid, opener: opener, names: [Array("file".utf8)],
      others: others.map { SharedWrite.Opener(process: .unknown, threadID: $0, writes: true) })
    return FileHolders(processes: fixture.table, mountpoint: volume ?? scratch.bytes).look(at: write)
  }

  private func together(
    _ writer: ChildProcess, _ other: ChildProcess?, lock: LockSight
  ) -> SharedWrite.Answer {
    .together(
      SharedWrite.Together(
        writer: fixture.caller(writer.pid), other: other.map { fixture.caller($0.pid).process } ?? .unknown,
        otherWrites: other != nil, lock: lock))
  }

  @Test func aWriterWithoutALockIsSeen() throws {
    scratch.file("file")
    let (writer, reader) = (try program("exec 3>> file"), try program("exec 3< file"))
    #expect(look(writer, beside: [reader.pid]) == together(writer, reader, lock: .free))
  }

  @Test(arguments: ["file", "other"]) func aLockOnAnyFileOfTheVolumeIsOne(name: String) throws {
    for name in ["file", "other"] { scratch.file(name) }
    let (writer, reader) = (
      try program("exec 3>> file; exec 4>> \(name); flock -n 4"), try program("exec 3< file")
    )
    #expect(look(writer, beside: [reader.pid]) == together(writer, reader, lock: .held))
  }

  @Test func aLockOfTheOtherOneCountsOnTheFileAlone() throws {
    for name in ["file", "other"] { scratch.file(name) }
    let writer = try program("exec 3>> file")
    let locking = try program("exec 3< file; flock -s -n 3")
    #expect(look(writer, beside: [locking.pid]) == together(writer, locking, lock: .held))
    let elsewhere = try program("exec 3< file; exec 4< other; flock -s -n 4")
    #expect(look(writer, beside: [elsewhere.pid]) == together(writer, elsewhere, lock: .free))
  }

  @Test func oneProcessIsAlone() throws {
    scratch.file("file")
    let writer = try program("exec 3>> file; exec 4< file")
    #expect(look(writer, beside: [writer.pid]) == .alone)
  }

  @Test func whoHasClosedTheFileOrIsGoneIsUnknown() throws {
    scratch.file("file")
    let (writer, reader) = (try program("exec 3>> file"), try program("exec 3< file; exec 3<&-"))
    #expect(look(writer, beside: [reader.pid]) == together(writer, nil, lock: .unknown(.otherUnknown)))
    #expect(look(writer, beside: [0]) == together(writer, nil, lock: .unknown(.otherUnknown)))
  }

  @Test func aVolumeInAnotherPlaceIsUnknown() throws {
    scratch.file("file")
    let (writer, reader) = (try program("exec 3>> file"), try program("exec 3< file"))
    let volume = scratch.bytes("volume")
    #expect(look(writer, beside: [reader.pid], volume: volume) == together(writer, nil, lock: .unknown(.elsewhere)))
  }

  @Test(arguments: [
    ("lock:\t1: POSIX  ADVISORY  WRITE 4711 00:35:12 0 EOF", true),
    ("lock:\t1: OFDLCK ADVISORY  READ -1 00:35:12 0 9", true),
    ("lock:\t1: FLOCK  ADVISORY  WRITE 7 00:35:12 0 EOF", true),
    ("lock:\t1: LEASE  ACTIVE    READ 7 00:35:12 0 EOF", false), ("pos:\t0", false), ("lock:", false), ("", false),
  ]) func locksAreRead(line: String, isLock: Bool) {
    let text = Array("pos:\t0\nflags:\t0100001\nmnt_id:\t5\n\(line)\n".utf8)
    #expect(text.withUnsafeBufferPointer { FileHolders.hasLock($0) } == isLock)
  }
}
