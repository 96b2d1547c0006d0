internal import CFuse3
internal import Glibc

/// Who made a request. C: `struct fuse_ctx`.
public struct RequestContext: Sendable, Hashable {
  /// The calling *thread's* id, in the mounting process' pid namespace; 0 if the caller lives in one we cannot see, or
  /// the kernel itself asks (writeback, some readahead).
  public let threadID: Int32
  /// File system uid and gid of the caller, in the user namespace of the mount.
  public let uid: UInt32
  public let gid: UInt32
  /// The caller's umask; meaningful for create, tmpfile, mkdir and mknod only. Where modes come unmasked
  /// (`NegotiatedFeatures.unmaskedModes`) it must be applied by the file system when the parent has no default ACL.
  public let umask: UInt32
  /// What is opened (with O_TRUNC) or written loses its set-user-id bit, and set-group-id if the group may execute: the
  /// caller may not keep them (CAP_FSETID). Of open, create and write; setattr says it by its fields. Never of a
  /// session that is mounted read-only.
  public internal(set) var clearsSetID: Bool

  public init(threadID: Int32, uid: UInt32, gid: UInt32, umask: UInt32 = 0, clearsSetID: Bool = false) {
    self.threadID = threadID
    self.uid = uid
    self.gid = gid
    self.umask = umask
    self.clearsSetID = clearsSetID
  }
}

/// The kinds of request a volume receives, named as the protocol names them. Raw value: the opcode.
public enum FuseRequestKind: UInt32, Sendable, Hashable, CaseIterable {
  case lookup = 1
  case forget = 2
  case getattr = 3
  case setattr = 4
  case readlink = 5
  case symlink = 6
  case mknod = 8
  case mkdir = 9
  case unlink = 10
  case rmdir = 11
  case rename = 12
  case link = 13
  case open = 14
  case read = 15
  case write = 16
  case statfs = 17
  case release = 18
  case fsync = 20
  case setxattr = 21
  case getxattr = 22
  case listxattr = 23
  case removexattr = 24
  case flush = 25
  case initialize = 26
  case opendir = 27
  case readdir = 28
  case releasedir = 29
  case fsyncdir = 30
  case getlk = 31
  case setlk = 32
  case setlkw = 33
  case access = 34
  case create = 35
  case interrupt = 36
  case bmap = 37
  case destroy = 38
  case ioctl = 39
  case poll = 40
  case notifyReply = 41
  case batchForget = 42
  case fallocate = 43
  case readdirplus = 44
  case rename2 = 45
  case lseek = 46
  case copyFileRange = 47
  case setupMapping = 48
  case removeMapping = 49
  case syncfs = 50
  case tmpfile = 51
  case statx = 52
  case copyFileRange64 = 53
}

/// What a SETATTR request asks to change: chmod, chown, truncate, utimens and their f-variants.
///
/// Only what `fields` names is to be changed; the other members are meaningless.
public struct AttributeChanges: Sendable {
  /// Which members are set. C: `FUSE_SET_ATTR_*`.
  public struct Fields: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let mode = Fields(rawValue: 1 << 0)
    public static let uid = Fields(rawValue: 1 << 1)
    public static let gid = Fields(rawValue: 1 << 2)
    public static let size = Fields(rawValue: 1 << 3)
    public static let accessTime = Fields(rawValue: 1 << 4)
    public static let modificationTime = Fields(rawValue: 1 << 5)
    /// Set the access time to the present; `accessTime` is set with it and its value is meaningless.
    public static let accessTimeNow = Fields(rawValue: 1 << 7)
    /// Set the modification time to the present.
    public static let modificationTimeNow = Fields(rawValue: 1 << 8)
    public static let changeTime = Fields(rawValue: 1 << 10)
    /// Clear the set-user-id bit, and set-group-id if the group may execute (only with HANDLE_KILLPRIV_V2).
    public static let killSetIDBits = Fields(rawValue: 1 << 11)

