public import SystemPackage

/// The answer to readlink.
public struct LinkReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with the target of a symbolic link, 1 to 4095 bytes without NUL.
  @discardableResult
  public consuming func target(_ bytes: UnsafeRawBufferPointer) -> Bool { pending.send(bytes) }

  /// Answers with the target of a symbolic link, 1 to 4095 bytes without NUL.
  @discardableResult
  public consuming func target(_ bytes: [UInt8]) -> Bool { pending.send(bytes) }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
