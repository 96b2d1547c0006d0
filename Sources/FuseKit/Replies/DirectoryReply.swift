public import SystemPackage

/// The answer to readdir and readdirplus: a part of a listing.
public struct DirectoryReply: FuseReply, ~Copyable {
  let pending: PendingRequest
  /// The most bytes the kernel takes.
  public let size: Int
  /// Whether entries with attributes are wanted (readdirplus).
  public let isPlus: Bool

  init(_ pending: consuming PendingRequest, size: Int, isPlus: Bool) {
    self.pending = pending
    self.size = size
    self.isPlus = isPlus
  }

  /// A buffer of exactly the size and form the kernel asked for.
  public borrowing func makeBuffer() -> DirectoryBuffer { DirectoryBuffer(capacity: size, isPlus: isPlus) }

  /// Answers with the entries in `buffer`; an empty one means the end of the directory.
  ///
  /// - Returns: Whether the kernel took the answer; if not, the lookups of a readdirplus are not held.
  public consuming func listing(_ buffer: borrowing DirectoryBuffer) -> Bool { pending.send(buffer.bytes) }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
