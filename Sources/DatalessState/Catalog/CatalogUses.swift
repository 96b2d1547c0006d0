import DatalessCore

/// What is kept of uses. What cannot be read of it is forgotten: it is an order, and nothing depends on it.
extension CatalogConnection {
  /// LIMIT: apps, and bytes of the name of one.
  private static let (appsMax, appNameMax) = (4096, 1024)

  /// - Returns: Without those of files, which are in their records.
  func keptUses() throws -> KeptUses {
    var uses = KeptUses()
    do {
      uses.last = UInt32(truncatingIfNeeded: try number(.lastUse) ?? 0)
      guard let bytes = try setting(.appUses) else { return uses }
      var reader = ByteReader(bytes)
      while !reader.isAtEnd, uses.apps.count < Self.appsMax {
        let name = try reader.takeBytes(limit: Self.appNameMax)
        uses.apps[name] = try reader.take()
      }
      return uses
    } catch is Damage {
      return uses
    }
  }

  func keep(_ uses: KeptUses) throws {
    var writer = ByteWriter()
    for (name, use) in uses.apps where name.count <= Self.appNameMax {
      writer.put(name)
      writer.put(use)
    }
    try set(.lastUse, to: UInt64(uses.last))
    try set(.appUses, to: writer.bytes)
  }
}
