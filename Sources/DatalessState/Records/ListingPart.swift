import DatalessCore

/// Some entries of what the store listed in a directory, as one value of bytes.
enum ListingPart {
  /// LIMIT: entries in one.
  static let entriesMax = 256

  static func encode(_ entries: some Sequence<StoreEntry>, home: UInt64) -> [UInt8] {
    var writer = ByteWriter(home: home)
    for entry in entries {
      writer.put(entry.name)
      writer.put(entry.item.attributes)
      writer.put(entry.item.token.bytes)
    }
    return writer.bytes
  }

  static func decode(_ bytes: [UInt8], home: UInt64) throws(Damage) -> [StoreEntry] {
    var reader = ByteReader(bytes, home: home)
    var entries: [StoreEntry] = []
    while !reader.isAtEnd {
      guard entries.count < entriesMax else { throw Damage("a part of a listing has too many entries") }
      let name = try reader.takeBytes(limit: SavedName.lengthMax)
      try SavedName.check(name)
      let attributes = try reader.takeAttributes()
      let token = VersionToken(try reader.takeBytes(limit: ItemRecord.tokenMax))
      entries.append(StoreEntry(name: name, item: ListedItem(attributes, token: token)))
    }
    return entries
  }
}
