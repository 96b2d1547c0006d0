/// A store's own token of a version, opaque to all others: an ETag, a version id. Two versions of one item with equal
/// tokens have the same bytes; with different ones they do not. Empty where the store has none: then times and size
/// tell versions apart.
public struct VersionToken: Sendable, Hashable {
  public let bytes: [UInt8]
  public init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
  public static let none = VersionToken([])
  public var isNone: Bool { bytes.isEmpty }
}

/// Which version of which item of a store is meant. Nothing in it changes with a name, an owner or a mode.
public struct StoreVersion: Sendable, Hashable {
  public var kind: ItemKind
  /// What makes it the same item under any name: as `ItemAttributes`.
  public var device: UInt64
  public var inode: UInt64
  public var birth: UInt64
  /// In bytes.
  public var size: Int64
  public var modificationTime: Timestamp
  public var changeTime: Timestamp
  public var token: VersionToken

  public init(_ listed: ItemAttributes, token: VersionToken = .none) {
    kind = listed.kind
    device = listed.device
    inode = listed.inode
    birth = listed.birth
    size = listed.size
    modificationTime = listed.modificationTime
    changeTime = listed.changeTime
    self.token = token
  }

  /// Whether both are the same bytes of the same item: by the tokens if either has one, else by size and times.
  public func isSame(as other: StoreVersion) -> Bool {
    guard kind == other.kind, device == other.device, inode == other.inode, birth == other.birth else { return false }
    guard token.isNone, other.token.isNone else { return token == other.token }
    return size == other.size && modificationTime == other.modificationTime && changeTime == other.changeTime
  }

  /// Whether both versions of one item have the same bytes, as far as that can be told: a rename, and a further name,
  /// move the time of change alone.
  public func hasBytes(of other: StoreVersion) -> Bool {
    token.isNone && other.token.isNone
      ? size == other.size && modificationTime == other.modificationTime : token == other.token
  }
}

/// What an item of the volume is in its backing store: how the store finds it, and which version of it is meant. A
/// rename or a change of attributes on the volume changes neither.
public struct StoreBinding: Sendable, Equatable {
  /// The store's own key: the names by which it listed the item, from its root, with `/` between them, and without one
  /// in front; empty for the root itself.
  public var key: [UInt8]
  /// As listed. A store whose item is another version by the time it is opened throws ESTALE.
  public var version: StoreVersion

  public init(key: [UInt8], version: StoreVersion) {
    self.key = key
    self.version = version
  }

  /// The key of what the store lists under a name in this directory.
  func childKey(_ name: [UInt8]) -> [UInt8] { key.isEmpty ? name : key + [UInt8(ascii: "/")] + name }
}

/// One entry of a listing, without its name.
public struct ListedItem: Sendable, Equatable {
  public var attributes: ItemAttributes
  public var token: VersionToken

  public init(_ attributes: ItemAttributes, token: VersionToken = .none) {
    self.attributes = attributes
    self.token = token
  }

  public var version: StoreVersion { StoreVersion(attributes, token: token) }
}

/// One entry of a listing: a name (bytes, never empty, no slash, not `.` or `..`) and what it leads to.
public struct StoreEntry: Sendable, Equatable {
  public var name: [UInt8]
  public var item: ListedItem

  public init(name: [UInt8], item: ListedItem) {
    self.name = name
    self.item = item
  }

  public var attributes: ItemAttributes { item.attributes }
}
