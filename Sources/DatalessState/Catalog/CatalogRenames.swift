import DatalessCore

/// Directories of the catalog that the store has under another key than they are kept under: it has renamed them while
/// nobody looked. A number is no proof, because it is given again: the time of birth is compared, too, and where the
/// store has none, nothing is found.
struct CatalogRenames {
  private let connection: CatalogConnection

  init(_ connection: CatalogConnection) { self.connection = connection }

  /// The row of a directory that the store has listed, if it is kept under another key; nil if not, or if that is not
  /// sure.
  ///
  /// - Parameter isInUse: Whether a row is a node of the run under way, which tells itself where it is.
  func row(of directory: ChangedItem, isInUse: (Int64) -> Bool) throws -> (row: ItemRow, key: [UInt8])? {
    guard let binding = directory.binding, binding.version.kind == .directory, binding.version.birth != 0 else {
      return nil
    }
    var found: (row: ItemRow, key: [UInt8])?
    for row in try connection.items(inode: directory.inode) {
      guard row.id != ItemRow.root, row.kind == .directory,
        row.record.version.map({ $0.isSameItem(as: binding.version) }) ?? false, !isInUse(row.id),
        let key = try key(of: row)
      else { continue }
      // It is where it was, or it is kept twice: then which one it is is not known.
      let isElsewhere =
        try key != binding.key || CatalogSearch(connection).isInOthers(row, than: directory, isInUse: isInUse)
      guard isElsewhere, found == nil else { return nil }
      found = (row, key)
    }
    return found
  }

  /// Whether a directory that the store has not where it was is to be waited for: with it metadata that were set, or
  /// names that were removed, would go. Not if something was moved out of it: that has lost its place in the store with
  /// the directory, and would be missing there.
  func isAwaited(_ directory: Int64) throws -> Bool {
    guard let top = try connection.item(directory), let version = top.record.version, version.birth != 0 else {
      return false
    }
    var (left, seen) = ([directory], Set([directory]))
    var hasSettings = top.record.attributes != nil
    while let id = left.popLast() {
      var items: [Int64] = []
      try connection.forEachName(in: id) { items.append($0.item) }
      hasSettings = try hasSettings || !items.isEmpty || connection.hasAttributes(id)
      for child in try connection.items(in: id, after: .min, limit: .max) {
        items.append(child.id)
        hasSettings = try hasSettings || child.record.attributes != nil || connection.hasAttributes(child.id)
        if child.kind == .directory || child.kind == nil, seen.insert(child.id).inserted { left.append(child.id) }
      }
      for item in items where try connection.hasMadeName(item) { return false }
    }
    return hasSettings
  }

  /// The store's key of a directory that callers find by that; nil for what was moved or removed here, or lies in what
  /// was removed: it stays what it is.
  private func key(of row: ItemRow) throws -> [UInt8]? {
    guard try connection.names(of: row.id).isEmpty else { return nil }
    var names: [[UInt8]] = []
    var row = row
    while row.id != ItemRow.root {
      guard let place = row.place, names.count < CatalogSearch.depthMax, try !connection.isOrphan(row.id) else {
        return nil
      }
      let isHidden = try connection.name(place.name, in: place.parent, .hidden) != nil
      // What lies in a directory that was moved here is where the store has it.
      if isHidden, try names.isEmpty || !connection.hasMadeName(row.id) { return nil }
      names.append(place.name)
      guard let parent = try connection.item(place.parent) else { throw Damage("a place is in no directory") }
      row = parent
    }
    return Array(names.reversed().joined(separator: [UInt8(ascii: "/")]))
  }
}

extension CatalogWriter {
  /// A directory, and where it is to be.
  struct Renamed {
    let directory: ChangedItem
    var row: ItemRow
    let formerKey: [UInt8]
    fileprivate let place: ItemRow.Place
  }

  /// Gives directories that the store has renamed the places that they have now: all at once, because they may have
  /// changed places.
  ///
  /// - Returns: Those that have them.
  mutating func takeRenamed(_ directories: [ChangedItem], _ connection: CatalogConnection) throws -> [Renamed] {
    items.beginOperation()
    items.forgetPlaces()
    var taken: [Renamed] = []
    var rows: Set<Int64> = []
    let known = items.nodes
    for directory in directories {
      guard let (row, key) = try CatalogRenames(connection).row(of: directory, isInUse: { known.node(of: $0) != nil }),
        let place = try items.place(of: directory, connection), rows.insert(row.id).inserted
      else { continue }
      taken.append(Renamed(directory: directory, row: row, formerKey: key, place: place))
    }
    taken = try withoutHiding(taken, known, in: connection)
    for renamed in taken {
      var row = renamed.row
      row.place = nil
      try row.save(connection)
    }
    for index in taken.indices {
      if let former = try connection.item(at: taken[index].place) {
        try items.clear(taken[index].place, connection)
        if former.isDirectoryOfStore, try connection.item(former.id) != nil { try trashTree(former.id, connection) }
      }
      taken[index].row.place = taken[index].place
      taken[index].row.take(taken[index].directory)
      try taken[index].row.save(connection)
    }
    items.forgetPlaces()
    try items.endOperation(connection)
    return taken
  }

  /// Directories that the store has no more go with all that is kept in them. They have no place: with one that callers
  /// find they would be no removed trees to the next run.
  mutating func trashAbsent(_ directories: Set<Int64>, _ connection: CatalogConnection) throws {
    items.forgetPlaces()
    for directory in directories {
      guard var row = try connection.item(directory) else { continue }
      row.place = nil
      try row.save(connection)
      try trashTree(directory, connection)
    }
  }

  /// Those that take no place from a directory in which something was changed, and lie in none of their own.
  private func withoutHiding(
    _ renamed: [Renamed], _ known: KnownItems, in connection: CatalogConnection
  ) throws -> [Renamed] {
    let rows = Set(renamed.map(\.row.id))
    // Of one listing: all are in one directory.
    var parents: [Int64: Bool] = [:]
    var staying: Set<Int64> = []
    var moves: [PlacesInTurn.Move] = []
    for renamed in renamed {
      let parent = renamed.place.parent
      let isBelow = try parents[parent] ?? isIn(rows, parent, in: connection)
      parents[parent] = isBelow
      if isBelow { staying.insert(renamed.row.id) }
      let former = try connection.item(at: renamed.place)
      let occupant = former.flatMap { $0.isDirectoryOfStore ? $0.id : nil }
      moves.append(PlacesInTurn.Move(item: renamed.row.id, occupant: occupant))
    }
    let places = try PlacesInTurn(moves, staying: staying) { occupant in
      try known.node(of: occupant) != nil || CatalogSearch(connection).hasChanges(below: occupant, isGone: true)
    }
    return renamed.filter { !places.staying.contains($0.row.id) }
  }

  /// Whether a directory is one of some, or lies in one.
  private func isIn(_ rows: Set<Int64>, _ directory: Int64, in connection: CatalogConnection) throws -> Bool {
    var parent = directory
    for _ in 0..<CatalogSearch.depthMax {
      if rows.contains(parent) { return true }
      guard let next = try connection.item(parent)?.place?.parent else { return false }
      parent = next
    }
    return true
  }
}

extension CatalogConnection {
  fileprivate func hasAttributes(_ item: Int64) throws -> Bool {
    try first("SELECT 1 FROM attribute WHERE item = ? LIMIT 1", .integer(item)) { _ throws in true } ?? false
  }
}
