public import SystemPackage
internal import Synchronization

/// A reply put aside until something happens: a box that escaping closures and tables can hold, and from which exactly
/// one of several rivals (data, fault, timeout, interrupt, shutdown) takes the reply.
///
/// The order that loses no signal: make the box, register it under its token where the interrupt handler's consumer
/// looks, then `setInterruptToken(_:)`.
public final class ParkedReply<Reply: FuseReply & ~Copyable>: Sendable {
  private let reply: Mutex<Reply?>

  public init(_ reply: consuming Reply) {
    self.reply = Mutex(reply)
  }

  /// The reply, for the first who asks; nil for all others. Answer it after this returns, with no lock held.
  public func take() -> Reply? {
    reply.withLock { $0.take() }
  }

  /// Whether nobody has taken the reply yet. True may be outdated when it returns, false never is.
  public var isPending: Bool {
    reply.withLock { $0 != nil }
  }

  /// Takes the reply and fails it.
  ///
  /// - Returns: Whether this call was the one that took it.
  @discardableResult
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
  public func setInterruptToken(_ token: UInt64) -> Bool {
    reply.withLock { reply in
      guard reply != nil else { return false }
      reply?.setInterruptToken(token)
      return true
    }
  }
}
