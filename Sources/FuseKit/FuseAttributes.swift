/// What stat(2) shows of one inode. C: `struct fuse_attr`.
public struct FuseAttributes: Sendable, Hashable {
  /// st_ino as callers see it; independent of the node id.
  public var inode: UInt64
  /// st_size in bytes.
  public var size: UInt64
  /// st_blocks in units of 512 bytes.
  public var blocks: UInt64
  public var accessTime: FuseTime
  public var modificationTime: FuseTime
  public var changeTime: FuseTime
  /// st_mode in full: type and permissions.
  public var mode: UInt32
  public var linkCount: UInt32
  public var uid: UInt32
  public var gid: UInt32
  /// st_rdev. The protocol carries 12 bits of major and 20 bits of minor number; higher bits are lost.
  public var specialDevice: UInt64
  /// st_blksize in bytes.
  public var blockSize: UInt32

  public init(
    inode: UInt64, size: UInt64 = 0, blocks: UInt64 = 0, accessTime: FuseTime = FuseTime(seconds: 0, nanoseconds: 0),
    modificationTime: FuseTime = FuseTime(seconds: 0, nanoseconds: 0),
    changeTime: FuseTime = FuseTime(seconds: 0, nanoseconds: 0), mode: UInt32, linkCount: UInt32 = 1, uid: UInt32 = 0,
    gid: UInt32 = 0, specialDevice: UInt64 = 0, blockSize: UInt32 = 4096
  ) {
    self.inode = inode
    self.size = size
    self.blocks = blocks
    self.accessTime = accessTime
    self.modificationTime = modificationTime
    self.changeTime = changeTime
    self.mode = mode
    self.linkCount = linkCount
    self.uid = uid
    self.gid = gid
    self.specialDevice = specialDevice
    self.blockSize = blockSize
  }
}
