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

/// The answer to getattr and setattr.
public struct AttributesReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with attributes.
  ///
  /// - Parameter timeout: How long they may be shown without asking again.
  @discardableResult
  public consuming func attributes(_ attributes: borrowing FuseAttributes, timeout: CacheTimeout) -> Bool {
    pending.send(structure: fuse_attr_out(attributes, timeout: timeout))
  }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}

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

/// The answer to requests that return nothing: unlink, rmdir, rename, flush, release, fsync, access, ...
public struct EmptyReply: FuseReply, ~Copyable {
  let pending: PendingRequest

  init(_ pending: consuming PendingRequest) { self.pending = pending }

  /// Answers with success.
  @discardableResult
  public consuming func succeed() -> Bool { pending.succeed() }

  @discardableResult
  public consuming func fail(_ errno: Errno) -> Bool { pending.fail(errno) }

  public borrowing func setInterruptToken(_ token: UInt64) { pending.setInterruptToken(token) }

  public borrowing func clearInterruptToken() { pending.clearInterruptToken() }

  public var isInterrupted: Bool { pending.isInterrupted }
}
