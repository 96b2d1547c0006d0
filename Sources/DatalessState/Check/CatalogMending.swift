import DatalessCore

/// Goes through all rows of a catalog that SQLite can read, and takes out, or corrects, what cannot be true. Inside one
/// transaction.
struct CatalogMending {
  let connection: CatalogConnection
  let contents: ContentOverview
  let directory: StateDirectory
  let end: CatalogEnd
  var report: StateCheckReport
  /// Content that some item names.
  var referenced: Set<ContentID> = []
  /// Whether rows of items or names are gone, and nobody knows what they said.
  var hasLostRows: Bool
  /// Whether the end of the WAL was left out: changes of items and names that nobody was told of, unless it was the
  /// disk that changed it.
  var hasLostEnd = false
  /// Items that can be read, and which of them are, or may be, directories.
  var items: Set<Int64> = []
  var directories: Set<Int64> = []
  /// Epochs that are known; those whose bytes are on the disk, or in the page cache of a mount that lives; and from
  /// which one on sizes are believed, nil: none are.
  var believed: Set<Int64> = []
  var trusted: Set<Int64> = []
  var sizesFrom: Int64?
  var progress: RowProgress

  init(
    _ connection: CatalogConnection, _ contents: ContentOverview, directory: StateDirectory, end: CatalogEnd,
    report: StateCheckReport, progress: RowProgress
  ) {
    self.progress = progress
    self.connection = connection
    self.contents = contents
    self.directory = directory
    self.end = end
    self.report = report
    // A rescue leaves out what it cannot read; and where the marker is not what it was, nobody knows for certain whose
    // the catalog is.
    hasLostRows = report.findings.contains { $0.kind == .damagedCatalog || $0.kind == .damagedMarker }
  }

  /// LIMIT: levels of directories that are forgotten one after the other. The next `check` goes on.
  private static let passesMax = 1000

  /// - Returns: The number of the session that has ended with this.
  mutating func mend() throws -> UInt64 {
    try mendSettings()
    try mendEnd()
    try mendEpochs()
    try emptyTrash()
    try readItems()
    try mendRoot()
    // What is forgotten may have been what others lie in: again, until nothing is.
    var before = -1
    for _ in 0..<Self.passesMax where report.count != before {
      before = report.count
      try mendPlaces()
      try mendNames()
      try mendRings()
      try mendNameless()
    }
    try mendAttributes()
    try mendListings()
    try mendContents()
    try connection.run("DELETE FROM orphan")
    try mendHighestInode()
    if hasLostRows || hasLostEnd { try keepUnnamedContent() }
    report.items = items.count
    return try endSession()
  }

  /// Trees that were removed whole go to their end, as the next run would have them, and so do directories that SOURCE
  /// has no more; unless rows of them cannot be read.
  private mutating func emptyTrash() throws {
    do {
      var trash = CatalogTrash()
      for top in try connection.removedTrees().tops {
        trash.add(top)
        report.add(.unlinked, "item \(top)", message: "it was removed with all that was in it", repair: "removed")
      }
      for top in try connection.vanishedDirectories() where !trash.contains(top) {
        trash.add(top)
        report.add(.leftover, "item \(top)", message: "a directory that SOURCE has no more", repair: "removed")
      }
      while trash.count > 0 { _ = try trash.empty(connection, limit: 4096) { _ in false } }
    } catch is Damage {
      // What is left of them is looked at as everything else.
    }
  }

  // MARK: - Items

  private mutating func readItems() throws {
    var damaged: [(id: Int64, damage: Damage)] = []
    try connection.forEach("SELECT \(ItemRow.columns) FROM item") { row in
      try progress.note()
      let id = try row.integer(0)
      do {
        let item = try ItemRow(row)
        items.insert(id)
        if item.kind == .directory || item.kind == nil { directories.insert(id) }
      } catch let damage as Damage {
        damaged.append((id, damage))
      }
    }
    for (id, damage) in damaged {
      hasLostRows = true
      report.add(.damagedRow, place(ofLost: id), message: damage.description, repair: "forgotten")
      try connection.run("DELETE FROM item WHERE id = ?", .integer(id))
    }
  }

