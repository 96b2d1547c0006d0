internal import CFuse3
public import SystemPackage

/// The answer to lseek for data or holes.
public struct SeekReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with the offset found, 0 or more. There is none: fail with ENXIO.
  @discardableResult
  public consuming func offset(_ offset: Int64) -> Bool {
    var answer = fuse_lseek_out()
    answer.offset = UInt64(bitPattern: offset)
    return pending.send(structure: answer)
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
