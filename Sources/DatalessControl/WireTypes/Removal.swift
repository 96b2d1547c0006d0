/// Answer of `POST /v1/remove`: what was removed. All of it goes on being given back in the background (`TrashCounts`).
public struct RemoveAnswer: Codable, Sendable, Equatable {
  /// Names, those of the paths themselves included.
  public var items: Int64
  /// Directories among them.
  public var directories: Int64
  /// Local content that goes with them.
  public var bytes: Int64
  /// Files whose content was nowhere else.
  public var dirtyItems: Int64
  public var dirtyBytes: Int64
  /// The path of the first of these; absent when there was none.
  public var firstDirty: String?
  public var firstDirtyBase64: String?
  /// The paths of the first 1,000 of them; absent when there was none.
  public var dropped: [WirePath]?

  enum CodingKeys: String, CodingKey {
    case items, directories, bytes, dropped
    case dirtyItems = "dirty_items"
    case dirtyBytes = "dirty_bytes"
    case firstDirty = "first_dirty"
    case firstDirtyBase64 = "first_dirty_b64"
  }

  public init(
    items: Int64, directories: Int64, bytes: Int64, dirtyItems: Int64 = 0, dirtyBytes: Int64 = 0,
    dropped: [[UInt8]] = []
  ) {
    self.items = items
    self.directories = directories
    self.bytes = bytes
    self.dirtyItems = dirtyItems
    self.dirtyBytes = dirtyBytes
    guard let first = dropped.first else { return }
    (firstDirty, firstDirtyBase64) = WirePath.split(first)
    self.dropped = dropped.map { WirePath($0) }
  }

  /// Those that are named; daemons of earlier versions name the first.
  public var droppedPaths: [[UInt8]] {
    dropped?.map(\.bytes) ?? firstDirty.map { [WirePath.bytes($0, firstDirtyBase64)] } ?? []
  }
}

/// What was removed, or evicted, and is still to be given back.
public struct TrashCounts: Codable, Sendable, Equatable {
  /// Names of removed trees, and contents.
  public var items: Int64
  /// What is given back with them.
  public var bytes: Int64
  /// Items that were looked at for what an earlier run of a kept volume has left, which is not known before all were.
  /// nil when nothing is looked for.
  public var searchedItems: Int64?

  enum CodingKeys: String, CodingKey {
    case items, bytes
    case searchedItems = "searched_items"
  }

  public init(items: Int64, bytes: Int64, searchedItems: Int64? = nil) {
    self.items = items
    self.bytes = bytes
    self.searchedItems = searchedItems
  }
}
