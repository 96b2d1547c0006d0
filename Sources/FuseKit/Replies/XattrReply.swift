public import SystemPackage

/// The answer to getxattr and listxattr.
public struct XattrReply: FuseReply, ~Copyable {
  let pending: PendingRequest
  /// Room for the answer in bytes; 0 asks only how much is needed.
  public let size: Int

  init(_ pending: consuming PendingRequest, size: Int) {
    self.pending = pending
    self.size = size
  }

  /// Answers with a value or a list of NUL-terminated names: with its size if the caller asked for that (`size` 0),
  /// with ERANGE if it does not fit.
  @discardableResult
  public consuming func value(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if size == 0 { return pending.send(xattrSize: bytes.count) }
    return bytes.count <= size ? pending.send(bytes) : pending.fail(.outOfRange)
  }

  /// Answers as `value(_:)` with a pointer does.
  @discardableResult
  public consuming func value(_ bytes: [UInt8]) -> Bool {
    if size == 0 { return pending.send(xattrSize: bytes.count) }
    return bytes.count <= size ? pending.send(bytes) : pending.fail(.outOfRange)
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
