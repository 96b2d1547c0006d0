public import SystemPackage

/// The answer to ioctl.
public struct IoctlReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with ioctl's return value and the bytes to copy out.
  @discardableResult
  public consuming func result(_ result: Int32, bytes: UnsafeRawBufferPointer) -> Bool {
    pending.send(ioctlResult: result, bytes: bytes)
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
