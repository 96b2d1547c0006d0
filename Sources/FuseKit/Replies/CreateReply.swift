internal import CFuse3
public import SystemPackage

/// The answer to create: a new node and its first open handle.
public struct CreateReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with the new node, of which the kernel then holds one lookup, and an open handle of it.
  ///
  /// - Returns: Whether the kernel took the answer; if not, neither the lookup is held nor a release will come.
  public consuming func created(
    _ entry: borrowing FuseEntry, handle: FuseHandle, options: OpenOptions, backing: BackingID? = nil
  ) -> Bool {
    pending.send(
      structure: CreateAnswer(
        entry: fuse_entry_out(entry), open: cfuse_open_out(handle: handle, options: options, backing: backing)))
  }

  /// fuse_entry_out followed by fuse_open_out, 144 bytes.
  private struct CreateAnswer: BitwiseCopyable {
    let entry: fuse_entry_out
    let open: cfuse_open_out
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
