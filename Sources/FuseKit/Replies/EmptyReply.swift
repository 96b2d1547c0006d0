public import SystemPackage

/// The answer to requests that return nothing: unlink, rmdir, rename, flush, release, fsync, access, ...
public struct EmptyReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with success.
  @discardableResult
  public consuming func succeed() -> Bool { pending.succeed() }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
