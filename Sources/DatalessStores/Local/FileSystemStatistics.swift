/// What statvfs(3) says about the file system of a backing store.
public struct FileSystemStatistics: Sendable, Hashable {
  /// f_bsize: preferred transfer size in bytes.
  public var blockSize: UInt64
  /// f_frsize: the unit of the three block counts, in bytes.
  public var fragmentSize: UInt64
  public var blocks: UInt64
  public var freeBlocks: UInt64
  /// f_bavail: free blocks for ordinary users.
  public var availableBlocks: UInt64
  /// Inodes in all; 0 where the file system does not count them.
  public var files: UInt64
  public var freeFiles: UInt64
  /// f_namemax: longest name in bytes.
  public var nameMax: UInt64

  public init(
    blockSize: UInt64, fragmentSize: UInt64, blocks: UInt64, freeBlocks: UInt64, availableBlocks: UInt64,
    files: UInt64, freeFiles: UInt64, nameMax: UInt64
  ) {
    self.blockSize = blockSize
    self.fragmentSize = fragmentSize
    self.blocks = blocks
    self.freeBlocks = freeBlocks
    self.availableBlocks = availableBlocks
    self.files = files
    self.freeFiles = freeFiles
    self.nameMax = nameMax
  }
}
