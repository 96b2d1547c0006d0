import DatalessCore

/// The changed files of a catalog and what was made on the volume, by the directories in which callers see them. Of
/// other directories only those on the way are in it.
struct ExportTree {
  struct Entry {
    let name: [UInt8]
    let row: ItemRow
    /// How many names the item has.
    var names = 1
  }

  struct Directory {
    var parent: Int64 = 0
    var entry: Entry
    /// Directories in it, in the order of their names.
    var directories: [Int64] = []
    /// Everything else in it, in the order of the names.
    var entries: [Entry] = []
  }

  private(set) var directories: [Int64: Directory] = [:]
  /// Entries and directories but the root.
  private(set) var count = 0
  /// Directories of the store that have no row, by the one that they are in.
  private var unknown: [Int64: [[UInt8]: Int64]] = [:]
  private var unknownCount: Int64 = 0

  private enum Way {
    case found
    /// Callers do not see it, and that is no damage.
    case unseen
    case damaged(String)
  }

  init(_ connection: CatalogConnection, _ report: inout StateExport.Report) throws {
    let root = try connection.item(ItemRow.root) ?? ItemRow(id: ItemRow.root, place: nil, inode: 0)
    directories[ItemRow.root] = Directory(entry: Entry(name: [], row: root))
    var rows: [ItemRow] = []
    try connection.forEach("SELECT \(ItemRow.columns) FROM item WHERE id <> 1") { row in
      do {
        let item = try ItemRow(row)
        if item.record.isDirty || !item.isOfStore { rows.append(item) }
      } catch let damage as Damage {
        report.skip(item: try row.integer(0), damage)
      }
    }
    var ways: [Int64: Way] = [ItemRow.root: .found]
    for row in rows {
      do {
        try add(row, connection, ways: &ways, report: &report)
      } catch let damage as Damage {
        report.skip(item: row.id, damage)
      }
    }
    sort()
  }

  private mutating func add(
    _ row: ItemRow, _ connection: CatalogConnection, ways: inout [Int64: Way], report: inout StateExport.Report
  ) throws {
    guard row.kind != .directory, row.kind != nil else {
      if case .damaged(let reason) = try find(row.id, connection, ways: &ways) { throw Damage(reason) }
      return
    }
    var names = try connection.namesSeen(of: row)
    if row.record.isDirty, row.place != nil {
      // A name that is damaged does not keep the others from coming out.
      do {
        try addStoreNames(of: row, to: &names, connection, ways: &ways)
      } catch let damage as Damage {
        report.skip(item: row.id, damage)
      }
    }
    if names.isEmpty, try !connection.isUnlinked(row) {
      guard row.awaitsName else { throw Damage("it has no name") }
      // As `check` would call it, if it had no other names to wait for.
      names = [(ItemRow.root, try FoundFiles(connection: connection) { _ in nil }.name(for: row))]
    }
    for (directory, name) in names {
      switch try find(directory, connection, ways: &ways) {
      case .found:
        directories[directory]?.entries.append(Entry(name: name, row: row, names: names.count))
        count += 1
      case .unseen: break
      case .damaged(let reason): report.skip(item: row.id, Damage(reason))
      }
    }
  }

  /// Adds the names that the store has for a file beside its place.
  private mutating func addStoreNames(
    of row: ItemRow, to names: inout [(directory: Int64, name: [UInt8])], _ connection: CatalogConnection,
    ways: inout [Int64: Way]
  ) throws {
    let keys = try connection.storeNames(of: row.id)
    guard !keys.isEmpty, let place = row.place else { return }
    // Callers do not find it in a directory that the store has no more, if they do by another name of the store's.
    let isLost = try CatalogSearch(connection).key(of: row) == nil
    var isElsewhere = false
    for key in keys {
      guard let name = try nameSeen(key, of: row, connection, ways: &ways) else { continue }
      isElsewhere = true
      if !names.contains(where: { $0 == name }) { names.append(name) }
    }
    if isLost, isElsewhere, try connection.name(place.name, in: place.parent, .made)?.item != row.id {
      names.removeAll { $0 == (place.parent, place.name) }
    }
  }

