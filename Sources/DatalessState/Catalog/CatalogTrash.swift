import DatalessCore

/// Trees that were removed whole, as far as the catalog has something of them: they are gone through some rows at a
/// time, each step in a transaction of its caller's.
///
/// The top of each is in the table of orphans until nothing is left below it, so that the next run finds it; and so are
/// directories in it that were made here, or moved there, and have lost their names since. What was moved out of a tree
/// has another name, and stays, with the directories on the way to its place in the store.
struct CatalogTrash: Sendable {
  private var tops: [Int64] = []
  /// Directories of the tree that is gone through, in the order in which they were met; those before `next` are done.
  private var directories: [Int64] = []
  private var next = 0
  /// The last item of the directory at `next` that was looked at.
  private var last = Int64.min
  private var members: Set<Int64> = []
  /// What callers have open, and that is in no tree any more: it is in the table of orphans.
  private var orphaned: Set<Int64> = []

  /// Trees that are left, and directories that are known of the one that is gone through.
  var count: Int { tops.count + directories.count }

  /// Whether an item is the top of a tree that is left, or was met in one.
  func contains(_ item: Int64) -> Bool { members.contains(item) }

  /// What was put into the table of orphans, beside the tops, since this was asked last.
  mutating func takeOrphaned() -> Set<Int64> {
    defer { orphaned = [] }
    return orphaned
  }

  mutating func add(_ top: Int64) { if members.insert(top).inserted { tops.append(top) } }

  /// Goes on.
  ///
  /// - Parameters:
  ///   - limit: Rows.
  ///   - isInUse: Whether an item is a node of the run under way.
  /// - Returns: Content to be removed when this is committed.
  mutating func empty(
    _ connection: CatalogConnection, limit: Int, isInUse: (Int64) -> Bool
  ) throws -> [ContentID] {
    var contents: [ContentID] = []
    var left = limit
    while left > 0 {
      if next == directories.count {
        guard try endTree(connection, &left) else { break }
        continue
      }
      let directory = directories[next]
      left -= 1
      for name in try connection.names(in: directory, limit: left) {
        left -= 1
        try forget(name, connection, isInUse: isInUse, contents: &contents)
      }
      guard left > 0 else { break }
      let items = try connection.items(in: directory, after: last, limit: left)
      for item in items {
        left -= 1
        last = item.id
        // What was moved out of it has a name elsewhere.
        if try !connection.hasMadeName(item.id) { try forget(item, connection, isInUse: isInUse, contents: &contents) }
      }
      if left > 0 { (next, last) = (next + 1, .min) }
    }
    return contents
  }

  /// Deletes the directories of a tree, the last first, and begins with the next tree. - Returns: False at the end.
  private mutating func endTree(_ connection: CatalogConnection, _ left: inout Int) throws -> Bool {
    while let directory = directories.last {
      guard left > 0 else { return true }
      left -= 1
      directories.removeLast()
      next = directories.count
      members.remove(directory)
      try connection.run("DELETE FROM attribute WHERE item = ?", .integer(directory))
      try connection.run("DELETE FROM listing WHERE directory = ?", .integer(directory))
      try connection.run("DELETE FROM orphan WHERE item = ?", .integer(directory))
      if let row = try connection.item(directory), try CatalogSearch(connection).key(of: row) == nil {
        orphaned.formUnion(try connection.removePlaces(in: directory))
      }
      if try directory != ItemRow.root && !connection.isNeeded(directory) {
        try connection.run("DELETE FROM item WHERE id = ?", .integer(directory))
      }
    }
    guard let top = tops.popLast() else { return false }
    left -= 1
    directories = [top]
    (next, last) = (0, .min)
    return true
  }

  /// A name in a removed directory.
  private mutating func forget(
    _ name: NameRow, _ connection: CatalogConnection, isInUse: (Int64) -> Bool, contents: inout [ContentID]
  ) throws {
    try connection.deleteName(name.name, in: name.directory, name.layer)
    guard let row = try connection.item(name.item), try !connection.hasMadeName(row.id) else { return }
    if name.layer == .hidden {
      // What was removed here, and has lost its place in the store: nothing leads to it now.
      guard row.place == nil, try connection.names(of: row.id).isEmpty else { return }
      guard !row.isDirectoryOfStore else { return try endUnhidden(row, connection) }
      guard row.kind != .directory, !row.record.isDirty else { return }
    }
    // Until it is gone itself nothing else leads to it.
    if row.place == nil {
      try connection.run("INSERT OR IGNORE INTO orphan(item) VALUES(?)", .integer(row.id))
      orphaned.insert(row.id)
    }
    try forget(row, connection, isInUse: isInUse, contents: &contents)
  }

