internal import CFuse3
internal import Glibc
public import Synchronization
public import SystemPackage

/// The obligation to answer one request exactly once.
///
/// A reply is consumed by answering; one that goes out of scope unanswered answers EIO and is counted as dropped,
/// because an unanswered request leaves its caller asleep, unkillable once a signal has come. Answer from any thread,
/// with no lock held.
///
/// Answering methods return whether the kernel took the answer. False is normal: the caller was killed and the request
/// aborted (ENOENT), or the volume is gone. It is counted, never logged, and matters where an answer hands something to
/// the kernel: a lookup count (lookup, create, mkdir, readdirplus) or an open handle then was *not* handed over.
public protocol FuseReply: ~Copyable, Sendable {
  /// Answers with an errno. Anything that is not one (0, or beyond 511) becomes EIO.
  @discardableResult
  consuming func fail(_ errno: Errno) -> Bool

  /// Has the session's interrupt handler called with `token` when a signal reaches the waiting caller.
  ///
  /// The kernel announces one signal per request and never a second one. The handler may run inside this very call, if
  /// the signal came first, or on another thread from now until the reply is consumed, and once more concurrently with
  /// the consuming. It runs with the request's own mutex held: it must not answer any request, and must not take a
  /// lock that any thread holds while calling this or answering. Handing the token to a queue is all it should do.
  /// So: make the token known to that queue's consumer first, then set it, then park the reply (see `ParkedReply`).
  ///
  /// - Parameter token: Any number; the same is passed to the handler. Never an address to be dereferenced.
  borrowing func setInterruptToken(_ token: UInt64)

  /// Forgets the token: after this returns the handler will not be called for this request.
  borrowing func clearInterruptToken()

  /// Whether a signal for the waiting caller has been announced already.
  var isInterrupted: Bool { get }
}

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

/// A reply put aside until something happens: a box that escaping closures and tables can hold, and from which exactly
/// one of several rivals (data, fault, timeout, interrupt, shutdown) takes the reply.
///
/// The order that loses no signal: make the box, register it under its token where the interrupt handler's consumer
/// looks, then `setInterruptToken(_:)`.
///
/// Inlinable, so that whoever parks a reply gets code for its own kind of reply: each use of another module's generic
/// code looks its types up, which takes longer than what is done here.
public final class ParkedReply<Reply: FuseReply & ~Copyable>: Sendable {
  // Beside the reply, not around it: a lock around a generic type is one more type to be looked up.
  @usableFromInline let lock = Mutex(())
  // SAFETY: touched under `lock` alone, but by `init` and `deinit`.
  @usableFromInline nonisolated(unsafe) var reply: Reply?

  @inlinable
  public init(_ reply: consuming Reply) {
    self.reply = consume reply
  }

  /// The reply, for the first who asks; nil for all others. Answer it after this returns, with no lock held.
  @inlinable
  public func take() -> Reply? {
    lock.withLock { _ in reply.take() }
  }

  /// Whether nobody has taken the reply yet. True may be outdated when it returns, false never is.
  public var isPending: Bool {
    lock.withLock { _ in reply != nil }
  }

  /// Takes the reply and fails it.
  ///
  /// - Returns: Whether this call was the one that took it.
  @discardableResult
  @inlinable
  public func fail(_ errno: Errno) -> Bool {
    guard let reply = take() else { return false }
    reply.fail(errno)
    return true
  }

  /// Sets the interrupt token of the reply if it has not been taken.
  ///
  /// Safe against a rival that takes and answers meanwhile: the rival waits for this call. The handler may run inside
  /// it, with this box' lock held, and so must not touch the box; see `FuseReply.setInterruptToken(_:)`.
  ///
  /// - Returns: Whether the reply was still here.
  @discardableResult
  @inlinable
  public func setInterruptToken(_ token: UInt64) -> Bool {
    lock.withLock { _ in
      guard reply != nil else { return false }
      reply?.setInterruptToken(token)
      return true
    }
  }
}