  private mutating func mendRoot() throws {
    guard !directories.contains(ItemRow.root) else { return }
    report.add(.damagedRow, "item \(ItemRow.root)", message: "there is no root", repair: "made anew")
    try ItemRow(id: ItemRow.root, place: nil, inode: 0).save(connection)
    items.insert(ItemRow.root)
    directories.insert(ItemRow.root)
  }

  private mutating func mendPlaces() throws {
    var displaced: [Int64] = []
    try connection.forEach("SELECT id, parent FROM item WHERE parent IS NOT NULL") { row in
      if !directories.contains(try row.integer(1)) { displaced.append(try row.integer(0)) }
    }
    for id in displaced { try displace(id, "its directory is missing") }
    try mendRingsOfPlaces()
  }

  mutating func displace(_ id: Int64, _ message: String, kind: StateFinding.Kind = .danglingRow) throws {
    guard var row = try connection.item(id), let place = row.place else { return }
    report.add(kind, Self.text(place.name), message: message, repair: "it has no place in SOURCE any more")
    row.place = nil
    try row.save(connection)
  }

  // MARK: - Names

  private mutating func mendNames() throws {
    var damaged: [(directory: Int64, name: [UInt8], layer: Int64, problem: String)] = []
    var seen: Set<Int64> = []
    report.names = 0
    try connection.forEach("SELECT \(NameRow.columns) FROM name") { row in
      report.names += 1
      try progress.note()
      var problem: String?
      do {
        let name = try NameRow(row)
        if !directories.contains(name.directory) { problem = "its directory is missing" }
        if !items.contains(name.item) { problem = "what it leads to is missing" }
        if name.layer == .made, directories.contains(name.item), !seen.insert(name.item).inserted {
          problem = "the directory has another name"
        }
      } catch let damage as Damage {
        problem = damage.description
      }
      if let problem { damaged.append((try row.integer(0), try row.bytes(1), try row.integer(2), problem)) }
    }
    for row in damaged {
      hasLostRows = true
      report.add(.damagedRow, "name \(Self.text(row.name))", message: row.problem, repair: "forgotten")
      try connection.run(
        "DELETE FROM name WHERE directory = ? AND name = ? AND layer = ?", .integer(row.directory), .bytes(row.name),
        .integer(row.layer))
    }
  }

  // MARK: - The rest

  private mutating func mendAttributes() throws {
    var damaged: [(item: Int64, name: [UInt8], problem: String)] = []
    try connection.forEach("SELECT item, name, value, sum FROM attribute") { row in
      let (item, name) = (try row.integer(0), try row.bytes(1))
      do {
        try row.checkSum([.integer(item), .bytes(name), SQLValue(try row.optionalBytes(2))], in: 3)
        if !items.contains(item) { damaged.append((item, name, "its item is missing")) }
      } catch let damage as Damage {
        damaged.append((item, name, damage.description))
      }
    }
    for row in damaged {
      report.add(.damagedRow, "attribute \(Self.text(row.name))", message: row.problem, repair: "forgotten")
      try connection.run("DELETE FROM attribute WHERE item = ? AND name = ?", .integer(row.item), .bytes(row.name))
    }
  }

  /// What the store listed can be asked again: a listing that is not whole goes.
  private mutating func mendListings() throws {
    var damaged: Set<Int64> = []
    var parts: [Int64: Int64] = [:]
    try connection.forEach("SELECT directory, part, entries, sum FROM listing ORDER BY directory, part") { row in
      let (directory, part) = (try row.integer(0), try row.integer(1))
      do {
        let bytes = try row.bytes(2)
        try row.checkSum([.integer(directory), .integer(part), .bytes(bytes)], in: 3)
        _ = try ListingPart.decode(bytes, home: 0)
        guard part == parts[directory, default: 0], directories.contains(directory) else { throw Damage("") }
        parts[directory] = part + 1
      } catch is Damage {
        damaged.insert(directory)
      }
    }
    for directory in damaged.sorted() {
      report.add(
        .damagedRow, "listing of item \(directory)", message: "it is not whole", repair: "SOURCE is asked again")
      try connection.run("DELETE FROM listing WHERE directory = ?", .integer(directory))
    }
  }

  static func text(_ name: [UInt8]) -> String { "'\(String(decoding: name, as: UTF8.self))'" }
}