  /// A directory that the store has no more, and that was moved out of this one here: that name was the last thing that
  /// said so. It may have been gone through already.
  private mutating func endUnhidden(_ row: ItemRow, _ connection: CatalogConnection) throws {
    guard !members.contains(row.id), !CatalogSearch(connection).mayHaveChanges(below: row) else { return }
    try connection.run("INSERT OR IGNORE INTO orphan(item) VALUES(?)", .integer(row.id))
    orphaned.insert(row.id)
    add(row.id)
  }

  /// An item that no name leads to.
  private mutating func forget(
    _ item: ItemRow, _ connection: CatalogConnection, isInUse: (Int64) -> Bool, contents: inout [ContentID]
  ) throws {
    guard item.id != ItemRow.root, item.kind != .directory, item.kind != nil else {
      if item.id != ItemRow.root, members.insert(item.id).inserted { directories.append(item.id) }
      return
    }
    guard !isInUse(item.id), !item.mayHaveOtherNames else { return }
    var item = item
    if let content = item.content { contents.append(content) }
    item.content = nil
    item.record.isDirty = false
    try connection.run("DELETE FROM attribute WHERE item = ?", .integer(item.id))
    try connection.run("DELETE FROM orphan WHERE item = ?", .integer(item.id))
    if try connection.isNeeded(item.id) {
      try item.save(connection)
    } else {
      try connection.run("DELETE FROM item WHERE id = ?", .integer(item.id))
    }
  }
}

extension ItemRow {
  /// Whether it is a file of the store that was written to, and that the store may have under other names, too: it is
  /// found by those. A crash may come before anything but its content was told.
  var mayHaveOtherNames: Bool { record.isDirty && place != nil && linkCount.map { $0 > 1 } ?? true }

  /// Whether it is such a file that has lost the names that were listed. Those that it may have besides, nobody has
  /// seen yet.
  var awaitsName: Bool { record.isDirty && record.version != nil && place == nil && linkCount.map { $0 > 1 } ?? false }

  /// Whether the store had it under one name alone, as far as that is known.
  var hasOneName: Bool { linkCount.map { $0 <= 1 } ?? false }

  /// Whether nothing but fetched content is kept of it.
  var isBareFile: Bool { kind == .file && !record.isDirty && record.attributes == nil && record.listed == nil }

  /// How many names the store had for it; nil if that is not known.
  private var linkCount: UInt32? { (record.listed ?? record.attributes)?.linkCount }

  /// It has no content any more.
  mutating func dropContent(_ connection: CatalogConnection) throws {
    content = nil
    if record.isDirty { record.forgetWriting() }
    record.isDirty = false
    try save(connection)
  }

  /// Whether the store may have a name of it that is not among those that were removed here. Its metadata are told with
  /// each removal.
  func mayHaveOtherNames(_ connection: CatalogConnection) throws -> Bool {
    guard mayHaveOtherNames else { return false }
    let removed =
      try connection.first(
        "SELECT COUNT(*) FROM name WHERE item = ? AND layer = 1", .integer(id)
      ) { row throws in try row.integer(0) } ?? 0
    return linkCount.map { $0 > removed } ?? false
  }
}

extension CatalogConnection {
  func hasMadeName(_ item: Int64) throws -> Bool {
    try first(
      "SELECT 1 FROM name WHERE item = ? AND layer = 0 LIMIT 1", .integer(item)
    ) { _ throws in true } ?? false
  }

  /// Whether a name was made for it, or one of the store's is hidden that leads to it.
  private func hasName(_ item: Int64) throws -> Bool {
    try first("SELECT 1 FROM name WHERE item = ? LIMIT 1", .integer(item)) { _ throws in true } ?? false
  }

  func isOrphan(_ item: Int64) throws -> Bool {
    try first("SELECT 1 FROM orphan WHERE item = ?", .integer(item)) { _ throws in true } ?? false
  }

