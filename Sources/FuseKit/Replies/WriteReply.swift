internal import CFuse3
public import SystemPackage

/// The answer to write and copy_file_range.
public struct WriteReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with the number of bytes that were written, in all requests but the last of a file equal to those asked.
  @discardableResult
  public consuming func written(_ count: Int) -> Bool {
    var answer = fuse_write_out()
    answer.size = UInt32(clamping: count)
    return pending.send(structure: answer)
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
