internal import CFuse3
public import SystemPackage

/// The answer to lookup, mknod, mkdir, symlink and link.
public struct EntryReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with a node. The kernel then holds one lookup more of it.
  ///
  /// - Returns: Whether the kernel took the answer; if not, the lookup is not held.
  public consuming func entry(_ entry: borrowing FuseEntry) -> Bool {
    pending.send(structure: fuse_entry_out(entry))
  }

  /// Answers a lookup with "no such name" in a way the kernel may remember.
  ///
  /// - Parameter timeout: How long the name may be taken for absent without a lookup. For `.none`, fail with ENOENT.
  @discardableResult
  public consuming func absent(timeout: CacheTimeout) -> Bool {
    var answer = fuse_entry_out()
    answer.entry_valid = timeout.seconds
    answer.entry_valid_nsec = timeout.nanoseconds
    return pending.send(structure: answer)
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
