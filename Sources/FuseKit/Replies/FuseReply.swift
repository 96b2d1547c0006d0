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
