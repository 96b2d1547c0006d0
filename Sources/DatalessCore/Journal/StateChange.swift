/// A change of what is to outlive the daemon. Together and in order they say which content is here, and what was
/// changed on the volume; what the store has is not in them, because it can be asked again.
public enum StateChange: Sendable, Equatable {
  /// The content of a file is complete.
  case content(of: ChangedItem, ContentID)
  /// It is not here any more. What it was is removed from the content store when this is durable.
  case contentDropped(of: ChangedItem, ContentID)
  /// The store has another key or version for a file whose content is here; or for a directory, and with it for what is
  /// in it.
  case bound(ChangedItem, formerKey: [UInt8])
  /// A name that was made on the volume leads to an item: a new one, or one that was known.
  case named(ChangedItem, name: [UInt8], in: ChangedItem)
  /// A name that was made on the volume is gone.
  case unnamed(name: [UInt8], in: ChangedItem)
  /// A name of the store is not shown: it was removed, or its item moved, on the volume.
  case hidden(ChangedItem, name: [UInt8], in: ChangedItem)
  /// It is shown again, or the store has it no more.
  case unhidden(name: [UInt8], in: ChangedItem)
  /// An item's metadata was changed on the volume, or is the store's again.
  ///
  /// - Parameter listed: The store's; nil if it does not have the item.
  case attributes(of: ChangedItem, ItemAttributes, listed: ItemAttributes? = nil)
  /// The store has other metadata of a file that was written to here, and what is kept of its mode and its owner
  /// follows that. Size and times are what was told when it was written.
  case listed(of: ChangedItem, ItemAttributes, listed: ItemAttributes)
  /// An item was made on the volume, or is about to get a name there: what is to be known of it beside its names. Comes
  /// before each `named`, so for one item several times.
  ///
  /// - Parameters:
  ///   - target: Of a symbolic link that was made on the volume, else empty.
  ///   - listed: As `attributes`.
  case made(ChangedItem, ItemAttributes, target: [UInt8], listed: ItemAttributes? = nil)
  /// The content of a file is written to from now on: it is in that file of the content store, and nowhere else.
  case dirty(of: ChangedItem, ContentID)
  /// An extended attribute was changed on the volume. - Parameter value: nil: it was removed, the store's, too.
  case attribute(of: ChangedItem, name: [UInt8], value: [UInt8]?)
  /// The store has a file whose content was written here under a name beside others, or has it there no more.
  ///
  /// - Parameter key: The store's, of that name.
  case storeName(of: ChangedItem, key: [UInt8], isThere: Bool)
  /// Nothing leads to an item any more that was made on the volume.
  case forgotten(ChangedItem)
  /// A directory was removed with all that is in it: what no other name leads to is to be forgotten, and its content to
  /// be removed.
  ///
  /// - Parameter isKnown: Whether what is in it is told by itself as it goes: then this is for the next run alone. Else
  ///   the volume has never looked into it.
  case trashed(ChangedItem, isKnown: Bool)
  /// The store has a directory no more that nobody finds on the volume either: its place is free, or another's. What
  /// was kept in it goes as with `trashed`, of which the volume knows nothing.
  case vanished(ChangedItem)
  /// The store has a file no more, under any name, that nothing on the volume leads to either.
  case gone(ChangedItem)
  /// The store has another version of what was saved, which is another node: what is kept, and told of, is that one's.
  case followed(NodeID, SavedItemID)
  /// All of them, or none: what one operation has changed.
  case together([StateChange])

  /// By how many bytes what is kept grows at most, about, with a name of so many bytes.
  public static func growth(ofName length: Int) -> Int64 { 96 + Int64(length) * 2 }

  /// The same with an item and its first name, or with an item whose metadata or attributes are changed.
  public static let growthOfItem: Int64 = 256
}

/// What the volume itself keeps with an item as an attribute that no program sees or can set.
public enum KeptAttribute {
  /// How its item is in conflict with the store: a `ConflictKind`.
  public static let conflict = Array("dataless.conflict".utf8)

  /// The access ACL that the store had for its item when something of that came here (`ItemExtras.accessACL`).
  public static let accessACL = Array("dataless.access".utf8)

  /// Whether the volume looks by itself for items that have an attribute.
  public static func isVisited(_ name: [UInt8]) -> Bool { name == conflict || name == PolicyAttribute.policy }

  public static func isOne(_ name: [UInt8]) -> Bool { name.starts(with: "dataless.".utf8) }
}

/// The item of a change.
public struct ChangedItem: Sendable, Equatable {
  /// While mounted.
  public let node: NodeID
  /// st_ino.
  public let inode: UInt64
  /// nil for what was made on the volume.
  public let binding: StoreBinding?
  /// What the directories are in which the store has it, from its own upwards, the root left out: so that they are
  /// known when SOURCE has renamed them. As many as the namespace knows.
  public var directories: [Directory] = []

  public struct Directory: Sendable {
    public let node: NodeID
    public let version: StoreVersion
  }

  /// What it lies in says nothing of what it is.
  public static func == (left: ChangedItem, right: ChangedItem) -> Bool {
    left.node == right.node && left.inode == right.inode && left.binding == right.binding
  }
}

/// The place of a change among all since the volume was mounted: 1, 2, 3 ...; 0 before the first.
public struct ChangeNumber: Sendable, Hashable, Comparable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (left: ChangeNumber, right: ChangeNumber) -> Bool { left.rawValue < right.rawValue }
}
