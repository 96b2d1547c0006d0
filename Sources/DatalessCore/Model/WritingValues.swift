public import SystemPackage

/// What became of a call that makes an item or a name. What is made counts as a lookup by the kernel, see
/// `Engine.forget`.
public enum MakeAnswer: Sendable {
  case made(ItemSnapshot)
  /// The directory is dataless: materialize it, then call again.
  case needsListing(NodeID)
  /// The file is dataless: the same.
  case needsMaterialization(NodeID)
  case failed(Errno)
}

/// What became of a call that makes a file and opens it. The handle is to be released even if nobody gets it.
public enum CreateAnswer: Sendable {
  case made(ItemSnapshot, handle: UInt64)
  case needsListing(NodeID)
  case failed(Errno)
}

/// What became of a call that removes or moves names.
public enum ChangeAnswer: Sendable {
  case done
  /// As `MakeAnswer`.
  case needsListing(NodeID)
  /// The directory is to go, and is dataless: whether it is empty has to be known first. `Engine.listBriefly`, then
  /// call again.
  case needsEmptiness(NodeID)
  case failed(Errno)
}

/// What became of a change of attributes.
public enum AttributeAnswer: Sendable {
  case changed(ItemSnapshot)
  case needsMaterialization
  case needsDurability(ChangeNumber)
  /// As `WriteAnswer`.
  case needsRoom(Int64)
  case failed(FSError)
}

/// What became of an open for writing.
public enum WritableOpenAnswer: Sendable {
  /// - Parameter isDirect: The file is dataless, or its reads are watched: as `OpenAnswer.dataless`. Else the page
  ///   cache serves it.
  case opened(handle: UInt64, isDirect: Bool)
  /// As `OpenAnswer.passthrough`. What is written through it is not seen.
  ///
  /// - Parameter isToBeEmptied: Of O_TRUNC: `Engine.empty` follows once it is settled whether there is a backing.
  case passthrough(ContentID, handle: UInt64, isToBeEmptied: Bool)
  case needsMaterialization
  /// As `OpenAnswer.isBeingEvicted`.
  case isBeingEvicted
  case needsDurability(ChangeNumber)
  case failed(FSError)
}

/// What became of a change of content.
public enum WriteAnswer: Sendable {
  /// So many bytes were written; 0 for what writes none.
  case done(Int)
  case needsMaterialization
  /// Wait for this (`Engine.whenDurable`), then call again.
  case needsDurability(ChangeNumber)
  /// Wait until there is room for so many bytes (`Engine.waitForRoom`), then call again.
  case needsRoom(Int64)
  case failed(FSError)
}

/// What became of a copy between files of the volume.
public enum CopyAnswer: Sendable {
  case done(Int)
  case needsMaterialization(NodeID)
  case needsDurability(ChangeNumber)
  /// As `WriteAnswer`.
  case needsRoom(Int64)
  case failed(FSError)
}

/// What chmod(2), chown(2), utimensat(2) and truncate(2) change. nil: it stays as it is.
public struct AttributeChange: Sendable, Equatable {
  public enum TimeChange: Sendable, Equatable {
    case now
    case at(Timestamp)
  }

  /// Permissions with setuid, setgid and sticky bit; other bits do not count.
  public var mode: UInt32?
  public var uid: UInt32?
  public var gid: UInt32?
  /// In bytes.
  public var size: Int64?
  public var accessTime: TimeChange?
  public var modificationTime: TimeChange?
  /// Whether setuid goes, and setgid if the group may execute.
  public var clearsSetID = false

  public init() {}
}

/// How a WRITE came.
public struct WriteAccess: Sendable {
  public var handle: UInt64
  /// The first byte, 0 or more.
  public var offset: Int64
  /// As `AttributeChange`.
  public var clearsSetID: Bool
  /// Past the page cache: the kernel leaves it to the volume to drop `security.capability`.
  public var isDirect: Bool
  /// The page cache writes back what was stored in a mapping: nobody's process, and the handle may be closed.
  public var isWriteback: Bool
  /// Who calls; 0 when that thread lives in another pid namespace, and for nobody.
  public var threadID: Int32

  public init(
    handle: UInt64, offset: Int64, clearsSetID: Bool = false, isDirect: Bool = false, isWriteback: Bool = false,
    threadID: Int32 = 0
  ) {
    self.handle = handle
    self.offset = offset
    self.clearsSetID = clearsSetID
    self.isDirect = isDirect
    self.isWriteback = isWriteback
    self.threadID = threadID
  }
}

/// What fallocate(2) does with a range.
public enum AllocationKind: Sendable, Hashable {
  /// Room is made for it.
  case allocate(keepsSize: Bool)
  /// It becomes a hole; the size stays.
  case punchHole
  /// It reads as zeros.
  case zero(keepsSize: Bool)

  /// - Parameter flags: FALLOC_FL_*. nil for what no volume does: EOPNOTSUPP.
  public init?(flags: Int32) {
    switch flags {
    case 0: self = .allocate(keepsSize: false)
    case 1: self = .allocate(keepsSize: true)
    case 3: self = .punchHole
    case 16: self = .zero(keepsSize: false)
    case 17: self = .zero(keepsSize: true)
    default: return nil
    }
  }

  /// FALLOC_FL_*.
  public var flags: Int32 {
    switch self {
    case .allocate(let keepsSize): keepsSize ? 1 : 0
    case .punchHole: 3
    case .zero(let keepsSize): keepsSize ? 17 : 16
    }
  }
}

/// Flags of renameat2(2).
public struct RenameOptions: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let noReplace = RenameOptions(rawValue: 1)
  public static let exchange = RenameOptions(rawValue: 2)
}

/// Whether setxattr(2) wants an attribute to be there already.
public enum AttributeExistence: Sendable {
  case any
  /// XATTR_CREATE: EEXIST if it is there.
  case create
  /// XATTR_REPLACE: ENODATA if it is not.
  case replace
}

/// What was changed on a volume, and would be forgotten if it were not kept.
public struct VolumeChanges: Sendable, Equatable {
  /// Files whose content was written to, and their sizes.
  public var dirtyFiles = 0
  public var dirtyBytes: Int64 = 0
  /// Names that were made, and names of the store that are hidden.
  public var namesMade = 0
  public var namesRemoved = 0
  /// Items of the store whose mode, owner, times or extended attributes a program has set.
  public var otherAttributes = 0

  public init() {}
}

/// Flags of open(2) that the engine looks at.
enum OpenFlags {
  static let exclusive: Int32 = 0o200
  static let truncate: Int32 = 0o1000

  /// Whether the access mode lets the handle read: not O_WRONLY.
  static func reads(_ flags: Int32) -> Bool { flags & 3 != 1 }
  /// Whether the access mode lets the handle write.
  static func writes(_ flags: Int32) -> Bool { flags & 3 != 0 }
}
