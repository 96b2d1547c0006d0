/// What became of a removal of whole trees.
public enum RemovalAnswer: Sendable {
  case removed(RemovedItems)
  /// A directory on the way to one of the paths is dataless: materialize it, then call again.
  case needsListing(NodeID)
  /// The first thing that could not be removed; nothing was changed. ENOENT, ENOTDIR; EACCES, EPERM (rights); EBUSY
  /// (the root, names that others change all the time); EROFS; ETIMEDOUT (the volume ends).
  case refused(path: [UInt8], FSError)
}

/// What was removed.
public struct RemovedItems: Sendable, Equatable {
  /// Names, those of the trees themselves included.
  public var items = 0
  /// Directories among them.
  public var directories = 0
  /// Local content that goes with them, in bytes, in whole pages.
  public var bytes: Int64 = 0
  /// Files whose content was nowhere else, and their sizes in bytes.
  public var dirtyItems = 0
  public var dirtyBytes: Int64 = 0
  /// The paths of the first `namedMax` of them.
  public var dirtyPaths: [[UInt8]] = []
  /// LIMIT: paths that are remembered.
  public static let namedMax = 1_000

  public init() {}

  mutating func add(_ other: RemovedItems) {
    items += other.items
    directories += other.directories
    bytes = bytes.saturatingAdd(other.bytes)
    dirtyItems += other.dirtyItems
    dirtyBytes = dirtyBytes.saturatingAdd(other.dirtyBytes)
    name(other.dirtyPaths)
  }

  mutating func name(_ paths: [[UInt8]]) { dirtyPaths += paths.prefix(Self.namedMax - dirtyPaths.count) }
}

/// What was removed, or evicted, and is still to be given back.
public struct TrashStatus: Sendable, Equatable {
  /// Names of removed trees, and contents.
  public var items = 0
  /// What is given back with them.
  public var bytes: Int64 = 0

  public init(items: Int = 0, bytes: Int64 = 0) {
    self.items = items
    self.bytes = bytes
  }
}
