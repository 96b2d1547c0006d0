import DatalessCore

/// What is kept of extended attributes.
extension CatalogWriter {
  mutating func setAttribute(
    _ name: [UInt8], _ value: [UInt8]?, of item: ChangedItem, in connection: CatalogConnection
  ) throws {
    // The volume's own has nothing beneath that would have to be hidden.
    if value == nil, KeptAttribute.isOne(name) { return try removeKept(name, of: item, connection) }
    let id = try items.resolve(item, connection).id
    let values: [SQLValue] = [.integer(id), .bytes(name), SQLValue(value)]
    try connection.run(
      "INSERT OR REPLACE INTO attribute(item, name, value, sum) VALUES(?, ?, ?, ?)", values[0], values[1], values[2],
      .integer(Checksum.of(values)))
  }

  private mutating func removeKept(_ name: [UInt8], of item: ChangedItem, _ connection: CatalogConnection) throws {
    guard let id = try items.find(item, connection)?.id else { return }
    try connection.run("DELETE FROM attribute WHERE item = ? AND name = ?", .integer(id), .bytes(name))
    try items.deleteIfEmpty(id, connection)
  }
}
