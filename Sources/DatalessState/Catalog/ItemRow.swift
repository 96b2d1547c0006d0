import DatalessCore

/// A row of the table `item`.
struct ItemRow: Equatable {
  static let root: Int64 = 1

  let id: Int64
  /// Where it is in the store: the item of its directory, and its name there; nil for what the store has not, or has no
  /// more, and for the root.
  var place: Place?
  /// st_ino; 0 for a directory of which nothing is known but what is in it.
  var inode: UInt64
  var content: ContentID?
  var record: ItemRecord

  struct Place: Equatable {
    var parent: Int64
    var name: [UInt8]
  }

  init(id: Int64, place: Place?, inode: UInt64, record: ItemRecord = ItemRecord()) {
    self.id = id
    self.place = place
    self.inode = inode
    self.record = record
  }

  /// Whether the store has it, or had it.
  var isOfStore: Bool { id == Self.root || place != nil || record.version != nil }

  /// Whether it is, or may be, a directory that the store has, or had.
  var isDirectoryOfStore: Bool { kind == nil || kind == .directory && isOfStore }

  /// What it is; nil for a directory of which nothing else is known.
  var kind: ItemKind? { record.attributes?.kind ?? record.version?.kind }

  /// It has content: if nothing was told of it, it is a file.
  mutating func beFile() {
    guard kind == nil else { return }
    record.attributes = .unknownFile(inode)
  }

  /// Metadata as they are on the volume, and in the store.
  mutating func set(_ attributes: ItemAttributes, listed: ItemAttributes?, of item: ChangedItem) {
    record.attributes = attributes
    record.listed = listed
    // What is kept of it is of the version that the engine has.
    take(item)
  }

  /// It is of the version that the store has of an item, and is called by the number of that: another one than before
  /// where a directory is one with what the store has in its place.
  mutating func take(_ item: ChangedItem) {
    guard let version = item.binding?.version, id != Self.root else { return }
    if let former = record.version, !former.isSameItem(as: version) {
      record.attributes?.device = version.device
      record.attributes?.inode = item.inode
      record.attributes?.birth = version.birth
    }
    (record.version, inode) = (version, item.inode)
  }

  // MARK: - As a row

  static let columns = "id, parent, name, inode, content, record, sum"

  private func values(_ record: [UInt8]) -> [SQLValue] {
    [
      .integer(id), SQLValue(place?.parent), SQLValue(place?.name), SQLValue(bits: inode),
      SQLValue(content.map { Int64(bitPattern: $0.rawValue) }), .bytes(record),
    ]
  }

  /// - Parameter row: With `columns`.
  init(_ row: SQLRow) throws(Damage) {
    id = try row.integer(0)
    inode = UInt64(bitPattern: try row.integer(3))
    content = try row.optionalInteger(4).map { ContentID(rawValue: UInt64(bitPattern: $0)) }
    let bytes = try row.bytes(5)
    record = try ItemRecord(decoding: bytes, home: row.home)
    switch (try row.optionalInteger(1), try row.optionalBytes(2)) {
    case (nil, nil): place = nil
    case (let parent?, let name?):
      try SavedName.check(name)
      guard id != Self.root else { throw Damage("the root has a name") }
      place = Place(parent: parent, name: name)
    default: throw Damage("half of a place is missing")
    }
    try row.checkSum(values(bytes), in: 6)
    guard content == nil || kind == .file else { throw Damage("what is no file has content") }
  }

  func save(_ connection: CatalogConnection) throws {
    let values = values(record.encoded(home: connection.home))
    try connection.run(
      "INSERT INTO item(\(Self.columns)) VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET"
        + " parent = excluded.parent, name = excluded.name, inode = excluded.inode, content = excluded.content,"
        + " record = excluded.record, sum = excluded.sum",
      values[0], values[1], values[2], values[3], values[4], values[5], .integer(Checksum.of(values)))
  }
}

extension CatalogConnection {
  func item(_ id: Int64) throws -> ItemRow? {
    try first("SELECT \(ItemRow.columns) FROM item WHERE id = ?", .integer(id)) { row throws in try ItemRow(row) }
  }

  func item(at place: ItemRow.Place) throws -> ItemRow? {
    try first(
      "SELECT \(ItemRow.columns) FROM item WHERE parent = ? AND name = ?", .integer(place.parent), .bytes(place.name)
    ) { row throws in try ItemRow(row) }
  }

  func item(with content: ContentID) throws -> ItemRow? {
    try first("SELECT \(ItemRow.columns) FROM item WHERE content = ?", SQLValue(bits: content.rawValue)) {
      row throws in try ItemRow(row)
    }
  }

  /// LIMIT: rows of one inode number that are looked at.
  func items(inode: UInt64) throws -> [ItemRow] {
    var found: [ItemRow] = []
    try forEach("SELECT \(ItemRow.columns) FROM item WHERE inode = ? LIMIT 64", SQLValue(bits: inode)) { row in
      found.append(try ItemRow(row))
    }
    return found
  }
}

extension ItemAttributes {
  /// A file of which nothing was told.
  fileprivate static func unknownFile(_ inode: UInt64) -> ItemAttributes {
    let time = Timestamp(seconds: 0, nanoseconds: 0)
    return ItemAttributes(
      device: 0, inode: inode, mode: 0o100600, linkCount: 1, uid: 0, gid: 0, specialDevice: 0, size: 0,
      blocks: 0, accessTime: time, modificationTime: time, changeTime: time)
  }
}