    /// - Parameter valid: As the request has it. What only says which handle or lock owner comes along is left out.
    init(valid: UInt32) { self.init(rawValue: valid & ~(cfuse_fattr_fh | cfuse_fattr_lockowner)) }
  }

  public var fields: Fields
  /// st_mode including the type bits.
  public var mode: UInt32
  public var uid: UInt32
  public var gid: UInt32
  /// New size in bytes, 0...Int64.max.
  public var size: Int64
  public var accessTime: FuseTime
  public var modificationTime: FuseTime
  public var changeTime: FuseTime
  /// The open through which ftruncate(2) and the like came; nil for calls by path.
  public var handle: FuseHandle?

  /// Whether set-id bits are to be cleared: the kernel says so by a bit, and before a write that it does not announce
  /// otherwise by a request that names nothing to be changed at all.
  public var clearsSetID: Bool { fields.isEmpty || fields.contains(.killSetIDBits) }
}

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

/// What a WRITE asks for.
public struct WriteRequest {
  public let handle: FuseHandle
  /// First byte, 0 or more; offset + bytes.count does not overflow.
  public let offset: Int64
  /// The bytes to write, valid only during the call.
  public let bytes: UnsafeRawBufferPointer
  /// The open flags of the handle (O_APPEND, O_SYNC, ...).
  public let openFlags: Int32
  /// The caller's lock owner, scrambled by the kernel; 0 for writes of the page cache.
  public let lockOwner: UInt64
  /// Whether the page cache writes back on its own account: a page that a mapping stored to. Then the context is
  /// nobody's, `openFlags` are 0 and the handle is the first writable one, which may be closed by now.
  public let isWriteback: Bool

  /// Whether this is one write(2) of a direct_io open, for which the kernel sends the lock owner
  /// (FUSE_WRITE_LOCKOWNER). After it no FSYNC comes for O_SYNC and O_DSYNC.
  public var isDirect: Bool { lockOwner != 0 }

  /// Whether the bytes have to be durable before the answer: a direct write by O_DSYNC or O_SYNC. For others the kernel
  /// sends an FSYNC.
  public var mustBeDurable: Bool { isDirect && openFlags & O_DSYNC != 0 }
}

/// What a COPY_FILE_RANGE asks for.
public struct CopyRequest: Sendable, Hashable {
  public let source: FuseNode
  public let sourceHandle: FuseHandle
  public let sourceOffset: Int64
  public let destination: FuseNode
  public let destinationHandle: FuseHandle
  public let destinationOffset: Int64
  public let length: Int
  public let flags: Int32
}

/// How the kernel shall treat one open file or directory. C: `FOPEN_*`.
public struct OpenOptions: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Every read(2) and write(2) becomes one request with the caller's offset and length; no readahead for this open.
  public static let directIO = OpenOptions(rawValue: 1 << 0)
  /// Leave pages of earlier opens in the cache. Without it open(2) drops them, and waits for a page that a parked READ
  /// holds: set it on every open of a file, direct ones too, and invalidate by notification instead.
  public static let keepCache = OpenOptions(rawValue: 1 << 1)
  /// lseek(2) fails with ESPIPE.
  public static let nonSeekable = OpenOptions(rawValue: 1 << 2)
  /// Directories: cache the listing. Survives the open only together with `keepCache`.
  public static let cacheDirectory = OpenOptions(rawValue: 1 << 3)
  /// close(2) sends no FLUSH.
  public static let noFlush = OpenOptions(rawValue: 1 << 5)
  /// Direct writes inside the file's size need no exclusive inode lock.
  public static let parallelDirectWrites = OpenOptions(rawValue: 1 << 6)
}

/// Flags of renameat2(2).
public struct RenameFlags: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Fail with EEXIST instead of replacing. C: `RENAME_NOREPLACE`.
  public static let noReplace = RenameFlags(rawValue: 1 << 0)
  /// Exchange both names atomically. C: `RENAME_EXCHANGE`.
  public static let exchange = RenameFlags(rawValue: 1 << 1)
  /// Leave a whiteout behind. C: `RENAME_WHITEOUT`.
  public static let whiteout = RenameFlags(rawValue: 1 << 2)
}

/// What an LSEEK request looks for; other kinds of lseek(2) are the kernel's own business.
public enum SeekTarget: Sendable, Hashable {
  /// C: `SEEK_DATA`.
  case data
  /// C: `SEEK_HOLE`.
  case hole
}
