import DatalessCore

/// The names under which the store has a file that was written to on the volume, beside its place. They are kept as
/// attributes of the item, which no program sees: the name is made of a sum of the store's key, the value is the key.
extension CatalogConnection {
  private static let prefix = "dataless.name."
  /// The first bytes that come after all with the prefix.
  private static let end = "dataless.name/"
  /// LIMIT: names of one file.
  static let storeNamesMax = 1024

  /// - Parameter key: Of the store: a path.
  func addStoreName(_ key: [UInt8], of item: Int64) throws {
    guard key.count <= ItemRecord.tokenMax, try storeNameCount(of: item) < Self.storeNamesMax else { return }
    let values: [SQLValue] = [.integer(item), .bytes(Self.name(of: key)), .bytes(key)]
    try run(
      "INSERT OR REPLACE INTO attribute(item, name, value, sum) VALUES(?, ?, ?, ?)", values[0], values[1], values[2],
      .integer(Checksum.of(values)))
  }

  func removeStoreName(_ key: [UInt8], of item: Int64) throws {
    try run("DELETE FROM attribute WHERE item = ? AND name = ?", .integer(item), .bytes(Self.name(of: key)))
  }

  /// Names that a file has, if those are several. Of one that had several, and has lost the others, the last one is its
  /// place: it is there, or nowhere. The key itself does not follow a directory that the store has renamed.
  ///
  /// - Parameter place: The store's key of its place; nil if the store has that no more.
  static func severalNames(_ names: [[UInt8]], _ place: [UInt8]?, listed: ItemAttributes?) -> [[UInt8]] {
    guard let place, names.count == 1 else { return names }
    return names[0] == place || listed?.linkCount == 1 ? [] : names
  }

  /// Its content is the store's again, or is not here.
  func removeStoreNames(of item: Int64) throws {
    try run(
      "DELETE FROM attribute WHERE item = ? AND name >= ? AND name < ?", .integer(item), Self.first, Self.last)
  }

  /// The store's keys. - Throws: A key is none: somebody has made it.
  func storeNames(of item: Int64) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    try forEach(
      "SELECT name, value, sum FROM attribute WHERE item = ? AND name >= ? AND name < ? LIMIT \(Self.storeNamesMax)",
      .integer(item), Self.first, Self.last
    ) { row in
      let key = try row.bytes(1)
      try row.checkSum([.integer(item), .bytes(try row.bytes(0)), .bytes(key)], in: 2)
      keys.append(key)
    }
    return keys
  }

  /// Whether an attribute is a name under which the store has its item.
  static func isStoreName(_ attribute: [UInt8]) -> Bool { attribute.starts(with: prefix.utf8) }

  private func storeNameCount(of item: Int64) throws -> Int64 {
    try first(
      "SELECT COUNT(*) FROM attribute WHERE item = ? AND name >= ? AND name < ?", .integer(item), Self.first, Self.last
    ) { row throws in try row.integer(0) } ?? 0
  }

  private static var first: SQLValue { .bytes(Array(prefix.utf8)) }
  private static var last: SQLValue { .bytes(Array(end.utf8)) }

  private static func name(of key: [UInt8]) -> [UInt8] {
    let sum = UInt64(bitPattern: Checksum.of([.bytes(key)]))
    return Array("\(prefix)\(String(sum, radix: 16))".utf8)
  }
}

extension CatalogWriter {
  /// The store has a file that is dirty under a further name, or has it there no more.
  mutating func noteStoreName(
    _ key: [UInt8], isThere: Bool, of item: ChangedItem, in connection: CatalogConnection
  ) throws {
    guard isThere else {
      let kept = try item.binding == nil ? keptElsewhere(item, than: key, connection) : nil
      guard let id = try kept ?? items.find(item, connection)?.id else { return }
      try connection.removeStoreName(key, of: id)
      try forgetShared([key], connection)
      if item.binding == nil, let row = try connection.item(id) { try items.noteNowhere(row, connection) }
      return
    }
    guard let row = try items.find(item, connection) else { return }
    guard row.record.isDirty else { return }
    try connection.addStoreName(key, of: row.id)
    let shared = item.binding.map {
      ChangedItem(item.node, inode: item.inode, binding: StoreBinding(key: key, version: $0.version))
    }
    guard let place = try shared.flatMap({ try items.place(of: $0, connection) }), place != row.place else { return }
    try connection.add(SharedName(place.name, item: row.id), in: place.parent)
  }

