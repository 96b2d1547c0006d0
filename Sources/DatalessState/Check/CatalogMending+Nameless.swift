import DatalessCore

/// What nothing leads to.
extension CatalogMending {
  /// Items that nothing leads to: what was written to them is kept, the others go. Where no row is lost, what has other
  /// names in the store is left to wait for them.
  mutating func mendNameless() throws {
    var nameless: [ItemRow] = []
    try connection.forEach(
      "SELECT \(ItemRow.columns) FROM item WHERE parent IS NULL AND id <> 1"
        + " AND NOT EXISTS(SELECT 1 FROM name WHERE name.item = item.id)"
    ) { row in nameless.append(try ItemRow(row)) }
    for row in nameless {
      let isUnlinked =
        try connection.first(
          "SELECT 1 FROM orphan WHERE item = ?", .integer(row.id)
        ) { _ throws in true } ?? false
      guard !isUnlinked, hasBytes(row) else {
        let (kind, message) = finding(row, isUnlinked: isUnlinked)
        report.add(kind, "item \(row.id)", message: message, repair: "removed")
        try forget(row.id)
        continue
      }
      let awaitsName = try row.awaitsName || !connection.storeNames(of: row.id).isEmpty
      if awaitsName, !hasLostRows, !hasLostEnd { continue }
      let name = try found.name(for: row)
      report.add(.nameless, "item \(row.id)", message: "it has no name", repair: "it is \(Self.text(name)) in the root")
      try found.keep(row, as: name)
      report.namedFiles += 1
    }
    try mendHidden()
    try mendUnlinked()
  }

  /// What an item is to which nothing leads, and that goes.
  private func finding(_ row: ItemRow, isUnlinked: Bool) -> (StateFinding.Kind, String) {
    if isUnlinked { return (.unlinked, "it was unlinked") }
    // What was moved on the volume is hidden where SOURCE had it.
    let isOnlySources = row.isOfStore && !row.record.isDirty && !hasLostRows
    return isOnlySources ? (.leftover, "an item that SOURCE has no more") : (.nameless, "it has no name")
  }

  /// Whether what a program wrote to a file is there.
  private func hasBytes(_ row: ItemRow) -> Bool {
    guard row.record.isDirty, let content = row.content else { return false }
    return contents.sizes[content] != nil || contents.isRefused(content)
  }

  /// Changed files of SOURCE that nobody sees: all their names there are hidden, and they have none here. They were
  /// unlinked while they were open; or renamed, and the row of the new name is lost.
  private mutating func mendHidden() throws {
    var hidden: [ItemRow] = []
    try connection.forEach(
      "SELECT \(ItemRow.columns) FROM item WHERE content IS NOT NULL AND EXISTS(SELECT 1 FROM name"
        + " WHERE name.directory = item.parent AND name.name = item.name AND name.layer = 1)"
        + " AND NOT EXISTS(SELECT 1 FROM name WHERE name.item = item.id AND name.layer = 0)"
    ) { row in hidden.append(try ItemRow(row)) }
    for var row in hidden where hasBytes(row) {
      if hasLostRows || hasLostEnd {
        let name = try found.name(for: row)
        report.add(
          .nameless, "item \(row.id)", message: "it has no name", repair: "it is \(Self.text(name)) in the root",
          isDamage: hasLostRows)
        try found.keep(row, as: name)
        report.namedFiles += 1
      } else if try !row.mayHaveOtherNames(connection) {
        report.add(.unlinked, "item \(row.id)", message: "it was unlinked", repair: "removed")
        row.content = nil
        row.record.isDirty = false
        try row.save(connection)
      }
    }
  }

  /// Files that were unlinked while they were open, and that SOURCE has no more, as far as is known: the names that are
  /// hidden stay so.
  private mutating func mendUnlinked() throws {
    var unlinked: [ItemRow] = []
    try connection.forEach(
      "SELECT \(ItemRow.columns) FROM item WHERE content IS NOT NULL AND parent IS NULL"
        + " AND id IN (SELECT item FROM orphan) AND NOT EXISTS(SELECT 1 FROM name WHERE name.item = item.id AND name.layer = 0)"
    ) { row in unlinked.append(try ItemRow(row)) }
    for var row in unlinked where try connection.hasNoWay(to: row) {
      report.add(.unlinked, "item \(row.id)", message: "it was unlinked", repair: "removed")
      try row.dropContent(connection)
    }
  }

  /// Content that no row names, of a catalog that has lost rows: a program may have written it, so it gets a name.
  /// After a loss of power it is what was being made, or removed, just then.
  mutating func keepUnnamedContent() throws {
    let unnamed = contents.sizes.keys.filter { !referenced.contains($0) && contents.mayBeDirty($0) }
    try found.keep(unnamed) { row, name in
      report.add(
        .lostName, "content \(row.content?.rawValue ?? 0)", message: "the row of its file is lost",
        repair: "it is \(Self.text(name)) in the root", isDamage: hasLostRows)
      report.namedFiles += 1
      items.insert(row.id)
      if let content = row.content { referenced.insert(content) }
    }
  }

  private var found: FoundFiles { FoundFiles(connection: connection) { [contents] in contents.sizes[$0] } }

  private mutating func forget(_ id: Int64) throws {
    try connection.run("DELETE FROM name WHERE item = ?", .integer(id))
    try connection.run("DELETE FROM attribute WHERE item = ?", .integer(id))
    try connection.run("DELETE FROM item WHERE id = ?", .integer(id))
    items.remove(id)
    directories.remove(id)
  }
}

extension CatalogConnection {
  /// Directories of the store that have neither a place nor a name, and in which nothing was changed: nobody has told
  /// that they are gone.
  func vanishedDirectories() throws -> [Int64] {
    var found: [Int64] = []
    try forEach(
      "SELECT \(ItemRow.columns) FROM item WHERE parent IS NULL AND id <> 1"
        + " AND NOT EXISTS(SELECT 1 FROM name WHERE name.item = item.id)"
    ) { row in
      if let item = try? ItemRow(row), item.isDirectoryOfStore { found.append(item.id) }
    }
    let search = CatalogSearch(self)
    return found.filter { (try? search.hasChanges(below: $0, isGone: true)) == false }
  }
}
