import DatalessCore

/// Finds the rows of items that are named as the engine names them.
struct CatalogSearch {
  let connection: CatalogConnection

  init(_ connection: CatalogConnection) { self.connection = connection }

  /// The row of an item; nil if there is none.
  ///
  /// - Parameter isShared: Whether the store has it under several names: then a name that was not known before may have
  ///   been added to the one under which it was written. Default: no.
  func item(_ item: ChangedItem, isShared: Bool = false) throws -> ItemRow? {
    if item.node == .root { return try connection.item(ItemRow.root) }
    guard let binding = item.binding else {
      let found = try connection.items(inode: item.inode).filter { $0.place == nil }
      return found.first { !$0.isOfStore } ?? found.first
    }
    if let row = try self.item(at: binding.key), row.isSame(as: binding.version) { return row }
    // Its place was another: under a second name, or before it was renamed in the store. What was written, moved or
    // removed here stays with the name that it had there, beside what the store has under the new one.
    return try connection.items(inode: item.inode).first { row in
      guard row.record.version.map({ $0.isSameItem(as: binding.version) }) ?? false, try !connection.isOrphan(row.id)
      else { return false }
      // One that was removed here is another node, which the listing of its former place leads to.
      if row.kind == .directory {
        return try connection.names(of: row.id).isEmpty && !hasChanges(below: row.id)
      }
      // It goes with that, and what was set on it; but what was written to by several names is found by the others.
      if !row.mayHaveOtherNames, try isInRemovedTree(row), try !connection.hasMadeName(row.id) { return false }
      // With other bytes under another name it is one that came, beside one that went.
      guard row.record.isDirty || row.record.version?.hasBytes(of: binding.version) ?? false else { return false }
      if isShared && binding.version.birth != 0 { return true }
      return try !hasOneName(row) || !(row.record.isDirty || isHidden(row))
    }
  }

  /// Whether the store had an item under one name alone, as far as that is known: others may have been told after it
  /// was listed last.
  func hasOneName(_ row: ItemRow) throws -> Bool {
    try row.hasOneName && !(row.record.isDirty && connection.storeNames(of: row.id).count > 1)
  }

  /// Whether a row lies in other directories than an item, although by the same names: the store has put another one in
  /// the place of a directory on the way.
  ///
  /// - Parameter isInUse: Whether a row is a node, which tells itself that it has lost its place.
  func isInOthers(_ row: ItemRow, than item: ChangedItem, isInUse: (Int64) -> Bool) throws -> Bool {
    var parent = row.place?.parent
    for directory in item.directories {
      guard let id = parent, id != ItemRow.root, let row = try connection.item(id) else { return false }
      if !isInUse(id), row.record.version?.isSameItem(as: directory.version) == false { return true }
      parent = row.place?.parent
    }
    return false
  }

  /// Whether a row lies in a directory that was removed here, and is not emptied yet.
  private func isInRemovedTree(_ row: ItemRow) throws -> Bool {
    var parent = row.place?.parent
    for _ in 0..<Self.depthMax {
      guard let id = parent, id != ItemRow.root else { return false }
      if try connection.isOrphan(id) { return true }
      parent = try connection.item(id)?.place?.parent
    }
    return false
  }

  /// Whether a row lies in a directory that was removed here, emptied or not: nobody sees the name that it has there.
  func isInRemoved(_ row: ItemRow) throws -> Bool {
    var row = row
    for _ in 0..<Self.depthMax {
      guard let id = row.place?.parent, id != ItemRow.root, let directory = try connection.item(id) else {
        return false
      }
      if try connection.isOrphan(id) { return true }
      if let place = directory.place, try connection.name(place.name, in: place.parent, .hidden)?.item == id,
        try !connection.hasMadeName(id)
      {
        return true
      }
      row = directory
    }
    return false
  }

  /// Whether the store's name of an item is not shown: the one of its place, or another that led to it since.
  private func isHidden(_ row: ItemRow) throws -> Bool {
    if let place = row.place, try connection.name(place.name, in: place.parent, .hidden) != nil { return true }
    return try connection.first(
      "SELECT 1 FROM name WHERE item = ? AND layer = 1 LIMIT 1", .integer(row.id)
    ) { _ throws in true } ?? false
  }

  func item(at key: [UInt8]) throws -> ItemRow? {
    var row = try connection.item(ItemRow.root)
    for name in try SavedName.components(of: key) {
      guard let parent = row else { return nil }
      row = try connection.item(at: ItemRow.Place(parent: parent.id, name: name))
    }
    return row
  }

  /// The store's key of an item: its place, and those of the directories that it lies in. Empty for the root; nil if it
  /// has none.
  func key(of row: ItemRow) throws -> [UInt8]? {
    var key: [UInt8]?
    var row = row
    for _ in 0..<Self.depthMax {
      guard let place = row.place else { return row.id == ItemRow.root ? key ?? [] : nil }
      key = place.name + (key.map { [UInt8(ascii: "/")] + $0 } ?? [])
      guard let parent = try connection.item(place.parent) else { throw Damage("a place is in no directory") }
      row = parent
    }
    throw Damage("a place leads to no root")
  }

