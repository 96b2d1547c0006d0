/// What a volume knows of its earlier runs, directory by directory.
///
/// The engine lists a directory as ever, from its store, and asks for what was saved of it before the listing ends: so
/// that a lookup sees both, and mounting reads no more than the root. What it takes over it adopts: later changes are
/// then told of the same item.
public protocol SavedState: Sendable {
  /// The highest inode number that was given to an item of the volume's own; 0 if there was none.
  var highestInode: UInt64 { get }

  /// What is saved of a directory and of the items in it. Metadata lane; waits for the disk.
  ///
  /// - Throws: EIO (what is saved is damaged, or the disk fails), and what keeps changes from being committed, which
  ///   comes first: ENOSPC, EDQUOT.
  func saved(of directory: ChangedItem) throws(FSError) -> SavedDirectory

  /// What is saved of a file that the store shows under several names, of which another may have been saved; nil if
  /// nothing is. As `saved`.
  func savedItem(_ item: ChangedItem) throws(FSError) -> SavedItem?

  /// Whether anything in a directory, or below it, was changed on the volume and is nowhere else: a name, or the
  /// content of a file. As `saved`.
  /// What has a name elsewhere is not in it: the store has the directory no more.
  func hasChanges(below directory: SavedItemID) throws(FSError) -> Bool

  /// As the other one, of an item that is a node already. Where nothing is saved there is none.
  func hasChanges(below directory: ChangedItem) throws(FSError) -> Bool

  /// The store has a directory no more in which nothing was changed: what is kept of it, and below it, goes in the
  /// background. What cannot be dropped now is met by the next mount again. What was set in it is dropped when the
  /// volume ends, because another listing may bring the directory (`renamed`). As `saved`.
  func drop(_ directory: SavedItemID)

  /// What was written on the volume in a directory, or below it, and goes when that is removed. As `saved`.
  func writing(below directory: ChangedItem) throws(FSError) -> SavedWriting

  /// Where items are that the volume looks for by itself when it was mounted: those with a content policy of their own,
  /// and those in conflict with the store. Paths as callers find them. As `saved`.
  func placesToVisit() throws(FSError) -> [[UInt8]]

  /// Where content lies that is kept: of each directory in which an item has some, the path of one such item, as
  /// callers find it. As `saved`.
  func placesOfContent() throws(FSError) -> [[UInt8]]

  /// Directories that the store has listed, and that are saved under another key: the store has renamed them since.
  /// Proven by device, inode number and time of birth; what was moved or removed here, or is a node, is not among them.
  /// As `saved`.
  func renamed(_ directories: [ChangedItem]) throws(FSError) -> [FormerPlace]

  /// They are saved under the keys that they have now, all at once, and are these nodes. As `saved`.
  ///
  /// - Returns: Those that are. Others stay where they were: what was changed in a directory that has had the new key
  ///   would have no place any more.
  func takeRenamed(_ directories: [ChangedItem]) throws(FSError) -> [RenamedDirectory]

  /// A saved item is a node from now on. Any thread but under the engine's lock: it may wait for a commit.
  func adopt(_ item: SavedItemID, as node: NodeID)
}

extension SavedState {
  public func placesToVisit() throws(FSError) -> [[UInt8]] { [] }
  public func placesOfContent() throws(FSError) -> [[UInt8]] { [] }
  public func renamed(_ directories: [ChangedItem]) throws(FSError) -> [FormerPlace] { [] }
  public func takeRenamed(_ directories: [ChangedItem]) throws(FSError) -> [RenamedDirectory] { [] }
}

/// Where a directory is saved that the store has listed under another key.
public struct FormerPlace: Sendable, Equatable {
  public var directory: ChangedItem
  public var item: SavedItemID
  public var key: [UInt8]

  public init(_ directory: ChangedItem, item: SavedItemID, key: [UInt8]) {
    self.directory = directory
    self.item = item
    self.key = key
  }
}

