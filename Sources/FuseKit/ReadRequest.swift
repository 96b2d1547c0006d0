/// What a READ asks for.
public struct ReadRequest: Sendable, Hashable {
  public let handle: FuseHandle
  /// First byte, 0 or more. For reads of the page cache a multiple of the page size chosen by the kernel.
  public let offset: Int64
  /// How many bytes at most.
  public let size: Int
  /// The open flags of the handle (O_RDONLY, O_DIRECT, ...).
  public let openFlags: Int32
  /// The caller's lock owner, scrambled by the kernel; 0 for reads that fill the page cache.
  public let lockOwner: UInt64

  public init(handle: FuseHandle, offset: Int64, size: Int, openFlags: Int32, lockOwner: UInt64) {
    self.handle = handle
    self.offset = offset
    self.size = size
    self.openFlags = openFlags
    self.lockOwner = lockOwner
  }

  /// Whether this is one read(2) of a direct_io open, with the caller's own offset and length. False for a read that
  /// fills the page cache: readahead, page fault of a mapping or of exec, sendfile, splice, fadvise.
  ///
  /// The kernel sends the lock owner (FUSE_READ_LOCKOWNER) with direct reads only.
  public var isDirect: Bool { lockOwner != 0 }
}