  /// Adds a directory and those above it. Each is looked for once.
  private mutating func find(
    _ start: Int64, _ connection: CatalogConnection, ways: inout [Int64: Way]
  ) throws -> Way {
    var climbed: [(parent: Int64, entry: Entry)] = []
    var onWay: Set<Int64> = []
    var id = start
    var way = ways[id]
    while way == nil {
      if !onWay.insert(id).inserted {
        way = .damaged("a directory is in itself")
      } else if let row = try connection.item(id) {
        if let (parent, name) = try connection.namesSeen(of: row).first {
          climbed.append((parent, Entry(name: name, row: row)))
          id = parent
          way = ways[id]
        } else {
          way = try connection.isUnlinked(row) ? .unseen : .damaged("its directory has no name")
          ways[id] = way
        }
      } else {
        way = .damaged("its directory is missing")
        ways[id] = way
      }
    }
    for (parent, entry) in climbed.reversed() {
      ways[entry.row.id] = way
      guard case .found = way else { continue }
      directories[entry.row.id] = Directory(parent: parent, entry: entry)
      directories[parent]?.directories.append(entry.row.id)
      count += 1
    }
    return way ?? .unseen
  }

  /// Where callers see one of the names that the store has for a file beside its place; nil where they do not. The
  /// directories on the way to it may have no rows, where nothing else in them is known.
  private mutating func nameSeen(
    _ key: [UInt8], of row: ItemRow, _ connection: CatalogConnection, ways: inout [Int64: Way]
  ) throws -> (directory: Int64, name: [UInt8])? {
    var components = try SavedName.components(of: key)
    guard let name = components.popLast() else { return nil }
    var directory = ItemRow.root
    for component in components {
      guard case .found = try find(directory, connection, ways: &ways) else { return nil }
      let place = ItemRow.Place(parent: directory, name: component)
      if let found = try connection.item(at: place) {
        guard found.kind == .directory || found.kind == nil else { return nil }
        directory = found.id
      } else {
        // What was made here stands before it.
        guard try connection.name(component, in: directory, .hidden) == nil,
          try connection.name(component, in: directory, .made) == nil
        else { return nil }
        directory = addUnknown(place, ways: &ways)
      }
    }
    // By now the store may have another file there.
    guard try connection.name(name, in: directory, .hidden) == nil,
      try connection.item(at: ItemRow.Place(parent: directory, name: name)).map({ $0.id == row.id }) ?? true
    else { return nil }
    return (directory, name)
  }

  /// A directory of the store of which the catalog has no row: its number is none of an item's.
  private mutating func addUnknown(_ place: ItemRow.Place, ways: inout [Int64: Way]) -> Int64 {
    if let known = unknown[place.parent]?[place.name] { return known }
    unknownCount += 1
    let id = -unknownCount
    unknown[place.parent, default: [:]][place.name] = id
    ways[id] = .found
    let entry = Entry(name: place.name, row: ItemRow(id: id, place: place, inode: 0))
    directories[id] = Directory(parent: place.parent, entry: entry)
    directories[place.parent]?.directories.append(id)
    count += 1
    return id
  }

  private mutating func sort() {
    for (id, directory) in directories {
      var directory = directory
      directory.entries.sort { $0.name.lexicographicallyPrecedes($1.name) }
      directory.directories.sort { left, right in
        (directories[left]?.entry.name ?? []).lexicographicallyPrecedes(directories[right]?.entry.name ?? [])
      }
      directories[id] = directory
    }
  }
}

extension CatalogConnection {
  /// Where callers see an item: the names that were made on the volume, and the store's, unless it is hidden. Of a
  /// directory the first one counts.
  func namesSeen(of row: ItemRow) throws -> [(directory: Int64, name: [UInt8])] {
    var seen: [(directory: Int64, name: [UInt8])] = []
    for name in try names(of: row.id) where name.layer == .made { seen.append((name.directory, name.name)) }
    if let place = row.place, try name(place.name, in: place.parent, .hidden) == nil {
      seen.append((place.parent, place.name))
    }
    return seen
  }

  /// Whether an item has no name because its last one was removed here.
  func isUnlinked(_ row: ItemRow) throws -> Bool {
    if row.place != nil { return true }
    return try first("SELECT 1 FROM orphan WHERE item = ?", .integer(row.id)) { _ throws in true } ?? false
  }
}
