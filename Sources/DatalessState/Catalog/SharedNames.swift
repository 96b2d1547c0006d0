import DatalessCore

/// Names under which the store has a file that was written to on the volume, beside its place, kept with the
/// directories that they are in: from a listing that has such a name no more, or has another item there, nobody would
/// know of the file. They are attributes that no program sees: the name is made of a sum of the file's name, the value
/// is the number of its item, and the name.
struct SharedName {
  let name: [UInt8]
  let item: Int64

  private static let prefix = "dataless.shared."
  /// The first bytes that come after all with the prefix.
  private static let end = "dataless.shared/"

  init(_ name: [UInt8], item: Int64) {
    self.name = name
    self.item = item
  }

  fileprivate init?(value: [UInt8]) {
    guard value.count > 8 else { return nil }
    item = value.prefix(8).reversed().reduce(0) { $0 << 8 | Int64($1) }
    name = Array(value.dropFirst(8))
  }

  /// Whether a key of the store ends with the name.
  func isEnd(of key: [UInt8]) -> Bool { key == name || key.suffix(name.count + 1) == ([UInt8(ascii: "/")] + name)[...] }

  fileprivate var value: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: item >> ($0 * 8)) } + name }
  fileprivate static var first: SQLValue { .bytes(Array(prefix.utf8)) }
  fileprivate static var last: SQLValue { .bytes(Array(end.utf8)) }

  fileprivate static func attribute(of name: [UInt8]) -> SQLValue {
    let sum = UInt64(bitPattern: Checksum.of([.bytes(name)]))
    return .bytes(Array("\(prefix)\(String(sum, radix: 16))".utf8))
  }
}

extension CatalogConnection {
  func add(_ shared: SharedName, in directory: Int64) throws {
    let values: [SQLValue] = [.integer(directory), SharedName.attribute(of: shared.name), .bytes(shared.value)]
    try run(
      "INSERT OR REPLACE INTO attribute(item, name, value, sum) VALUES(?, ?, ?, ?)", values[0], values[1], values[2],
      .integer(Checksum.of(values)))
  }

  func removeSharedName(_ name: [UInt8], in directory: Int64) throws {
    try run(
      "DELETE FROM attribute WHERE item = ? AND name = ?", .integer(directory), SharedName.attribute(of: name))
  }

  /// - Throws: A sum is wrong.
  func sharedNames(in directory: Int64) throws -> [SharedName] {
    var names: [SharedName] = []
    try forEach(
      "SELECT name, value, sum FROM attribute WHERE item = ? AND name >= ? AND name < ?", .integer(directory),
      SharedName.first, SharedName.last
    ) { row in
      let value = try row.bytes(1)
      try row.checkSum([.integer(directory), .bytes(try row.bytes(0)), .bytes(value)], in: 2)
      if let name = SharedName(value: value) { names.append(name) }
    }
    return names
  }
}

extension CatalogSearch {
  /// Files that were written to, and that the store has in a directory, too, as far as that is still so.
  func sharedFiles(in directory: ItemRow) throws -> [(name: [UInt8], row: ItemRow)] {
    var found: [(name: [UInt8], row: ItemRow)] = []
    for shared in try connection.sharedNames(in: directory.id) {
      // The number may be another item's by now.
      guard let row = try connection.item(shared.item), row.record.isDirty, row.record.version != nil,
        row.place != ItemRow.Place(parent: directory.id, name: shared.name), try key(of: directory) != nil,
        try isTold(shared, of: row)
      else { continue }
      found.append((shared.name, row))
    }
    return found
  }

  /// Files that were written to, and that callers find by nothing but the names that the store has for them in a
  /// directory, or had when it lost that: their places were removed here, or lie in what was, or are other items'.
  ///
  /// - Parameter top: Another directory that callers find, although it has no name yet. Default: none.
  func onlyShared(in directory: Int64, below top: Int64 = ItemRow.root) throws -> [(name: [UInt8], row: ItemRow)] {
    var found: [(name: [UInt8], row: ItemRow)] = []
    for shared in try connection.sharedNames(in: directory) {
      guard let row = try connection.item(shared.item), row.record.isDirty, row.record.version != nil,
        row.place != ItemRow.Place(parent: directory, name: shared.name), try !connection.isOrphan(row.id),
        try isTold(shared, of: row) || hasNoKey(directory),
        try connection.item(at: ItemRow.Place(parent: directory, name: shared.name)) == nil,
        try connection.name(shared.name, in: directory, .hidden)?.item != row.id,
        try !isSeen(row, from: [ItemRow.root, directory, top])
      else { continue }
      found.append((shared.name, row))
    }
    return found
  }

  /// Whether the store has a file by a name, as far as is known. In which directory is told by who keeps the name: the
  /// key may be the one that this had before SOURCE has renamed it.
  func isTold(_ shared: SharedName, of row: ItemRow) throws -> Bool {
    try connection.storeNames(of: row.id).contains { shared.isEnd(of: $0) }
  }

  /// What a file is called where the store has its place; nil if it has none there.
  func placeInStore(of file: Int64) throws -> [UInt8]? {
    guard let row = try connection.item(file), let place = row.place, try key(of: row) != nil else { return nil }
    return place.name
  }

  /// Whether no keys are kept of what is in a directory, which the store has no more: what callers do not see would
  /// have no name at all.
  private func hasNoKey(_ directory: Int64) throws -> Bool {
    try connection.item(directory).map { try key(of: $0) == nil } ?? false
  }

  /// Whether callers find an item, from one of some directories, by its place, or by a name that it was given on the
  /// volume, and so all directories that it lies in.
  private func isSeen(_ row: ItemRow, from tops: [Int64]) throws -> Bool {
    var row = row
    for _ in 0..<Self.depthMax where !tops.contains(row.id) {
      guard let found = try directory(of: row) else { return false }
      let isMade = try connection.name(found.name, in: found.item, .made)?.item == row.id
      if try !isMade && connection.name(found.name, in: found.item, .hidden)?.item == row.id { return false }
      guard let above = try connection.item(found.item) else { return false }
      row = above
    }
    return true
  }

  /// Whether a key of the store leads to a file: to its place, or to a name of it that is kept with a directory.
  func leads(_ key: [UInt8], to file: Int64) throws -> Bool {
    var names = try SavedName.components(of: key)
    guard let name = names.popLast() else { return false }
    var directory = ItemRow.root
    for name in names {
      guard let row = try connection.item(at: ItemRow.Place(parent: directory, name: name)) else { return false }
      directory = row.id
    }
    if try connection.item(at: ItemRow.Place(parent: directory, name: name))?.id == file { return true }
    return try connection.sharedNames(in: directory).contains { $0.name == name && $0.item == file }
  }

  /// A file is about to have another place: the one that it had is a name that it has, too, unless that was told to be
  /// gone.
  func share(_ row: ItemRow, insteadOf place: ItemRow.Place) throws {
    try connection.removeSharedName(place.name, in: place.parent)
    guard row.record.isDirty, let former = row.place, let key = try key(of: row),
      try connection.storeNames(of: row.id).contains(key)
    else { return }
    try connection.add(SharedName(former.name, item: row.id), in: former.parent)
  }
}