  /// What was moved out of a directory that the store has no more, here or by the store, has no place there either; and
  /// what callers have open, and that the store has under no other name, goes when they close it.
  ///
  /// - Returns: Those that callers have open.
  fileprivate func removePlaces(in directory: Int64) throws -> Set<Int64> {
    var open: Set<Int64> = []
    for var item in try items(in: directory, after: .min, limit: .max) {
      let hasName = try hasName(item.id)
      // What the store may have under other names waits for those.
      let awaitsName = item.mayHaveOtherNames
      item.place = nil
      try item.save(self)
      guard !hasName, !awaitsName else { continue }
      try run("INSERT OR IGNORE INTO orphan(item) VALUES(?)", .integer(item.id))
      open.insert(item.id)
    }
    return open
  }

  func names(in directory: Int64, limit: Int) throws -> [NameRow] {
    var found: [NameRow] = []
    try forEach(
      "SELECT \(NameRow.columns) FROM name WHERE directory = ? LIMIT ?", .integer(directory), .integer(Int64(limit))
    ) { row in found.append(try NameRow(row)) }
    return found
  }

  /// Items whose place is in a directory.
  func items(in directory: Int64, after last: Int64, limit: Int) throws -> [ItemRow] {
    var found: [ItemRow] = []
    try forEach(
      "SELECT \(ItemRow.columns) FROM item WHERE parent = ? AND id > ? ORDER BY id LIMIT ?", .integer(directory),
      .integer(last), .integer(Int64(limit))
    ) { row in found.append(try ItemRow(row)) }
    return found
  }

  /// The trees that an earlier run has removed, and not gone through to their end.
  ///
  /// - Returns: Their tops; and others of the table, which are no trees.
  func removedTrees() throws -> (tops: [Int64], others: [Int64]) {
    var ids: [Int64] = []
    try forEach("SELECT item FROM orphan") { row in ids.append(try row.integer(0)) }
    var found: (tops: [Int64], others: [Int64]) = ([], [])
    for id in ids {
      guard id != ItemRow.root, let row = try item(id), row.kind == .directory || row.kind == nil,
        try !hasMadeName(id)
      else {
        found.others.append(id)
        continue
      }
      // Somebody has changed the table if callers see it.
      let isHidden = try row.place.map { try name($0.name, in: $0.parent, .hidden)?.item == id } ?? true
      if isHidden { found.tops.append(id) } else { found.others.append(id) }
    }
    return found
  }

  /// Removes what lost its last name while it was open. Nobody has it open any more.
  ///
  /// - Returns: Their content.
  func removeOrphans() throws -> [ContentID] {
    // Trees are gone through later, some rows at a time.
    let ids = try removedTrees().others
    var contents: [ContentID] = []
    for id in ids {
      try run("DELETE FROM orphan WHERE item = ?", .integer(id))
      guard id != ItemRow.root, var row = try item(id), row.kind != .directory, row.kind != nil else { continue }
      if try isUnreachable(row) {
        if let content = row.content { contents.append(content) }
        try row.dropContent(self)
        continue
      }
      // Else it has a name after all: somebody has changed the table.
      guard try hasNoWay(to: row) else { continue }
      if let content = row.content { contents.append(content) }
      // Its name in the store stays removed until that has it no more.
      guard try !hasName(id) else {
        try row.dropContent(self)
        continue
      }
      try run("DELETE FROM attribute WHERE item = ?", .integer(id))
      try run("DELETE FROM item WHERE id = ?", .integer(id))
    }
    return contents
  }

  /// Whether nothing leads to a row of the table of orphans, but names that are hidden.
  func hasNoWay(to row: ItemRow) throws -> Bool {
    guard row.place == nil, try !hasMadeName(row.id) else { return false }
    // What was written to is found by names that the store may have besides.
    if try !row.record.isDirty || names(of: row.id).isEmpty { return true }
    return try !row.awaitsName && storeNames(of: row.id).isEmpty
  }

  /// Whether a file of the store has content, and nobody sees it: its name there is hidden, and it has none here. What
  /// was written to it may be seen by other names of the store.
  func isUnreachable(_ row: ItemRow) throws -> Bool {
    guard row.content != nil, let place = row.place, row.kind == .file,
      try name(place.name, in: place.parent, .hidden)?.item == row.id, try !hasMadeName(row.id)
    else { return false }
    return try !row.record.isDirty || !row.mayHaveOtherNames(self)
  }
}