  /// The store has a file no more that was removed here: its place is another's.
  mutating func noteGone(_ item: ChangedItem, in connection: CatalogConnection) throws {
    guard let id = items.item(of: item.node), try connection.storeNames(of: id).isEmpty,
      let row = try items.find(item, connection)
    else { return }
    try items.noteNowhere(row, connection)
  }

  /// The row of a written file of which nothing but a lost name was met, if it is kept by another one of its names: it
  /// has that still, in a directory into which nobody has looked.
  private func keptElsewhere(
    _ item: ChangedItem, than key: [UInt8], _ connection: CatalogConnection
  ) throws -> Int64? {
    guard let id = items.item(of: item.node), let row = try connection.item(id), row.record.isDirty,
      let place = row.place
    else { return nil }
    guard let other = try CatalogSearch(connection).key(of: row) else {
      // A directory that it lies in is the volume's own by now, and what is in that has no key: it is found there by
      // its place, unless that is the name that was lost.
      return try connection.name(place.name, in: place.parent, .hidden)?.item == id ? nil : id
    }
    guard other != key else { return nil }
    if try CatalogSearch(connection).isTold(SharedName(place.name, item: id), of: row) { return id }
    // It was written when that was its only name, and nobody has removed that here.
    return try connection.storeNames(of: id).isEmpty && connection.name(place.name, in: place.parent, .hidden) == nil
      ? id : nil
  }

  /// The store has files no more under keys, or what was written to them is gone.
  private mutating func forgetShared(_ keys: [[UInt8]], _ connection: CatalogConnection) throws {
    for key in keys {
      guard let name = key.split(separator: UInt8(ascii: "/")).last.map(Array.init) else { continue }
      let directory = Array(key.dropLast(key.count == name.count ? name.count : name.count + 1))
      guard let row = try CatalogSearch(connection).item(at: directory) else { continue }
      try connection.removeSharedName(name, in: row.id)
      try items.deleteIfEmpty(row.id, connection)
    }
  }

  /// A directory is the volume's own: the store has no files in it, nor below it, under any key. What callers find by
  /// nothing but a name in it has that as its place.
  mutating func forgetKeys(below directory: Int64, _ connection: CatalogConnection) throws {
    let search = CatalogSearch(connection)
    var (left, seen) = ([directory], Set([directory]))
    while let id = left.popLast() {
      for (name, var row) in try search.onlyShared(in: id, below: directory) {
        try connection.removeSharedName(name, in: id)
        row.place = ItemRow.Place(parent: id, name: name)
        try row.save(connection)
      }
      var files = try connection.sharedNames(in: id).map(\.item)
      for child in try connection.items(in: id, after: .min, limit: .max) {
        if child.isDirectoryOfStore {
          if seen.insert(child.id).inserted { left.append(child.id) }
        } else if child.record.isDirty {
          files.append(child.id)
        }
      }
      for file in files {
        let place = try search.placeInStore(of: file)
        for key in try connection.storeNames(of: file) where try !search.leads(key, to: file) {
          // As it was told before SOURCE has renamed a directory on the way.
          if let place, SharedName(place, item: file).isEnd(of: key) { continue }
          try connection.removeStoreName(key, of: file)
        }
      }
    }
  }

  /// What was written to a file is gone: under which other names the store has it is of no use.
  mutating func forgetStoreNames(of item: Int64, _ connection: CatalogConnection) throws {
    let keys = try connection.storeNames(of: item)
    try connection.removeStoreNames(of: item)
    try forgetShared(keys, connection)
  }
}
