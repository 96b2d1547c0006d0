import DatalessCore
internal import DatalessStores

/// Looks below a directory for files that programs have written: those that go with it, because neither a name outside
/// of it nor, as far as that is known, another one in the store leads to them.
struct WritingSearch {
  private let connection: CatalogConnection
  private let content: DiskContentStore
  private var found = SavedWriting()
  private var directories: [(id: Int64, path: [UInt8])] = []
  /// Directories that were met: a table that somebody has changed may lead in a circle.
  private var met: Set<Int64> = []
  /// How many names of files with several were met.
  private var names: [Int64: Int] = [:]

  init(_ connection: CatalogConnection, _ content: DiskContentStore) {
    self.connection = connection
    self.content = content
  }

  mutating func run(below top: Int64) throws -> SavedWriting {
    directories = [(top, [])]
    met = [top]
    while let (id, path) = directories.popLast() {
      var made: [NameRow] = []
      try connection.forEachName(in: id) { name in if name.layer == .made { made.append(name) } }
      for name in made {
        if let row = try connection.item(name.item) { try look(at: row, path + name.name) }
      }
      var listed: [ItemRow] = []
      try connection.forEach("SELECT \(ItemRow.columns) FROM item WHERE parent = ?", .integer(id)) { found in
        let row = try ItemRow(found)
        if row.isDirectory || row.record.isDirty { listed.append(row) }
      }
      for row in listed {
        guard let name = row.place?.name, try connection.name(name, in: id, .hidden) == nil else { continue }
        try look(at: row, path + name)
      }
    }
    return found
  }

  private mutating func look(at row: ItemRow, _ path: [UInt8]) throws {
    guard !row.isDirectory else {
      if met.insert(row.id).inserted { directories.append((row.id, path + [UInt8(ascii: "/")])) }
      return
    }
    guard row.record.isDirty, let id = row.content else { return }
    names[row.id, default: 0] += 1
    guard try names[row.id] == connection.namesSeen(of: row).count, (row.record.listed?.linkCount ?? 1) <= 1 else {
      return
    }
    found.files += 1
    let (sum, overflows) = found.bytes.addingReportingOverflow((try? content.size(of: id)) ?? 0)
    found.bytes = overflows ? .max : sum
    if found.paths.count < RemovedItems.namedMax { found.paths.append(path) }
  }
}

extension ItemRow {
  fileprivate var isDirectory: Bool { kind == .directory || kind == nil }
}
