/// Body of `POST /v1/inventory`.
public struct InventoryRequest: Codable, Sendable, Equatable {
  /// Relative to the volume's root; an empty path means all of it.
  public var path: WirePath
  /// The label of a mark: what was not touched since counts as untouched. Default: since the mount.
  public var since: String?

  public init(path: WirePath, since: String? = nil) {
    self.path = path
    self.since = since
  }
}

extension InventoryRequest: WireRequest {
  public static var keys: [String] { ["path", "since"] }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    path = try container.decode(StrictRequest<WirePath>.self, forKey: .path).body
    since = try container.decodeIfPresent(String.self, forKey: .since)
  }
}

/// One line of the answer of `POST /v1/inventory`: progress, or as the last line the result or an error.
public struct InventoryLine: AnswerLine, Equatable {
  public var progress: InventoryProgress?
  public var result: InventoryReport?
  public var error: WireError?

  public init(progress: InventoryProgress? = nil, result: InventoryReport? = nil, error: WireError? = nil) {
    self.progress = progress
    self.result = result
    self.error = error
  }
}

/// How far an inventory has come.
public struct InventoryProgress: Codable, Sendable, Equatable {
  /// Items that were met.
  public var items: Int64
  /// Bytes of local content that were compared.
  public var comparedBytes: Int64
  /// Items that the volume knows, where all of it is looked at; else nil.
  public var totalItems: Int64?

  enum CodingKeys: String, CodingKey {
    case items
    case comparedBytes = "compared_bytes"
    case totalItems = "total_items"
  }

  public init(items: Int64, comparedBytes: Int64, totalItems: Int64? = nil) {
    self.items = items
    self.comparedBytes = comparedBytes
    self.totalItems = totalItems
  }
}

/// What is stored below a directory of a volume.
public struct InventoryReport: Codable, Sendable, Equatable {
  /// Relative to the volume's root; empty for the root.
  public var path: String
  public var pathBase64: String?
  public var total: InventorySum
  public var directories: Int64
  /// Directories that were never listed: what is in them is counted nowhere.
  public var unlistedDirectories: Int64
  /// Largest first.
  public var areas: [InventoryArea]
  public var categories: [InventoryCategory]
  /// Files that are in no backup, by reason.
  public var excluded: [InventoryExclusion]
  /// The largest files, the first 20.
  public var largest: [InventoryFile]
  public var untouched: InventoryUntouched
  public var moved: InventoryMoves
  public var repeated: InventoryRepeats
  /// What directories hold, down to three levels: for a picture. The first 1,000.
  public var tree: [InventoryDirectory]

  enum CodingKeys: String, CodingKey {
    case path, total, directories, areas, categories, excluded, largest, untouched, moved, repeated, tree
    case pathBase64 = "path_b64"
    case unlistedDirectories = "unlisted_directories"
  }

  public init(
    path: [UInt8], total: InventorySum, directories: Int64, unlistedDirectories: Int64, areas: [InventoryArea],
    categories: [InventoryCategory], excluded: [InventoryExclusion], largest: [InventoryFile],
    untouched: InventoryUntouched, moved: InventoryMoves, repeated: InventoryRepeats, tree: [InventoryDirectory]
  ) {
    (self.path, pathBase64) = WirePath.split(path)
    self.total = total
    self.directories = directories
    self.unlistedDirectories = unlistedDirectories
    self.areas = areas
    self.categories = categories
    self.excluded = excluded
    self.largest = largest
    self.untouched = untouched
    self.moved = moved
    self.repeated = repeated
    self.tree = tree
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}

/// Files added up; sizes in bytes.
public struct InventorySum: Codable, Sendable, Equatable {
  public var files: Int64
  /// st_size, whether the content is here or not.
  public var storedBytes: Int64
  /// What content takes here, in whole pages.
  public var residentBytes: Int64
  /// st_size of what is dataless, wholly or partly.
  public var datalessBytes: Int64
  /// Written to on the volume, and nowhere else.
  public var dirtyBytes: Int64
  /// What would go with its name if room were short.
  public var purgeableBytes: Int64
  /// What could be evicted.
  public var evictableBytes: Int64
  /// st_size of what a backup has.
  public var backupBytes: Int64
  /// st_size of what counts to "Documents & Data".
  public var countedBytes: Int64

  enum CodingKeys: String, CodingKey {
    case files
    case storedBytes = "stored_bytes"
    case residentBytes = "resident_bytes"
    case datalessBytes = "dataless_bytes"
    case dirtyBytes = "dirty_bytes"
    case purgeableBytes = "purgeable_bytes"
    case evictableBytes = "evictable_bytes"
    case backupBytes = "backup_bytes"
    case countedBytes = "counted_bytes"
  }

  public init(
    files: Int64, storedBytes: Int64, residentBytes: Int64, datalessBytes: Int64, dirtyBytes: Int64,
    purgeableBytes: Int64, evictableBytes: Int64, backupBytes: Int64, countedBytes: Int64
  ) {
    self.files = files
    self.storedBytes = storedBytes
    self.residentBytes = residentBytes
    self.datalessBytes = datalessBytes
    self.dirtyBytes = dirtyBytes
    self.purgeableBytes = purgeableBytes
    self.evictableBytes = evictableBytes
    self.backupBytes = backupBytes
    self.countedBytes = countedBytes
  }
}
