internal import CFuse3
public import SystemPackage

/// The answer to statfs.
public struct StatisticsReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with the size and use of the file system.
  @discardableResult
  public consuming func statistics(_ statistics: borrowing FileSystemStatistics) -> Bool {
    var answer = fuse_statfs_out()
    answer.st.bsize = statistics.blockSize
    answer.st.frsize = statistics.blockSize
    answer.st.blocks = statistics.blocks
    answer.st.bfree = statistics.freeBlocks
    answer.st.bavail = statistics.availableBlocks
    answer.st.files = statistics.files
    answer.st.ffree = statistics.freeFiles
    answer.st.namelen = statistics.nameLengthMax
    return pending.send(structure: answer)
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
