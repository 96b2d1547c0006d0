internal import CFuse3
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// The descriptor to which libfuse writes.
///
/// Until INIT is answered it is one end of a socket: the session takes libfuse's reply from the other end, completes it
/// (`InitNegotiation`) and gives it to the kernel. From then on the same number is the device itself, so that an answer
/// costs one writev(2).
///
/// Not by `fuse_session_custom_io`, which does the same in libfuse 3.14: since 3.18 a library may be built without it,
/// and Debian's is. The number is handed over as the mountpoint `/dev/fd/N`, which all of libfuse 3 takes for a
/// descriptor that somebody else has mounted.
final class ReplyChannel: Sendable {
  /// libfuse's end. Its number stays taken until the process ends.
  let descriptor: Int32
  /// The session's end; -1 once the channel is the device.
  private let own: Mutex<Int32>

  /// - Throws: EMFILE or ENFILE without a descriptor to be had.
  init() throws(Errno) {
    var ends: [Int32] = [-1, -1]
    // A message is a reply: the boundaries must stay.
    let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Errno(rawValue: errno) }
    descriptor = ends[0]
    own = Mutex(ends[1])
  }

  deinit {
    let own = own.withLock { $0 }
    if own >= 0 { close(own) }
  }

  /// Hands what libfuse has written so far to `body`, message by message; nothing once the channel is the device.
  func drain(_ body: (UnsafeMutableRawBufferPointer) -> Void) {
    // Longer than any reply to INIT, and than the errors that can come before it.
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: MemoryLayout<UInt64>.alignment) { buffer in
      while true {
        let end = own.withLock { $0 }
        guard end >= 0, let base = buffer.baseAddress else { return }
        let count = read(end, base, buffer.count)
        guard count > 0 else { return }
        body(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
      }
    }
  }

  /// From now on libfuse writes to `device`.
  func open(to device: Int32) {
    own.withLock { end in
      guard end >= 0 else { return }
      _ = cfuse_replace_descriptor(device, descriptor)
      close(end)
      end = -1
    }
  }

  /// From now on what libfuse writes fails with EBADF.
  ///
  /// - Parameter placeholder: A descriptor that cannot be written to.
  func shut(_ placeholder: Int32) { _ = cfuse_replace_descriptor(placeholder, descriptor) }
}
