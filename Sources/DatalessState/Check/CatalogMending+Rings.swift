import DatalessCore

/// Directories that lead to no root.
extension CatalogMending {
  /// Places in the store: a directory in one of its own.
  mutating func mendRingsOfPlaces() throws {
    var parents: [Int64: Int64] = [:]
    try connection.forEach("SELECT id, parent FROM item WHERE parent IS NOT NULL") { row in
      let id = try row.integer(0)
      if directories.contains(id) { parents[id] = try row.integer(1) }
    }
    for id in DirectoryChains.cuts(parents, among: nil) { try displace(id, "its directory is in itself", kind: .ring) }
  }

  /// What callers see: a name that was made counts for more than a place.
  mutating func mendRings() throws {
    var parents: [Int64: Int64] = [:]
    var made: [Int64: NameRow] = [:]
    try connection.forEach("SELECT id, parent FROM item WHERE parent IS NOT NULL") { row in
      let id = try row.integer(0)
      if directories.contains(id) { parents[id] = try row.integer(1) }
    }
    try connection.forEach("SELECT \(NameRow.columns) FROM name WHERE layer = 0") { row in
      let name = try NameRow(row)
      guard directories.contains(name.item) else { return }
      parents[name.item] = name.directory
      made[name.item] = name
    }
    for id in DirectoryChains.cuts(parents, among: Set(made.keys)) {
      guard let name = made[id] else { continue }
      report.add(.ring, "name \(Self.text(name.name))", message: "the directory is in itself", repair: "forgotten")
      try connection.deleteName(name.name, in: name.directory, .made)
    }
  }
}

/// Which directories are cut off from what they lie in, so that all others lead to a root, and none too far from it.
enum DirectoryChains {
  /// Each directory is looked at once, whatever the shape.
  ///
  /// - Parameters:
  ///   - parents: What each directory lies in. What has none is a root, and so is item 1, whatever it lies in.
  ///   - candidates: Those that may be cut off; nil: all. Every ring has one of them in it.
  /// - Returns: One directory of each ring; further ones where there are more than `CatalogSearch.depthMax` levels.
  static func cuts(_ parents: [Int64: Int64], among candidates: Set<Int64>?) -> [Int64] {
    func mayBeCut(_ id: Int64) -> Bool { candidates?.contains(id) ?? true }
    var cuts: [Int64] = []
    // Levels above each that was looked at.
    var depths: [Int64: Int] = [ItemRow.root: 0]
    if parents[ItemRow.root] != nil, mayBeCut(ItemRow.root) { cuts.append(ItemRow.root) }
    for start in parents.keys.sorted() where depths[start] == nil {
      var (way, indices): ([Int64], [Int64: Int]) = ([], [:])
      var next: Int64? = start
      while let id = next, depths[id] == nil, indices[id] == nil {
        indices[id] = way.count
        way.append(id)
        next = parents[id]
      }
      var order = Array(way.reversed())
      if let id = next, depths[id] == nil, let first = indices[id] {
        let cut = way[first...].filter(mayBeCut).min() ?? id
        let index = indices[cut] ?? first
        cuts.append(cut)
        depths[cut] = 0
        // Each after what it lies in, now that the ring is open.
        order = way[first..<index].reversed() + way[(index + 1)...].reversed() + way[..<first].reversed()
      }
      for id in order {
        var depth = parents[id].map { (depths[$0] ?? 0) + 1 } ?? 0
        if depth > CatalogSearch.depthMax, mayBeCut(id) {
          cuts.append(id)
          depth = 0
        }
        depths[id] = depth
      }
    }
    return cuts
  }
}
