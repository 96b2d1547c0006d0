/// A point in wall-clock time as `struct timespec` carries it: exact to the nanosecond, before and after 1970.
public struct Timestamp: Sendable, Hashable, Comparable {
  public var seconds: Int64
  /// 0..<1_000_000_000.
  public var nanoseconds: UInt32

  public init(seconds: Int64, nanoseconds: UInt32) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }
}

/// What kind of item a directory entry names. The raw value is the type part of `st_mode` (S_IFMT) shifted right by 12.
public enum ItemKind: UInt8, Sendable, Hashable {
  case fifo = 1
  case characterDevice = 2
  case directory = 4
  case blockDevice = 6
  case file = 8
  case symlink = 10
  case socket = 12
}

/// The metadata of one item as its backing store listed it: what `lstat` says, in full precision.
///
/// What tells items apart is (device, inode, birth); what tells versions of one apart is size, mtime and ctime, see
/// `isSameVersion(as:)`.
public struct ItemAttributes: Sendable, Hashable {
  /// st_dev of the item in the backing store; 0 for computed stores.
  public var device: UInt64
  /// st_ino of the item in the backing store, and on the volume.
  public var inode: UInt64
  /// st_mode in full: type and permissions.
  public var mode: UInt32
  /// st_nlink.
  public var linkCount: UInt32
  public var uid: UInt32
  public var gid: UInt32
  /// st_rdev, for devices.
  public var specialDevice: UInt64
  /// st_size in bytes.
  public var size: Int64
  /// st_blocks in units of 512 bytes, as the backing store reports it.
  public var blocks: Int64
  public var accessTime: Timestamp
  public var modificationTime: Timestamp
  public var changeTime: Timestamp
  /// What tells an item from one that had its inode number before: its time of birth (STATX_BTIME) in nanoseconds since
  /// 1970, modulo 2^64, compared for equality only. 0 where the store does not know it.
  public var birth: UInt64

  public init(
    device: UInt64, inode: UInt64, mode: UInt32, linkCount: UInt32, uid: UInt32, gid: UInt32, specialDevice: UInt64,
    size: Int64, blocks: Int64, accessTime: Timestamp, modificationTime: Timestamp, changeTime: Timestamp,
    birth: UInt64 = 0
  ) {
    self.device = device
    self.inode = inode
    self.mode = mode
    self.linkCount = linkCount
    self.uid = uid
    self.gid = gid
    self.specialDevice = specialDevice
    self.size = size
    self.blocks = blocks
    self.accessTime = accessTime
    self.modificationTime = modificationTime
    self.changeTime = changeTime
    self.birth = birth
  }

  /// The device of items that were made on the volume; no store has it.
  static let madeDevice = UInt64.max

  /// The kind of item, from the type bits of `mode`; an unknown type counts as a FIFO, which nothing ever opens.
  public var kind: ItemKind { ItemKind(rawValue: UInt8((mode >> 12) & 0xf)) ?? .fifo }

  /// Whether other names may lead to the same item (hard links).
  var mayHaveSeveralNames: Bool { linkCount > 1 && kind != .directory }

  /// Nobody's uid and gid: of an item of which nothing is known but its version (chown(2) takes -1 for no change).
  static let unknownOwner = UInt32.max

  /// Whether nothing is known of an item but its version: neither rights nor the number of names, nor st_rdev.
  var isBare: Bool { uid == Self.unknownOwner }

  /// Whether both describe the same bytes of the same file: device, inode, birth, type, size, mtime and ctime agree.
  public func isSameVersion(as other: ItemAttributes) -> Bool {
    device == other.device && inode == other.inode && birth == other.birth && kind == other.kind && size == other.size
      && modificationTime == other.modificationTime && changeTime == other.changeTime
  }
}
