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
