import DatalessCore

extension CatalogItems {
  /// The row of a directory that goes with all that is below it; nil if there is none any more. Of what the store has
  /// no more no number is asked: what was kept of a directory that had it once may be the volume's own by now.
  mutating func findTree(_ item: ChangedItem, _ connection: CatalogConnection) throws -> ItemRow? {
    guard item.binding == nil else { return try find(item, connection) }
    guard let id = self.item(of: item.node), try connection.item(id) != nil else { return nil }
    return try find(item, connection)
  }
}

extension CatalogSearch {
  /// Whether something below a directory without a name was changed here: then it may get one yet, and if it does not,
  /// `check` finds what is in it. Whoever removes a tree says so (`StateChange.trashed`). What cannot be read may be.
  func mayHaveChanges(below row: ItemRow) -> Bool {
    guard row.kind == nil || row.kind == .directory else { return false }
    return (try? hasChanges(below: row.id, isGone: true)) ?? true
  }
}
