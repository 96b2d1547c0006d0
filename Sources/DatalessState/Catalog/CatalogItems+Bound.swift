import DatalessCore

/// Items that the store has under other keys, or in other versions, than before.
extension CatalogItems {
  mutating func bind(_ item: ChangedItem, _ formerKey: [UInt8], in connection: CatalogConnection) throws {
    forgetPlaces()
    guard item.binding != nil, var row = try findBound(item, formerKey, in: connection) else { return }
    guard row.id != ItemRow.root else { return }
    if let place = try place(of: item, connection), place != row.place {
      try clear(place, connection)
      try CatalogSearch(connection).share(row, insteadOf: place)
      row.place = place
      // It may have lost another one in the same refresh.
      try noteNamed(row.id, connection)
    }
    row.take(item)
    try row.save(connection)
    // Or all that it has are hidden.
    noteHidden(row.id)
  }

  /// A row that was found by a node is another one's from now on, which has none yet.
  mutating func follow(_ item: Int64, to node: NodeID, _ connection: CatalogConnection) throws {
    guard self.item(of: node) == nil, try connection.item(item) != nil else { return }
    remember(item, as: node)
  }

  private mutating func findBound(
    _ item: ChangedItem, _ formerKey: [UInt8], in connection: CatalogConnection
  ) throws -> ItemRow? {
    if let row = try find(item, connection) { return row }
    guard let binding = item.binding else { return nil }
    var former = binding
    former.key = formerKey
    return try find(ChangedItem(item.node, inode: item.inode, binding: former), connection)
  }

  /// Whether a row is of another node, which is the volume's own by now, and was of the same item of the store: that
  /// has no place there, or one in a directory that has none. Or of what was moved here out of a directory that was
  /// removed then, met or not: it is not what SOURCE has moved out of that.
  func isOwn(_ row: ItemRow, ofOtherThan item: ChangedItem, _ connection: CatalogConnection) throws -> Bool {
    let node = node(of: row.id)
    guard let binding = item.binding, node != item.node, try connection.hasMadeName(row.id) else { return false }
    let search = CatalogSearch(connection)
    guard let key = try search.key(of: row) else { return node != nil }
    return try key != binding.key && !row.mayHaveOtherNames && search.isInRemoved(row)
  }

  /// Whether a row is of a file of which an earlier run has fetched the content, by another name, and nothing else is
  /// kept: by its new name it is fetched again.
  func isLeft(_ row: ItemRow) -> Bool { row.isBareFile && node(of: row.id) == nil }
}