  /// Whether a name was made in a directory, or below it, or a file there is dirty, also one that has its place in what
  /// was removed. What was removed from it, or moved away, is not in it: nothing is lost with that, and what was moved
  /// has its name elsewhere.
  ///
  /// - Parameter isGone: Whether nobody sees the directory any more: then what has a name elsewhere is not in it, even
  ///   if nothing says that it was moved.
  func hasChanges(below directory: Int64, isGone: Bool = false) throws -> Bool {
    var left = [directory]
    var seen: Set<Int64> = [directory]
    while let id = left.popLast() {
      var (hasMade, hidden) = (false, Set<[UInt8]>())
      try connection.forEachName(in: id) { name in
        if name.layer == .made { hasMade = true } else { hidden.insert(name.name) }
      }
      if hasMade { return true }
      var isDirty = false
      try connection.forEach("SELECT \(ItemRow.columns) FROM item WHERE parent = ?", .integer(id)) { found in
        let child = try ItemRow(found)
        if let place = child.place, hidden.contains(place.name) { return }
        if try isGone && connection.hasMadeName(child.id) { return }
        isDirty = isDirty || child.record.isDirty
        if child.kind == .directory || child.kind == nil, seen.insert(child.id).inserted { left.append(child.id) }
      }
      if try isDirty || !onlyShared(in: id).isEmpty { return true }
    }
    return false
  }

  /// Whether something below a directory that was not met is nowhere else, or is a node: it was met in another one.
  func isUsed(below directory: Int64, isInUse: (Int64) -> Bool) throws -> Bool {
    if try hasChanges(below: directory, isGone: true) { return true }
    var left = [directory]
    var seen: Set<Int64> = [directory]
    while let id = left.popLast() {
      for child in try connection.items(in: id, after: .min, limit: .max) {
        if try isInUse(child.id) && !connection.hasMadeName(child.id) { return true }
        if child.kind == .directory || child.kind == nil, seen.insert(child.id).inserted { left.append(child.id) }
      }
    }
    return false
  }

  /// The directory in which callers find an item: where it was named on the volume, else where the store has it. nil
  /// for the root, and for what has neither.
  func directory(of row: ItemRow) throws -> (item: Int64, name: [UInt8])? {
    if row.id == ItemRow.root { return nil }
    if let name = try connection.names(of: row.id).first(where: { $0.layer == .made }) {
      return (name.directory, name.name)
    }
    return row.place.map { ($0.parent, $0.name) }
  }

  /// The path by which callers find an item; nil if they do not. Empty for the root.
  func path(of item: Int64) throws -> [UInt8]? {
    var names: [[UInt8]] = []
    var id = item
    for _ in 0..<Self.depthMax {
      guard id != ItemRow.root else { return Array(names.reversed().joined(separator: [UInt8(ascii: "/")])) }
      guard let row = try connection.item(id), let place = try directory(of: row) else { return nil }
      names.append(place.name)
      id = place.item
    }
    return nil
  }

  /// LIMIT: levels of directories.
  static let depthMax = 1 << 16

  /// Whether a directory is, or lies in, another one; also if it lies in a ring, which leads nowhere.
  func isIn(_ directory: Int64, _ item: Int64) throws -> Bool {
    var id = item
    for _ in 0..<Self.depthMax {
      if id == directory { return true }
      guard let row = try connection.item(id) else { throw Damage("an item is missing on the way to the root") }
      guard let parent = try self.directory(of: row) else { return false }
      id = parent.item
    }
    return true
  }
}

extension ItemRow {
  /// Whether a row may be an item of the store: nothing is known of it, or the same.
  fileprivate func isSame(as version: StoreVersion) -> Bool {
    record.version.map { $0.isSameItem(as: version) } ?? (version.kind == .directory)
  }
}

extension StoreVersion {
  /// Whether both are versions of one item.
  func isSameItem(as other: StoreVersion) -> Bool {
    kind == other.kind && device == other.device && inode == other.inode && birth == other.birth
  }
}

extension CatalogConnection {
  /// Whether anything refers to an item.
  func isNeeded(_ item: Int64) throws -> Bool {
    try first(
      "SELECT EXISTS(SELECT 1 FROM name WHERE item = ?1) OR EXISTS(SELECT 1 FROM name WHERE directory = ?1)"
        + " OR EXISTS(SELECT 1 FROM attribute WHERE item = ?1) OR EXISTS(SELECT 1 FROM item WHERE parent = ?1)"
        + " OR EXISTS(SELECT 1 FROM listing WHERE directory = ?1)", .integer(item)
    ) { row throws in try row.integer(0) != 0 } ?? true
  }
}
