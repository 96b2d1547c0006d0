import DatalessCore

/// What nothing leads to.
extension CatalogMending {
  /// Items that nothing leads to: what was written to them is kept, the others go.
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
      guard !isUnlinked, row.record.isDirty, let content = row.content, contents[content] != nil else {
        let (kind, message) =
          isUnlinked ? (StateFinding.Kind.unlinked, "it was unlinked") : (.nameless, "it has no name")
        report.add(kind, "item \(row.id)", message, repair: "removed")
        try forget(row.id)
        continue
      }
      let name = Array("lost+found-\(row.inode)-\(row.id)".utf8)
      report.add(.nameless, "item \(row.id)", "it has no name", repair: "it is \(Self.text(name)) in the root")
      try keep(row, as: name)
    }
  }

  private func keep(_ row: ItemRow, as name: [UInt8]) throws {
    var row = row
    if row.record.attributes == nil {
      var attributes = ItemAttributes.none
      attributes.inode = row.inode
      attributes.mode = UInt32(ItemKind.file.rawValue) << 12 | 0o600
      attributes.linkCount = 1
      attributes.size = row.content.flatMap { contents[$0] } ?? 0
      attributes.modificationTime = row.record.version?.modificationTime ?? attributes.modificationTime
      row.record.attributes = attributes
    }
    try row.save(connection)
    try NameRow(directory: ItemRow.root, name: name, layer: .made, item: row.id).save(connection)
  }

  private mutating func forget(_ id: Int64) throws {
    try connection.run("DELETE FROM name WHERE item = ?", .integer(id))
    try connection.run("DELETE FROM attribute WHERE item = ?", .integer(id))
    try connection.run("DELETE FROM item WHERE id = ?", .integer(id))
    items.remove(id)
    directories.remove(id)
  }
}
