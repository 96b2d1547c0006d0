internal import CFuse3
internal import Glibc
internal import SystemPackage

/// One request that the kernel waits to have answered: the core of every reply type.
///
/// Exactly one owner exists, and every way out of ownership answers: a consuming method, or the deinitializer with EIO.
struct PendingRequest: ~Copyable, Sendable {
  // SAFETY: libfuse lets any thread answer a request. The pointer is valid until the answer, and since this value is
  // noncopyable and every answering method consumes it, nothing can use it afterwards.
  private nonisolated(unsafe) let raw: fuse_req_t

  init(_ raw: fuse_req_t) { self.raw = raw }

  /// Answers with an error. Values outside 1...511 are no errnos to the kernel, which would reject the whole answer and
  /// leave the caller waiting; they become EIO.
  consuming func fail(_ errno: Errno) -> Bool {
    let code = (1..<512).contains(errno.rawValue) ? errno.rawValue : EIO
    let session = fuse_req_userdata(raw)
    let result = fuse_reply_err(raw, code)
    discard self
    return Self.isTaken(result, session)
  }

  /// Answers with success and nothing more.
  consuming func succeed() -> Bool {
    let session = fuse_req_userdata(raw)
    let result = fuse_reply_err(raw, 0)
    discard self
    return Self.isTaken(result, session)
  }

  /// Answers with bytes, which are copied by the kernel before this returns.
  consuming func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    let session = fuse_req_userdata(raw)
    let result = fuse_reply_buf(raw, base, base == nil ? 0 : bytes.count)
    discard self
    return Self.isTaken(result, session)
  }

  /// Answers with the bytes of an array.
  consuming func send(_ bytes: [UInt8]) -> Bool {
    let session = fuse_req_userdata(raw)
    let result = bytes.withUnsafeBytes { bytes in
      fuse_reply_buf(raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    discard self
    return Self.isTaken(result, session)
  }

  /// Answers with one structure of the protocol.
  consuming func send<Structure: BitwiseCopyable>(structure: Structure) -> Bool {
    let session = fuse_req_userdata(raw)
    let result = withUnsafeBytes(of: structure) { bytes in
      fuse_reply_buf(raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    discard self
    return Self.isTaken(result, session)
  }

  /// Answers with the concatenation of several buffers.
  consuming func send(parts: [UnsafeRawBufferPointer]) -> Bool {
    let vectors = parts.map {
      iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
    }
    let session = fuse_req_userdata(raw)
    let result = fuse_reply_iov(raw, vectors, Int32(clamping: vectors.count))
    discard self
    return Self.isTaken(result, session)
  }

  /// Answers a request of an xattr's size.
  consuming func send(xattrSize: Int) -> Bool {
    let session = fuse_req_userdata(raw)
    let result = fuse_reply_xattr(raw, xattrSize)
    discard self
    return Self.isTaken(result, session)
  }

  /// Answers an ioctl.
  consuming func send(ioctlResult: Int32, bytes: UnsafeRawBufferPointer) -> Bool {
    let session = fuse_req_userdata(raw)
    let result = fuse_reply_ioctl(raw, ioctlResult, bytes.baseAddress, bytes.count)
    discard self
    return Self.isTaken(result, session)
  }

  /// Whether the kernel took an answer. - Parameter session: Of the request, which is gone by now.
  @inline(__always)
  private static func isTaken(_ result: Int32, _ session: UnsafeMutableRawPointer?) -> Bool {
    if result != 0 { Dispatcher.from(session).noteReply(result) }
    return result == 0
  }

  /// See `FuseReply.setInterruptToken(_:)`.
  borrowing func setInterruptToken(_ token: UInt64) {
    fuse_req_interrupt_func(raw, fuseInterrupted, UnsafeMutableRawPointer(bitPattern: UInt(token)))
  }

  borrowing func clearInterruptToken() {
    fuse_req_interrupt_func(raw, nil, nil)
  }

  /// See `FuseReply.isInterrupted`.
  var isInterrupted: Bool { fuse_req_interrupted(raw) != 0 }

  deinit {
    Dispatcher.of(raw).counters.add(.droppedReplies)
    _ = fuse_reply_err(raw, EIO)
  }
}
