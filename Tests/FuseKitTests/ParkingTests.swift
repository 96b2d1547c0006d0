import Glibc
import Synchronization
import SystemPackage
import Testing

@testable import FuseKit

/// Replies that are put aside: who gets them, what a signal does, and how a session ends around them.
struct ParkingTests {
  private static let read = FakeKernel.readBody(offset: 0, size: 100, lockOwner: 1)

  /// Sends reads that will be parked. With one thread, an answered request after them tells that all are.
  private func park(_ count: Int, _ kernel: FakeKernel) throws {
    for index in 0..<count { kernel.send(.read, unique: UInt64(100 + 2 * index), node: 8, Self.read) }
  }

  @Test func exactlyOneRivalTakesAParkedReply() throws {
    let operations = ScriptedOperations()
    let kernel = try FakeKernel(operations, threads: 1)
    try kernel.initialize()
    try park(1, kernel)
    _ = try kernel.ask(.lookup, unique: 4, cString("a"))
    let parked = try #require(operations.seen.withLock { $0.parked.first })
    #expect(parked.isPending)
    #expect(parked.fail(.timedOut))
    #expect(!parked.fail(.ioError))
    #expect(!parked.isPending)
    #expect(!parked.setInterruptToken(1))
    let answer = try kernel.receive()
    #expect(answer.unique == 100)
    #expect(answer.error == -ETIMEDOUT)
  }

  @Test func whileRepliesAreParkedOthersAreServed() throws {
    let operations = ScriptedOperations()
    let kernel = try FakeKernel(operations, threads: 1)
    try kernel.initialize()
    try park(100, kernel)
    #expect(try kernel.ask(.lookup, unique: 4, cString("a")).error == 0)
    let parked = operations.seen.withLock { $0.parked }
    #expect(parked.count == 100)
    for reply in parked { reply.fail(.interrupted) }
    for _ in parked { #expect(try kernel.receive().error == -EINTR) }
    #expect(kernel.session.droppedReplies == 0)
  }

  @Test func anInterruptCallsTheHandlerWithTheToken() throws {
    let tokens = Mutex<[UInt64]>([])
    let operations = ScriptedOperations { $0.setInterruptToken(0xABCD_EF01_2345) }
    let kernel = try FakeKernel(operations, threads: 1) { token in tokens.withLock { $0.append(token) } }
    try kernel.initialize()
    try park(1, kernel)
    kernel.send(.interrupt, unique: 101, bytes(UInt64(100)))
    _ = try kernel.ask(.lookup, unique: 4, cString("a"))
    #expect(tokens.withLock { $0 } == [0xABCD_EF01_2345])
    operations.seen.withLock { $0.parked.first }?.fail(.interrupted)
    #expect(try kernel.receive().error == -EINTR)
  }

  /// The kernel may announce the signal before the daemon has read the request: the token is then answered at once.
  @Test func anInterruptThatComesFirstIsNotLost() throws {
    let tokens = Mutex<[UInt64]>([])
    let interrupted = Mutex<[Bool]>([])
    let operations = ScriptedOperations { parked in
      parked.setInterruptToken(5)
      guard let reply = parked.take() else { return }
      let isInterrupted = reply.isInterrupted
      interrupted.withLock { $0.append(isInterrupted) }
      reply.fail(.interrupted)
    }
    let kernel = try FakeKernel(operations, threads: 1) { token in tokens.withLock { $0.append(token) } }
    try kernel.initialize()
    kernel.send(.interrupt, unique: 101, bytes(UInt64(100)))
    try park(1, kernel)
    #expect(try kernel.receive().error == -EINTR)
    #expect(tokens.withLock { $0 } == [5])
    #expect(interrupted.withLock { $0 } == [true])
  }

  @Test func anInterruptOfAnAnsweredRequestIsIgnored() throws {
    let tokens = Mutex<[UInt64]>([])
    let operations = ScriptedOperations { parked in
      parked.setInterruptToken(5)
      parked.fail(.ioError)
    }
    let kernel = try FakeKernel(operations, threads: 1) { token in tokens.withLock { $0.append(token) } }
    try kernel.initialize()
    try park(1, kernel)
    #expect(try kernel.receive().error == -EIO)
    kernel.send(.interrupt, unique: 101, bytes(UInt64(100)))
    // libfuse keeps it and asks the kernel, with EAGAIN, to send it again if it still means it.
    let answers = [try kernel.ask(.lookup, unique: 4, cString("a")), try kernel.receive()]
    #expect(Set(answers.map(\.unique)) == [4, 101])
    #expect(answers.first { $0.unique == 101 }?.error == -EAGAIN)
    #expect(tokens.withLock { $0.isEmpty })
  }

  @Test(arguments: [1, 4, 16])
  func theLoopEndsWhileRepliesAreParked(threads: Int) throws {
    let operations = ScriptedOperations()
    let ended = Mutex(0)
    let kernel = try FakeKernel(operations, threads: threads, onLoopEnd: { ended.withLock { $0 += 1 } })
    try kernel.initialize()
    try park(200, kernel)
    #expect(try kernel.ask(.lookup, unique: 4, cString("a")).error == 0)
    kernel.session.beginExit()
    #expect(kernel.session.joinLoop(timeout: .seconds(10)))
    #expect(ended.withLock { $0 } == 1)
    #expect(kernel.session.joinLoop(timeout: .zero), "may be repeated")
    let device = kernel.session.device
    kernel.session.closeDevice()
    kernel.session.closeDevice()
    #expect(operations.seen.withLock { $0.destroyed } == 1)
    #expect(fcntl(device, F_GETFD) == FD_CLOEXEC, "the number stays taken, so that no other file gets late answers")
    let parked = operations.seen.withLock { $0.parked }
    for reply in parked { #expect(reply.fail(.timedOut)) }
    #expect(kernel.session.refusedReplies >= UInt64(parked.count))
  }

  @Test func anUnmountFromOutsideEndsTheLoop() throws {
    let ended = Mutex(0)
    let kernel = try FakeKernel(ScriptedOperations(), onLoopEnd: { ended.withLock { $0 += 1 } })
    try kernel.initialize()
    kernel.hangUp()
    #expect(kernel.session.joinLoop(timeout: .seconds(10)))
    #expect(ended.withLock { $0 } == 1)
  }

  @Test func waitingForAVolumeThatNeverAnswersEnds() throws {
    let kernel = try FakeKernel(ScriptedOperations())
    #expect(kernel.session.waitUntilReady(timeout: .milliseconds(1)) == nil)
    kernel.hangUp()
    #expect(kernel.session.waitUntilReady(timeout: .seconds(10)) == nil)
  }
}
