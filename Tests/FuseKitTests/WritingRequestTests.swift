import Glibc
import Testing

@testable import FuseKit

/// Requests that change something, as Linux 6.18 writes them: what of them reaches the file system.
struct WritingRequestTests {
  private let operations = WritingOperations()

  private func kernel(readOnly: Bool = false) throws -> FakeKernel {
    var options = FuseSessionOptions(source: [], subtype: "test")
    options.readOnly = readOnly
    let kernel = try FakeKernel(operations, options: options, threads: 1)
    try kernel.initialize()
    return kernel
  }

  /// Sends requests one after the other. - Returns: What the file system noted of each.
  private func noted(_ requests: [(FuseRequestKind, [UInt8])], readOnly: Bool = false) throws -> [String] {
    let kernel = try kernel(readOnly: readOnly)
    for (index, (kind, body)) in requests.enumerated() {
      let answer = try kernel.ask(kind, unique: UInt64(4 + 2 * index), node: 3, body)
      #expect(answer.error == 0, "\(kind)")
    }
    return operations.noted
  }

  private func words(_ words: UInt32...) -> [UInt8] { words.flatMap { bytes($0) } }

  private func setattr(valid: UInt32, handle: UInt64 = 0, size: UInt64 = 0) -> [UInt8] {
    words(valid, 0) + bytes(handle) + bytes(size) + [UInt8](repeating: 0, count: 64)
  }

  private func write(
    _ data: String, at offset: Int64 = 0, flags: UInt32 = 0, lockOwner: UInt64 = 0, openFlags: Int32 = O_WRONLY
  ) -> [UInt8] {
    bytes(UInt64(7)) + bytes(offset) + words(UInt32(data.utf8.count), flags) + bytes(lockOwner)
      + words(UInt32(bitPattern: openFlags), 0) + Array(data.utf8)
  }

