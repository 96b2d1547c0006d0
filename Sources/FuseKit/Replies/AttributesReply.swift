internal import CFuse3
public import SystemPackage

/// The answer to getattr and setattr.
public struct AttributesReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with attributes.
  ///
  /// - Parameter timeout: How long they may be shown without asking again.
  @discardableResult
  public consuming func attributes(_ attributes: borrowing FuseAttributes, timeout: CacheTimeout) -> Bool {
    pending.send(structure: fuse_attr_out(attributes, timeout: timeout))
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
