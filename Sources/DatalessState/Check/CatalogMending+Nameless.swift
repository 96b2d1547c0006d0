import DatalessCore
import Glibc

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
      guard !isUnlinked, hasBytes(row) else {
        let (kind, message) =
          isUnlinked ? (StateFinding.Kind.unlinked, "it was unlinked") : (.nameless, "it has no name")
        report.add(kind, "item \(row.id)", message: message, repair: "removed")
        try forget(row.id)
        continue
      }
      let name = try nameForFound(row)
      report.add(.nameless, "item \(row.id)", message: "it has no name", repair: "it is \(Self.text(name)) in the root")
      try keep(row, as: name)
    }
    try mendHidden()
  }

  /// Whether what a program wrote to a file is there.
  private func hasBytes(_ row: ItemRow) -> Bool {
    guard row.record.isDirty, let content = row.content else { return false }
    return contents.sizes[content] != nil || contents.isRefused(content)
  }

  /// Changed files of SOURCE that nobody sees: their name there is hidden, and they have none here. They were unlinked
  /// while they were open; or renamed, and the row of the new name is lost.
  private mutating func mendHidden() throws {
    var hidden: [ItemRow] = []
    try connection.forEach(
      "SELECT \(ItemRow.columns) FROM item WHERE content IS NOT NULL AND EXISTS(SELECT 1 FROM name"
        + " WHERE name.directory = item.parent AND name.name = item.name AND name.layer = 1)"
        + " AND NOT EXISTS(SELECT 1 FROM name WHERE name.item = item.id AND name.layer = 0)"
    ) { row in hidden.append(try ItemRow(row)) }
    for var row in hidden where hasBytes(row) {
      if hasLostRows || hasLostEnd {
        let name = try nameForFound(row)
        report.add(
          .nameless, "item \(row.id)", message: "it has no name", repair: "it is \(Self.text(name)) in the root",
          isDamage: hasLostRows)
        try keep(row, as: name)
      } else {
        report.add(.unlinked, "item \(row.id)", message: "it was unlinked", repair: "removed")
        row.content = nil
        row.record.isDirty = false
        try row.save(connection)
      }
    }
  }

  /// Content that no row names, of a catalog that has lost rows: a program may have written it, so it gets a name.
  /// After a loss of power it is what was being made, or removed, just then.
  mutating func keepUnnamedContent() throws {
    var highest = max(try connection.number(.highestInode) ?? 0, 1 << 62)
    var id = try connection.first("SELECT max(id) FROM item") { row throws in try row.integer(0) } ?? ItemRow.root
    let unnamed = contents.sizes.keys.filter { !referenced.contains($0) && contents.mayBeDirty($0) }
    for content in unnamed.sorted(by: { $0.rawValue < $1.rawValue }) {
      // None of the volume's own is left: the content stays, and the next `check` finds it.
      guard highest < .max >> 1, id < .max / 2 else { return }
      highest += 1
      id += 1
      var row = ItemRow(id: id, place: nil, inode: highest)
      row.content = content
      row.record.isDirty = true
      let name = try nameForFound(row)
      report.add(
        .lostName, "content \(content.rawValue)", message: "the row of its file is lost",
        repair: "it is \(Self.text(name)) in the root", isDamage: hasLostRows)
      try keep(row, as: name)
      items.insert(id)
      referenced.insert(content)
    }
    try connection.set(.highestInode, to: highest)
  }

  /// A name in the root that nobody has made on the volume.
  private func nameForFound(_ row: ItemRow) throws -> [UInt8] {
    let name = "lost+found-\(row.inode)"
    var (candidate, number) = (Array(name.utf8), 1)
    while try connection.name(candidate, in: ItemRow.root, .made) != nil {
      number += 1
      candidate = Array("\(name)-\(number)".utf8)
    }
    return candidate
  }

  private func keep(_ row: ItemRow, as name: [UInt8]) throws {
    var row = row
    if row.record.attributes == nil {
      var attributes = ItemAttributes.none
      attributes.inode = row.inode
      attributes.mode = UInt32(ItemKind.file.rawValue) << 12 | 0o600
      (attributes.uid, attributes.gid) = (geteuid(), getegid())
      attributes.linkCount = 1
      attributes.size = row.content.flatMap { contents.sizes[$0] } ?? 0
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
