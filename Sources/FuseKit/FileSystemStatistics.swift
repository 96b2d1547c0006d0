/// What statfs(2) shows. C: `struct statvfs`.
public struct FileSystemStatistics: Sendable, Hashable {
  /// f_bsize and f_frsize in bytes.
  public var blockSize: UInt32
  /// In units of `blockSize`.
  public var blocks: UInt64
  public var freeBlocks: UInt64
  public var availableBlocks: UInt64
  public var files: UInt64
  public var freeFiles: UInt64
  /// Longest name in bytes.
  public var nameLengthMax: UInt32

  public init(
    blockSize: UInt32 = 4096, blocks: UInt64 = 0, freeBlocks: UInt64 = 0, availableBlocks: UInt64 = 0,
    files: UInt64 = 0, freeFiles: UInt64 = 0, nameLengthMax: UInt32 = 255
  ) {
    self.blockSize = blockSize
    self.blocks = blocks
    self.freeBlocks = freeBlocks
    self.availableBlocks = availableBlocks
    self.files = files
    self.freeFiles = freeFiles
    self.nameLengthMax = nameLengthMax
  }
}