/// A directory that is saved under its new key.
public struct RenamedDirectory: Sendable, Equatable {
  public var node: NodeID
  public var item: SavedItem
  public var formerKey: [UInt8]
  public var key: [UInt8]

  public init(_ node: NodeID, item: SavedItem, formerKey: [UInt8], key: [UInt8]) {
    self.node = node
    self.item = item
    self.formerKey = formerKey
    self.key = key
  }
}

/// Files of which programs have written the content, and that no name elsewhere leads to.
public struct SavedWriting: Sendable, Equatable {
  public var files = 0
  /// Their sizes, in bytes.
  public var bytes: Int64 = 0
  /// The first `RemovedItems.namedMax` of them, from the directory that was asked for.
  public var paths: [[UInt8]] = []

  public init() {}
}

/// Names an item among those that are saved.
public struct SavedItemID: Sendable, Hashable {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }
}

extension ChangedItem {
  /// - Parameter node: Of what is no node yet: one that was never given.
  public init(_ node: NodeID, inode: UInt64, binding: StoreBinding?) {
    self.node = node
    self.inode = inode
    self.binding = binding
  }
}

/// What is saved of one directory.
public struct SavedDirectory: Sendable, Equatable {
  /// The directory itself; nil if nothing is saved of it.
  public var item: SavedItem?
  /// Names that were made on the volume.
  public var made: [Name] = []
  /// Names of the store that are not shown, and what they led to when they were taken away.
  public var hidden: [Name] = []
  /// Items of which something is saved, under the names by which the store has them.
  public var listed: [Name] = []

  public init() {}

  public struct Name: Sendable, Equatable {
    public var name: [UInt8]
    public var item: SavedItem

    public init(name: [UInt8], item: SavedItem) {
      self.name = name
      self.item = item
    }
  }
}

/// What is saved of one item.
public struct SavedItem: Sendable, Equatable {
  public var id: SavedItemID
  /// st_ino; 0 if it is not known.
  public var inode: UInt64
  /// What it was in the store; nil for what was made on the volume, and where nothing is known.
  public var version: StoreVersion?
  /// The store's metadata of that version, where others were changed on the volume.
  public var listed: ItemAttributes?
  /// The store's key of an item that has a name that was made on the volume; nil if the store does not have it.
  public var key: [UInt8]?
  /// Whether names that were made on the volume lead to it.
  public var isNamed: Bool
  /// How many names are known to lead to it: those that were made, and those of the store.
  public var nameCount = 0
  /// Whether names of the store lead to it that are not shown.
  public var isHidden = false
  /// Whether the store has it under a name that is known, as far as was told.
  public var hasPlace = true
  /// Keys by which the store had it when it was written to, if those were several.
  public var storeNames: [[UInt8]] = []
  /// Which node it was last in this run, if it was any. Of `savedItem` alone.
  public var node: NodeID?
  /// Of an item behind a hidden name: whether the store has it under another one, too.
  public var isElsewhere = false
  /// Its metadata, where they were changed on the volume; of what was made or moved here always.
  public var attributes: ItemAttributes?
  /// Complete content that is there. Content that is not dirty is of `version`.
  public var content: ContentID?
  /// The size of that content, in bytes.
  public var contentSize: Int64
  /// Whether a program wrote it. Dirty without content: it was never written to the disk; it is empty.
  public var isDirty: Bool
  /// Where a symbolic link leads that was made on the volume.
  public var target: [UInt8]
  /// Extended attributes that were set, or removed (nil), on the volume.
  public var extendedAttributes: [[UInt8]: [UInt8]?]
  /// When it was used last, as `KeptUses.File` has it; 0 if that is not known.
  public var lastUse: UInt32 = 0

  public init(id: SavedItemID, inode: UInt64) {
    self.id = id
    self.inode = inode
    isNamed = false
    contentSize = 0
    isDirty = false
    target = []
    extendedAttributes = [:]
  }
}
