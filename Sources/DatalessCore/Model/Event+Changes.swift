/// What is told of changes on a writable volume.
extension Event {
  /// One change, or what was written through one handle.
  public struct VolumeChange: Sendable {
    public enum Change: Sendable {
      /// A name was made. - Parameter linkedFrom: Another name of the item, where it had one before.
      case created(linkedFrom: [UInt8]?)
      /// - Parameter replaced: What had the new name before.
      case renamed(from: [UInt8], isExchange: Bool, replaced: Removed?)
      case removed(Removed)
      /// - Parameter what: `mode`, `uid`, `gid`, `size`, `atime`, `mtime`, or the names of extended attributes.
      case attributes(what: [String])
      case written(Written)
      /// The volume took the name away because room was short.
      case purged(Purged)
    }

    /// An item that lost a name.
    public struct Removed: Sendable, Equatable {
      public var kind: ItemKind
      public var inode: UInt64
      public var wasDataless: Bool
      /// Bytes that were nowhere else, and are gone when the last handle is closed.
      public var lostBytes: Int64
      /// Names that it has left.
      public var linksLeft: UInt32
      /// What went with a directory that was removed with all that was in it, itself included.
      public var tree: RemovedItems?

      public init(kind: ItemKind, inode: UInt64, wasDataless: Bool, lostBytes: Int64, linksLeft: UInt32) {
        self.kind = kind
        self.inode = inode
        self.wasDataless = wasDataless
        self.lostBytes = lostBytes
        self.linksLeft = linksLeft
      }
    }

    /// Through one handle, since it was opened.
    public struct Written: Sendable, Equatable {
      public var handle: UInt64
      public var bytes: Int64
      public var calls: Int64
      /// Stored in mappings, and written back by the page cache.
      public var mappedBytes: Int64
      /// st_size afterwards.
      public var size: Int64
      /// Whether something was written past the volume while it was open, through it or another passthrough open:
      /// nobody knows how much, and the other numbers are of what the volume did itself.
      public var isUnseen: Bool

      public init(
        handle: UInt64, bytes: Int64, calls: Int64, mappedBytes: Int64, size: Int64, isUnseen: Bool = false
      ) {
        self.handle = handle
        self.bytes = bytes
        self.calls = calls
        self.mappedBytes = mappedBytes
        self.size = size
        self.isUnseen = isUnseen
      }
    }

    /// A file of an area that was purged.
    public struct Purged: Sendable, Equatable {
      public var reason: PurgeReason
      /// `quota` or `pressure`.
      public var by: String
      /// What the area is called.
      public var area: String
      public var category: AreaCategory
      /// What its app is called, where the area's path tells.
      public var app: [UInt8]?
      /// st_size.
      public var bytes: Int64
      /// Of these, what was nowhere else.
      public var lostBytes: Int64

      public init(
        reason: PurgeReason, by: String, area: String, category: AreaCategory, app: [UInt8]?, bytes: Int64,
        lostBytes: Int64
      ) {
        self.reason = reason
        self.by = by
        self.area = area
        self.category = category
        self.app = app
        self.bytes = bytes
        self.lostBytes = lostBytes
      }
    }

    /// `created`, `renamed`, `removed`, `attributes`, `written` or `purged`.
    public var name: String {
      switch change {
      case .created: "created"
      case .renamed: "renamed"
      case .removed: "removed"
      case .attributes: "attributes"
      case .written: "written"
      case .purged: "purged"
      }
    }

    public var change: Change
    /// Of a rename: the new one. Of what was removed: what it was.
    public var path: [UInt8]
    public var inode: UInt64
    public var kind: ItemKind
    public var caller: Caller
    public var time: MonotonicTime

    public init(
      _ change: Change, path: [UInt8], inode: UInt64, kind: ItemKind, by caller: Caller, time: MonotonicTime
    ) {
      self.change = change
      self.path = path
      self.inode = inode
      self.kind = kind
      self.caller = caller
      self.time = time
    }
  }
}
