public import DatalessCore

/// Where the items are that the volume looks for by itself.
extension StateVolume {
  /// LIMIT: items; others are met by who looks into their directories.
  private static var placesMax: Int { 65_536 }
  /// LIMIT: directories with content of earlier runs; what is in others is met by who looks into them.
  private static var directoriesMax: Int { 1 << 20 }
  /// Rows that are read at a time: others read the catalog in between.
  private static var rowsAtATime: Int64 { 4096 }

  public func placesToVisit() throws(FSError) -> [[UInt8]] {
    var items: [Int64] = []
    var last: (item: Int64, name: [UInt8])? = (.min, [])
    while let position = last, items.count < Self.placesMax {
      last = try catalog.read("cannot look for what is pinned") { connection in
        try Self.find(connection, after: position, &items)
      }
    }
    var places: Set<[UInt8]> = []
    for item in items {
      let path = try catalog.read("cannot look for what is pinned") { try CatalogSearch($0).path(of: item) }
      if let path { places.insert(path) }
    }
    return places.sorted { $0.lexicographicallyPrecedes($1) }
  }

  public func placesOfContent() throws(FSError) -> [[UInt8]] {
    // What was moved a moment ago lies elsewhere. If that cannot be committed, it is told where it was.
    if journal.backlog > 0 { try? journal.commit() }
    var items: [Int64: Int64] = [:]
    var next: Int64? = .min
    while let content = next, items.count < Self.directoriesMax {
      next = try catalog.read("cannot look for what is kept") { connection in
        try Self.findContent(connection, from: content, &items)
      }
    }
    var places: [[UInt8]] = []
    for item in items.values {
      let path = try catalog.read("cannot look for what is kept") { try CatalogSearch($0).path(of: item) }
      if let path { places.append(path) }
    }
    return places.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// - Parameter items: By the directory in which callers find it, one with content.
  /// - Returns: Where to go on; nil if there are no more.
  private static func findContent(
    _ connection: CatalogConnection, from content: Int64, _ items: inout [Int64: Int64]
  ) throws -> Int64? {
    var found: [(id: Int64, parent: Int64?)] = []
    var last: Int64?
    try connection.forEach(
      "SELECT id, parent, content FROM item WHERE content >= ? ORDER BY content LIMIT ?", .integer(content),
      .integer(rowsAtATime)
    ) { row in
      found.append((try row.integer(0), try row.optionalInteger(1)))
      last = try row.integer(2)
    }
    for item in found {
      // Where callers find it is where it was named on the volume, if it was.
      let directory = try connection.names(of: item.id).first { $0.layer == .made }?.directory ?? item.parent
      if let directory { items[directory] = item.id }
    }
    guard found.count == rowsAtATime, let last, last < .max else { return nil }
    return last + 1
  }

  /// - Returns: The last row; nil if there are no more.
  private static func find(
    _ connection: CatalogConnection, after last: (item: Int64, name: [UInt8]), _ items: inout [Int64]
  ) throws -> (item: Int64, name: [UInt8])? {
    var end: (item: Int64, name: [UInt8])?
    try connection.forEach(
      "SELECT item, name, value IS NULL FROM attribute WHERE (item, name) > (?, ?) ORDER BY item, name LIMIT ?",
      .integer(last.item), .bytes(last.name), .integer(rowsAtATime)
    ) { row in
      let found = (item: try row.integer(0), name: try row.bytes(1))
      if KeptAttribute.isVisited(found.name), try row.integer(2) == 0, items.last != found.item {
        items.append(found.item)
      }
      end = found
    }
    return end
  }
}
