import Glibc
import Synchronization
import SystemPackage
import Testing

@testable import FuseKit

/// Sessions on a fake kernel: trampolines, replies, interrupts and the end, without a mount.
struct SessionTests {
  @Test func initIsAnsweredWithWhatLibfuseLeavesOut() throws {
    let kernel = try FakeKernel(ScriptedOperations())
    let answer = try kernel.initialize()
    #expect(answer.unique == 2)
    #expect(answer.error == 0)
    let flags = UInt64(answer.integer(at: 12, as: UInt32.self)) | UInt64(answer.integer(at: 32, as: UInt32.self)) << 32
    let wanted: [UInt64] = [3, 6, 13, 18, 20, 23, 25, 28, 30, 36]
    for bit in wanted { #expect(flags & 1 << bit != 0, "bit \(bit)") }
    let unwanted: [UInt64] = [1, 10, 12, 14, 16, 17, 37]
    for bit in unwanted { #expect(flags & 1 << bit == 0, "bit \(bit)") }
    #expect(answer.integer(at: 16, as: UInt16.self) == 65_535)
    #expect(answer.integer(at: 18, as: UInt16.self) == 65_535)
    let features = try #require(kernel.session.waitUntilReady(timeout: .seconds(10)))
    #expect(features.parallelDirectoryOperations && features.posixACL && features.readdirPlus)
    #expect(features.unmaskedModes)
    #expect(features.maxWrite == 1 << 20)
    #expect(features.maxReadahead == 131_072)
  }

  @Test func aSessionMountedReadOnlyAsksForNothingThatIsForWriters() throws {
    var options = FuseSessionOptions(source: [], subtype: "test")
    options.readOnly = true
    let kernel = try FakeKernel(ScriptedOperations(), options: options)
    let answer = try kernel.initialize()
    #expect(answer.integer(at: 12, as: UInt32.self) & 1 << 6 == 0)
    #expect(kernel.session.waitUntilReady(timeout: .seconds(10))?.unmaskedModes == false)
  }

  /// The kernel sends requests as soon as it has the answer. Whatever they bring to an end is to be told to it, so by
  /// then the file system must know how.
  @Test func theFileSystemIsReadyToTellTheKernelBeforeItHasTheAnswerToInit() throws {
    let session = Mutex<FuseSession?>(nil)
    let kernel = try FakeKernel(
      ScriptedOperations(onInitialized: {
        _ = session.withLock { $0 }?.notifier.invalidateAttributes(FuseNode(rawValue: 5))
      }), threads: 1)
    session.withLock { $0 = kernel.session }
    defer { session.withLock { $0 = nil } }
    let first = try kernel.initialize()
    #expect(first.unique == 0 && first.error == 2 && first.body.starts(with: bytes(UInt64(5))))
    let second = try kernel.receive()
    #expect(second.unique == 2 && second.error == 0)
  }

  /// Between the threads' wake signal and the end of a session lies the flag that they look at.
  @Test func aSignalAloneEndsNoSession() throws {
    let kernel = try FakeKernel(ScriptedOperations(), threads: 1)
    try kernel.initialize()
    for round in 1...100 {
      kernel.session.loop.wake()
      #expect(try kernel.ask(.lookup, unique: UInt64(2 + 2 * round), cString("a")).error == 0)
    }
  }

  @Test func anOldKernelWorksToo() throws {
    let kernel = try FakeKernel(ScriptedOperations())
    let answer = try kernel.initialize(minor: 34, flags: 0x0FFF_FFFF)
    #expect(answer.error == 0)
    #expect(answer.integer(at: 32, as: UInt32.self) == 0, "flags2")
    #expect(try kernel.ask(.lookup, unique: 4, cString("a")).error == 0)
  }

  @Test func anEntryIsEncodedInFull() throws {
    let operations = ScriptedOperations()
    let kernel = try FakeKernel(operations, threads: 1)
    try kernel.initialize()
    let answer = try kernel.ask(.lookup, unique: 4, cString("name"))
    // Answered by the same thread, hence after it has noted how the first answer went.
    _ = try kernel.ask(.lookup, unique: 6, cString("absent"))
    #expect(answer.body.count == 128)
    #expect(answer.integer(at: 0, as: UInt64.self) == 42)
    #expect(answer.integer(at: 16, as: UInt64.self) == 1)
    #expect(answer.integer(at: 24, as: UInt64.self) == UInt64(UInt32.max))
    #expect(answer.integer(at: 32, as: UInt32.self) == 2)
    #expect(answer.integer(at: 40, as: UInt64.self) == 4711)
    #expect(answer.integer(at: 64, as: Int64.self) == -1, "a time before 1970")
    #expect(operations.seen.withLock { $0.delivered } == [true])
    #expect(operations.seen.withLock { $0.contexts.first } == RequestContext(threadID: 77, uid: 10, gid: 20))
  }

  @Test func aNegativeEntryHasNoNodeAndATimeout() throws {
    let kernel = try FakeKernel(ScriptedOperations())
    try kernel.initialize()
    let answer = try kernel.ask(.lookup, unique: 4, cString("absent"))
    #expect(answer.error == 0)
    #expect(answer.integer(at: 0, as: UInt64.self) == 0)
    #expect(answer.integer(at: 16, as: UInt64.self) == 9)
    #expect(answer.integer(at: 32, as: UInt32.self) == 10)
  }

  @Test func aDroppedReplyAnswersEIOAndIsCounted() throws {
    let kernel = try FakeKernel(ScriptedOperations())
    try kernel.initialize()
    #expect(try kernel.ask(.lookup, unique: 4, cString("dropped")).error == -EIO)
    #expect(kernel.session.droppedReplies == 1)
  }

  /// The kernel refuses such answers as a whole and would leave the caller waiting.
  @Test(arguments: ["odd errno", "no errno"])
  func whatIsNoErrnoBecomesEIO(name: String) throws {
    let kernel = try FakeKernel(ScriptedOperations())
    try kernel.initialize()
    #expect(try kernel.ask(.lookup, unique: 4, cString(name)).error == -EIO)
    #expect(kernel.session.droppedReplies == 0)
  }

  @Test func openAnswersCarryTheirFlags() throws {
    let kernel = try FakeKernel(ScriptedOperations())
    try kernel.initialize()
    let plain = try kernel.ask(.open, unique: 4, bytes(UInt64(0)))
    #expect(plain.integer(at: 0, as: UInt64.self) == 5)
    #expect(plain.integer(at: 8, as: UInt32.self) == 1 | 2 | 32)
    #expect(plain.integer(at: 12, as: Int32.self) == 0)
    let backed = try kernel.ask(.open, unique: 6, node: 9, bytes(UInt64(0)))
    #expect(backed.integer(at: 8, as: UInt32.self) == 1 | 32 | 128, "the kernel allows no keepCache with passthrough")
    #expect(backed.integer(at: 12, as: Int32.self) == 3)
  }

  @Test func readsKnowWhetherTheyAreDirectAndAreCutToTheirSize() throws {
    let operations = ScriptedOperations()
    let kernel = try FakeKernel(operations)
    try kernel.initialize()
    let short = try kernel.ask(.read, unique: 4, FakeKernel.readBody(offset: 10, size: 20, lockOwner: 0))
    #expect(short.body.count == 20)
    let long = try kernel.ask(.read, unique: 6, FakeKernel.readBody(offset: 0, size: 4096, lockOwner: 99))
    #expect(long.body.count == 50)
    let reads = operations.seen.withLock { $0.reads }
    #expect(reads.map(\.isDirect) == [false, true])
    #expect(reads.map(\.offset) == [10, 0])
    #expect(reads.map(\.handle.rawValue) == [5, 5])
  }

  @Test func aNegativeOffsetNeverReachesTheFileSystem() throws {
    let operations = ScriptedOperations()
    let kernel = try FakeKernel(operations)
    try kernel.initialize()
    #expect(
      try kernel.ask(.read, unique: 4, FakeKernel.readBody(offset: -1, size: 20, lockOwner: 0)).error == -EINVAL)
    let body = bytes(UInt64(5)) + bytes(Int64.max) + bytes(UInt32(1)) + [UInt8](repeating: 0, count: 20)
    #expect(try kernel.ask(.write, unique: 6, body + [1]).error == -EFBIG)
    #expect(operations.seen.withLock { $0.reads.isEmpty })
  }

  @Test func forgetsComeInBatches() throws {
    let operations = ScriptedOperations()
    let kernel = try FakeKernel(operations, threads: 1)
    try kernel.initialize()
    kernel.send(.forget, unique: 4, node: 7, bytes(UInt64(3)))
    kernel.send(
      .batchForget, unique: 6,
      bytes(UInt32(2)) + bytes(UInt32(0)) + bytes(UInt64(8)) + bytes(UInt64(1)) + bytes(UInt64(9)) + bytes(UInt64(2)))
    _ = try kernel.ask(.lookup, unique: 8, cString("a"))
    let expected = [(7, 3), (8, 1), (9, 2)].map {
      ForgottenNode(node: FuseNode(rawValue: $0.0), lookups: UInt64($0.1))
    }
    #expect(operations.seen.withLock { $0.forgotten } == expected)
    #expect(kernel.session.requestCounts == [.initialize: 1, .forget: 1, .batchForget: 1, .lookup: 1])
  }

  @Test func xattrsAnswerSizesAndValues() throws {
    let kernel = try FakeKernel(ScriptedOperations())
    try kernel.initialize()
    func ask(_ unique: UInt64, room: UInt32) throws -> FakeKernel.Answer {
      try kernel.ask(.getxattr, unique: unique, bytes(room) + bytes(UInt32(0)) + cString("user.a"))
    }
    #expect(try ask(4, room: 0).integer(at: 0, as: UInt32.self) == 5)
    #expect(try ask(6, room: 4).error == -ERANGE)
    #expect(try ask(8, room: 5).body == Array("value".utf8))
  }

  @Test func defaultsAnswerAsTheProtocolWants() throws {
    let kernel = try FakeKernel(DefaultOperations())
    try kernel.initialize()
    let handle = bytes(UInt64(0)) + [UInt8](repeating: 0, count: 56)
    #expect(try kernel.ask(.lookup, unique: 4, cString("a")).error == -ENOENT)
    #expect(try kernel.ask(.open, unique: 6, handle).error == 0)
    #expect(try kernel.ask(.opendir, unique: 8, handle).error == 0)
    #expect(try kernel.ask(.statfs, unique: 10).integer(at: 44, as: UInt32.self) == 255)
    #expect(try kernel.ask(.release, unique: 12, handle).error == 0)
    #expect(try kernel.ask(.flush, unique: 14, handle).error == -ENOSYS)
    #expect(try kernel.ask(.ioctl, unique: 16, handle).error == -ENOTTY)
    #expect(try kernel.ask(.listxattr, unique: 18, handle).error == -ENOSYS)
    #expect(try kernel.ask(.mkdir, unique: 20, bytes(UInt64(0)) + cString("d")).error == -EPERM)
    #expect(try kernel.ask(.poll, unique: 22, handle).error == -ENOSYS)
  }
}
