/// The number by which the kernel names an inode of a volume in every request; chosen by the file system.
///
/// Not st_ino: a node id lives from the reply that introduces it until its lookups are forgotten. C: `fuse_ino_t`.
public struct FuseNode: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
  public let rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The root directory, which the kernel knows without a lookup and never forgets. C: `FUSE_ROOT_ID`.
  public static let root = FuseNode(rawValue: 1)

  public var description: String { "node \(rawValue)" }
}

/// The number of one open file or directory, chosen by the file system in its open answer and handed back with every
/// request made through that open. C: `fuse_file_info.fh`.
public struct FuseHandle: Sendable, Hashable, RawRepresentable {
  public let rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// One file name, xattr name or symlink target of a request: borrowed bytes, never a String.
///
/// Valid only during the call it is passed to; copy it with `copy()` to keep it. Names are 1 to 255 bytes without `/`
/// and NUL, of any encoding; symlink targets may be longer and contain `/`.
public struct FuseName {
  /// The bytes without the terminating NUL.
  public let bytes: UnsafeBufferPointer<UInt8>

  /// Wraps borrowed bytes; the caller keeps them alive as long as the name is used.
  public init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  public var count: Int { bytes.count }

  /// The bytes as an array of their own.
  public func copy() -> [UInt8] { [UInt8](bytes) }

  /// Whether the name has exactly the UTF-8 bytes of `text`.
  public func equals(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { bytes.elementsEqual($0) }
  }
}

// SAFETY: A borrowed pointer must not be sent to another thread that outlives the call.
@available(*, unavailable)
extension FuseName: Sendable {}

/// A point in wall-clock time as the protocol carries it. C: `struct timespec`.
public struct FuseTime: Sendable, Hashable {
  /// Seconds since 1970, negative before.
  public var seconds: Int64
  /// 0..<1_000_000_000.
  public var nanoseconds: UInt32

  public init(seconds: Int64, nanoseconds: UInt32) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}

/// How long the kernel may use a name or attributes without asking again.
public struct CacheTimeout: Sendable, Hashable {
  public var seconds: UInt64
  /// 0..<1_000_000_000.
  public var nanoseconds: UInt32

  public init(seconds: UInt64, nanoseconds: UInt32 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// Rounds towards zero; a negative duration is `none`.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else {
      self = .none
      return
    }
    self.init(seconds: UInt64(seconds), nanoseconds: UInt32(attoseconds / 1_000_000_000))
  }

  /// Ask again at every use.
  public static let none = CacheTimeout(seconds: 0)

  /// Until invalidated. 136 years: the kernel converts to jiffies, and the largest 64-bit value would wrap.
  public static let forever = CacheTimeout(seconds: UInt64(UInt32.max))
}

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

/// A name's answer: the node it leads to, with attributes, and how long the kernel may rely on both.
///
/// C: `struct fuse_entry_param`.
public struct FuseEntry: Sendable, Hashable {
  public var node: FuseNode
  /// Distinguishes two lives of a reused node id; (node, generation) must be unique while mounted. 0 if never reused.
  public var generation: UInt64
  public var attributes: FuseAttributes
  /// How long the name may be resolved without a lookup.
  public var entryTimeout: CacheTimeout
  /// How long the attributes may be shown without a getattr.
  public var attributeTimeout: CacheTimeout

  public init(
    node: FuseNode, generation: UInt64 = 0, attributes: FuseAttributes, entryTimeout: CacheTimeout,
    attributeTimeout: CacheTimeout
  ) {
    self.node = node
    self.generation = generation
    self.attributes = attributes
    self.entryTimeout = entryTimeout
    self.attributeTimeout = attributeTimeout
  }
}

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

/// Lookups of one node that the kernel gives back. C: `struct fuse_forget_data`, whose layout it has.
public struct ForgottenNode: Sendable, Hashable {
  public let node: FuseNode
  /// How many earlier answers (lookup, create, mkdir, readdirplus, ...) are given back, at least 1.
  public let lookups: UInt64

  public init(node: FuseNode, lookups: UInt64) {
    self.node = node
    self.lookups = lookups
  }
}

/// A file registered with the kernel as the backing of passthrough opens, valid for one session.
public struct BackingID: Sendable, Hashable, RawRepresentable {
  /// Greater than zero.
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }
}
