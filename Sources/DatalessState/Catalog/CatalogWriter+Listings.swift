import DatalessCore

/// What the store has listed.
extension CatalogWriter {
  /// Takes what the store has listed in a directory, in place of what it had listed before.
  mutating func setListing(
    _ entries: [StoreEntry], of directory: ChangedItem, _ connection: CatalogConnection
  ) throws {
    let id = try items.resolve(directory, connection).id
    try connection.run("DELETE FROM listing WHERE directory = ?", .integer(id))
    // An empty directory has one part, so that it is known to be empty.
    for (part, start) in stride(from: 0, to: max(entries.count, 1), by: ListingPart.entriesMax).enumerated() {
      let bytes = ListingPart.encode(
        entries[start..<min(start + ListingPart.entriesMax, entries.count)], home: connection.home)
      let values: [SQLValue] = [.integer(id), .integer(Int64(part)), .bytes(bytes)]
      try connection.run(
        "INSERT INTO listing(directory, part, entries, sum) VALUES(?, ?, ?, ?)", values[0], values[1], values[2],
        .integer(Checksum.of(values)))
    }
  }
}
