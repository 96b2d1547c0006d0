import Glibc

@testable import FuseKit

/// The kernel's side of a session without a kernel: one end of a socket pair that keeps message boundaries, the other
/// end of which the session takes for /dev/fuse. Requests are written as raw bytes, answers read as raw bytes.
final class FakeKernel: Sendable {
  /// An answer or a notification as it came.
  struct Answer {
    let error: Int32
    let unique: UInt64
    let body: [UInt8]

    func integer<T: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: T.Type) -> T {
      body.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
  }

  let session: FuseSession
  private let end: Int32

  init(
    _ operations: any FuseOperations, options: FuseSessionOptions = FuseSessionOptions(source: [], subtype: "test"),
    threads: Int = 2, onInterrupt: @escaping @Sendable (UInt64) -> Void = { _ in },
    onLoopEnd: @escaping @Sendable () -> Void = {}
  ) throws {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw Failure.noSocket
    }
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    end = ends[0]
    session = try FuseSession(
      operations: operations, options: options, onInterrupt: onInterrupt, onLoopEnd: onLoopEnd)
    try session.attach(device: ends[1])
    try session.startLoop(threads: threads)
  }

  enum Failure: Error { case noSocket, noAnswer }

  deinit {
    shutdown(end, Int32(SHUT_RDWR))
    close(end)
    session.beginExit()
    _ = session.joinLoop(timeout: .seconds(10))
    session.closeDevice()
  }

  /// Closes the kernel's end, as an unmount does.
  func hangUp() { shutdown(end, Int32(SHUT_RDWR)) }

  /// Sends one request: header and body.
  func send(_ kind: FuseRequestKind, unique: UInt64, node: UInt64 = 1, tid: UInt32 = 77, _ body: [UInt8] = []) {
    let header =
      bytes(UInt32(40 + body.count)) + bytes(kind.rawValue) + bytes(unique) + bytes(node) + bytes(UInt32(10))
      + bytes(UInt32(20)) + bytes(tid) + bytes(UInt32(0))
    let message = header + body
    _ = message.withUnsafeBytes { write(end, $0.baseAddress, $0.count) }
  }

  /// Receives one answer; fails after ten seconds without one.
  func receive() throws -> Answer {
    var buffer = [UInt8](repeating: 0, count: 1 << 17)
    let count = read(end, &buffer, buffer.count)
    guard count >= 16 else { throw Failure.noAnswer }
    let message = Array(buffer[..<count])
    return message.withUnsafeBytes {
      Answer(
        error: $0.loadUnaligned(fromByteOffset: 4, as: Int32.self),
        unique: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self), body: Array(message[16...]))
    }
  }

  /// Sends a request and receives its answer.
  func ask(_ kind: FuseRequestKind, unique: UInt64, node: UInt64 = 1, _ body: [UInt8] = []) throws -> Answer {
    send(kind, unique: unique, node: node, body)
    return try receive()
  }

  /// Does the INIT exchange and returns its answer.
  @discardableResult
  func initialize(minor: UInt32 = 45, flags: UInt64 = FakeKernel.everyFlag) throws -> Answer {
    try ask(.initialize, unique: 2, Self.initBody(minor: minor, flags: flags))
  }

  static let everyFlag = UInt64.max

  static func initBody(minor: UInt32, flags: UInt64) -> [UInt8] {
    bytes(UInt32(7)) + bytes(minor) + bytes(UInt32(131_072)) + bytes(UInt32(truncatingIfNeeded: flags))
      + bytes(UInt32(truncatingIfNeeded: flags >> 32)) + [UInt8](repeating: 0, count: 44)
  }

  /// The body of a READ.
  static func readBody(offset: Int64, size: UInt32, lockOwner: UInt64, handle: UInt64 = 5) -> [UInt8] {
    bytes(handle) + bytes(offset) + bytes(size) + bytes(UInt32(lockOwner == 0 ? 0 : 2)) + bytes(lockOwner)
      + bytes(UInt32(0)) + bytes(UInt32(0))
  }
}

/// An integer as it lies in memory.
func bytes<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) -> [UInt8] {
  withUnsafeBytes(of: value) { Array($0) }
}

/// A name as requests carry it.
func cString(_ name: String) -> [UInt8] { Array(name.utf8) + [0] }
