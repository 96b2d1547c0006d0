/// What lies in one area, of one app where the area's path has a `*`.
public struct InventoryArea: Codable, Sendable, Equatable {
  /// Absent for what lies in no area.
  public var area: String?
  /// `documents`, `support`, `caches`, `temporary` or `offline`; absent for what lies in no area.
  public var category: String?
  public var app: String?
  public var appBase64: String?
  /// Whether a backup has it, unless a mark says otherwise.
  public var isBackedUp: Bool
  /// Whether it is purged when room is short.
  public var isPurged: Bool
  /// Whether it counts to "Documents & Data".
  public var isCounted: Bool
  public var sum: InventorySum

  enum CodingKeys: String, CodingKey {
    case area, category, app, sum
    case appBase64 = "app_b64"
    case isBackedUp = "backup"
    case isPurged = "purge"
    case isCounted = "counted"
  }

  public init(
    area: String?, category: String?, app: [UInt8]?, isBackedUp: Bool, isPurged: Bool, isCounted: Bool,
    sum: InventorySum
  ) {
    self.area = area
    self.category = category
    (self.app, appBase64) = app.map { WirePath.split($0) } ?? (nil, nil)
    self.isBackedUp = isBackedUp
    self.isPurged = isPurged
    self.isCounted = isCounted
    self.sum = sum
  }

  public var appBytes: [UInt8]? { app.map { WirePath.bytes($0, appBase64) } }
}

/// What is of one category.
public struct InventoryCategory: Codable, Sendable, Equatable {
  /// Absent for what lies in no area.
  public var category: String?
  public var sum: InventorySum

  public init(category: String?, sum: InventorySum) {
    self.category = category
    self.sum = sum
  }
}

/// Files that are in no backup for one reason.
public struct InventoryExclusion: Codable, Sendable, Equatable {
  /// `area`, `mark`, `directory` (one above bears a mark) or `unknown` (the store did not say).
  public var reason: String
  public var files: Int64
  public var bytes: Int64

  public init(reason: String, files: Int64, bytes: Int64) {
    self.reason = reason
    self.files = files
    self.bytes = bytes
  }
}

/// One file.
public struct InventoryFile: Codable, Sendable, Equatable {
  /// Relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  public var sizeBytes: Int64
  public var residentBytes: Int64
  public var isDirty: Bool
  /// Absent for what lies in no area.
  public var area: String?
  public var category: String?
  /// Why its name would go if room were short: `temporary` or `cache`; absent if it would not.
  public var purge: String?
  /// `included`, or why a backup has it not, as `reason` of `excluded`.
  public var backup: String
  public var isCounted: Bool

  enum CodingKeys: String, CodingKey {
    case path, area, category, purge, backup
    case pathBase64 = "path_b64"
    case sizeBytes = "size_bytes"
    case residentBytes = "resident_bytes"
    case isDirty = "dirty"
    case isCounted = "counted"
  }

  public init(
    path: [UInt8], sizeBytes: Int64, residentBytes: Int64, isDirty: Bool, area: String? = nil,
    category: String? = nil, purge: String? = nil, backup: String, isCounted: Bool
  ) {
    (self.path, pathBase64) = WirePath.split(path)
    self.sizeBytes = sizeBytes
    self.residentBytes = residentBytes
    self.isDirty = isDirty
    self.area = area
    self.category = category
    self.purge = purge
    self.backup = backup
    self.isCounted = isCounted
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}

/// What no process has opened since the mount, or since a mark.
public struct InventoryUntouched: Codable, Sendable, Equatable {
  /// The mark's label; absent: since the mount.
  public var since: String?
  public var files: Int64
  public var bytes: Int64
  /// The first 20.
  public var largest: [InventoryFile]

  public init(since: String?, files: Int64, bytes: Int64, largest: [InventoryFile]) {
    self.since = since
    self.files = files
    self.bytes = bytes
    self.largest = largest
  }
}

/// What came into its area by a rename since the mount.
public struct InventoryMoves: Codable, Sendable, Equatable {
  public var count: Int64
  /// The first 20.
  public var items: [InventoryMove]

  public init(count: Int64, items: [InventoryMove]) {
    self.count = count
    self.items = items
  }
}

/// An item that came into another area, with all that is in it.
public struct InventoryMove: Codable, Sendable, Equatable {
  public var path: String
  public var pathBase64: String?
  /// The area it was in before, and is in; absent for none.
  public var from: String?
  public var to: String?

  enum CodingKeys: String, CodingKey {
    case path, from, to
    case pathBase64 = "path_b64"
  }

  public init(path: [UInt8], from: String?, to: String?) {
    (self.path, pathBase64) = WirePath.split(path)
    self.from = from
    self.to = to
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}

/// Equal content that is stored more than once.
public struct InventoryRepeats: Codable, Sendable, Equatable {
  /// Files beyond the first of each group, and what they take.
  public var files: Int64
  public var bytes: Int64
  /// The largest, the first 20.
  public var groups: [InventoryGroup]
  /// Files with the size of another one that were not compared, because their content is not here.
  public var unknownFiles: Int64
  public var unknownBytes: Int64

  enum CodingKeys: String, CodingKey {
    case files, bytes, groups
    case unknownFiles = "unknown_files"
    case unknownBytes = "unknown_bytes"
  }

  public init(files: Int64, bytes: Int64, groups: [InventoryGroup], unknownFiles: Int64, unknownBytes: Int64) {
    self.files = files
    self.bytes = bytes
    self.groups = groups
    self.unknownFiles = unknownFiles
    self.unknownBytes = unknownBytes
  }
}

/// Files with the same content.
public struct InventoryGroup: Codable, Sendable, Equatable {
  public var sizeBytes: Int64
  /// The first 20.
  public var paths: [WirePath]

  enum CodingKeys: String, CodingKey {
    case paths
    case sizeBytes = "size_bytes"
  }

  public init(sizeBytes: Int64, paths: [WirePath]) {
    self.sizeBytes = sizeBytes
    self.paths = paths
  }
}

/// What a directory holds, with all that is below it.
public struct InventoryDirectory: Codable, Sendable, Equatable {
  public var path: String
  public var pathBase64: String?
  public var storedBytes: Int64
  public var residentBytes: Int64
  /// Of the directory itself; absent for none.
  public var category: String?

  enum CodingKeys: String, CodingKey {
    case path, category
    case pathBase64 = "path_b64"
    case storedBytes = "stored_bytes"
    case residentBytes = "resident_bytes"
  }

  public init(path: [UInt8], storedBytes: Int64, residentBytes: Int64, category: String?) {
    (self.path, pathBase64) = WirePath.split(path)
    self.storedBytes = storedBytes
    self.residentBytes = residentBytes
    self.category = category
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}
