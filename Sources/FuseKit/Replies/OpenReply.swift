internal import CFuse3
public import SystemPackage

/// The answer to open and opendir.
public struct OpenReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with an open handle.
  ///
  /// - Parameters:
  ///   - handle: Comes back with every request of this open, at last with release or releasedir.
  ///   - options: See `OpenOptions`. Every open of a file should carry `.keepCache`.
  ///   - backing: Serve reads, writes and mappings from this file without asking; needs
  ///     `NegotiatedFeatures.passthrough`. All passthrough opens of a node must name the same backing file, and none
  ///     may coexist with a cached open: the caller then gets EIO. Options the kernel does not allow beside it, such as
  ///     `.keepCache`, are left out by this method.
  /// - Returns: Whether the kernel took the answer; if not, no release will come.
  public consuming func opened(_ handle: FuseHandle, options: OpenOptions, backing: BackingID? = nil) -> Bool {
    pending.send(structure: cfuse_open_out(handle: handle, options: options, backing: backing))
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