  @Test func namesAreMadeMovedAndRemoved() throws {
    let noted = try noted([
      (.mknod, words(0o010666, 0, 0o22, 0) + cString("fifo")),
      (.mkdir, words(0o777, 0o27) + cString("directory")),
      (.symlink, cString("link") + cString("to/where")),
      (.link, bytes(UInt64(9)) + cString("second")),
      (.rename, bytes(UInt64(5)) + cString("from") + cString("to")),
      (.rename2, bytes(UInt64(5)) + words(2, 0) + cString("from") + cString("to")),
      (.unlink, cString("file")), (.rmdir, cString("directory")),
    ])
    #expect(
      noted == [
        "mknod fifo 10666 0 umask 18", "mkdir directory 777 umask 23", "symlink link -> to/where", "link 9 3/second",
        "rename from 5/to 0", "rename from 5/to 2", "unlink file", "rmdir directory",
      ])
  }

  @Test func creationsCarryModeAndUmask() throws {
    let noted = try noted([
      (.create, words(0o1101, 0o100666, 0o77, 0) + cString("file")),
      (.create, words(0o1101, 0o100666, 0o77, 1) + cString("file")),
    ])
    #expect(noted == ["create file 100666 577 umask 63", "create file 100666 577 umask 63 clears"])
  }

  /// libfuse 3.14 does not know the request.
  @Test func aFileWithoutANameIsNoCreationOfOne() throws {
    let body = words(0o20200002, 0o100600, 0o22, 0)
    #expect(
      try noted([(.tmpfile, body + cString("/")), (.create, body + cString("file"))]) == [
        "tmpfile 100600 4259842 umask 18", "create file 100600 4259842 umask 18",
      ])
  }

  @Test func ofASessionMountedReadOnlyItIsRefusedAsEver() throws {
    let kernel = try kernel(readOnly: true)
    let body = words(0o20200002, 0o100600, 0o22, 0) + cString("/")
    #expect(try kernel.ask(.tmpfile, unique: 4, body).error == -ENOSYS)
    #expect(try kernel.ask(.open, unique: 6, words(0, 1)).error == 0)
    #expect(operations.noted == ["open 0"])
  }

  /// libfuse shows neither the flags of the request nor, since they have no place in its structures, what they mean.
  @Test func whoMayNotKeepSetIDBitsIsKnown() throws {
    let noted = try noted([
      (.open, words(UInt32(O_WRONLY), 0)), (.open, words(UInt32(O_WRONLY | O_TRUNC), 1)), (.open, words(2, 0)),
      (.write, write("abc", flags: 4)), (.write, write("abc", flags: 0)),
      (.setattr, setattr(valid: 1 << 11)), (.setattr, setattr(valid: 0)),
      (.setattr, setattr(valid: 1 << 6 | 1 << 9, handle: 7)), (.setattr, setattr(valid: 1)),
      (.setattr, setattr(valid: 1 << 3 | 1 << 6 | 1 << 11, handle: 7, size: 5)),
    ])
    #expect(
      noted == [
        "open 1", "open 513 clears", "open 2", "write 0+3 cached clears", "write 0+3 cached",
        "setattr 800 size 0 and set-id", "setattr 0 size 0 and set-id", "setattr 0 size 0 handle 7 and set-id",
        "setattr 1 size 0", "setattr 808 size 5 handle 7 and set-id",
      ])
  }

  @Test func writesSayHowTheyCame() throws {
    let noted = try noted([
      (.write, write("abc", at: 10)), (.write, write("abc", flags: 2, lockOwner: 5)),
      (.write, write("abc", flags: 2, lockOwner: 5, openFlags: O_WRONLY | O_DSYNC)),
      (.write, write("abc", flags: 2, lockOwner: 5, openFlags: O_WRONLY | O_SYNC)),
      (.write, write("abc", openFlags: O_WRONLY | O_SYNC)), (.write, write("abcd", flags: 1, openFlags: 0)),
    ])
    #expect(
      noted == [
        "write 10+3 cached", "write 0+3 direct", "write 0+3 direct durable", "write 0+3 direct durable",
        "write 0+3 cached", "write 0+4 pages",
      ])
  }

  @Test func theRestArrivesToo() throws {
    let noted = try noted([
      (.fsync, bytes(UInt64(7)) + words(1, 0)), (.fsyncdir, bytes(UInt64(8)) + words(0, 0)),
      (.fallocate, bytes(UInt64(7)) + bytes(UInt64(4096)) + bytes(UInt64(10)) + words(3, 0)),
      (
        .copyFileRange,
        bytes(UInt64(7)) + bytes(UInt64(1)) + bytes(UInt64(9)) + bytes(UInt64(8)) + bytes(UInt64(2))
          + bytes(UInt64(100)) + bytes(UInt64(0))
      ), (.setxattr, words(5, 1) + cString("user.a") + Array("value".utf8)), (.removexattr, cString("user.a")),
    ])
    #expect(
      noted == [
        "fsync 7 true", "fsyncdir 8 false", "fallocate 3 4096+10", "copy 3@1 9@2 100", "setxattr user.a=value 1",
        "removexattr user.a",
      ])
  }

  /// Sizes and offsets are the caller's, by way of the kernel, which checks them; so it is not relied on.
  @Test func whatDoesNotFitNeverReachesTheFileSystem() throws {
    let kernel = try kernel()
    #expect(try kernel.ask(.setattr, unique: 4, setattr(valid: 8, size: 1 << 63)).error == -EFBIG)
    #expect(try kernel.ask(.write, unique: 6, write("a", at: -1)).error == -EFBIG)
    let range = bytes(UInt64(7)) + bytes(UInt64(Int64.max)) + bytes(UInt64(10)) + words(0, 0)
    #expect(try kernel.ask(.fallocate, unique: 8, range).error == -EFBIG)
    #expect(operations.noted.isEmpty)
  }
}
