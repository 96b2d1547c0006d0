public import DatalessCore
internal import DatalessStores
internal import Synchronization

/// What is saved, directory by directory.
extension StateVolume: SavedState {
  public func saved(of directory: ChangedItem) throws(FSError) -> SavedDirectory {
    // What was dropped a moment ago must not come back.
    if journal.backlog > 0 { try journal.commit() }
    var lost: [ItemRow] = []
    let known = journal.item(of: directory.node)
    let saved = try noting { () throws(FSError) in
      try catalog.read("cannot read what is saved of a directory") { connection in
        try self.saved(of: directory, known, connection, lost: &lost)
      }
    }
    try drop(lost)
    return saved
  }

  public func savedItem(_ item: ChangedItem) throws(FSError) -> SavedItem? {
    if journal.backlog > 0 { try journal.commit() }
    var lost: [ItemRow] = []
    var saved = try noting { () throws(FSError) in
      try catalog.read("cannot read what is saved of an item") { connection in
        try CatalogSearch(connection).item(item, isShared: true).map { try self.item($0, connection, lost: &lost) }
      }
    }
    if let id = saved?.id { saved?.node = journal.node(of: id.rawValue) }
    try drop(lost)
    return saved
  }

  public func hasChanges(below directory: SavedItemID) throws(FSError) -> Bool {
    if journal.backlog > 0 { try journal.commit() }
    return try catalog.read("cannot look for changes below a directory") { connection in
      // The store has it no more: what has a name elsewhere is not in it.
      try CatalogSearch(connection).hasChanges(below: directory.rawValue, isGone: true)
    }
  }

  public func hasChanges(below directory: ChangedItem) throws(FSError) -> Bool {
    if journal.backlog > 0 { try journal.commit() }
    let known = journal.item(of: directory.node)
    return try catalog.read("cannot look for changes below a directory") { connection in
      let search = CatalogSearch(connection)
      guard let top = try known ?? search.item(directory)?.id else { return false }
      return try search.hasChanges(below: top)
    }
  }

  public func drop(_ directory: SavedItemID) {
    let isAwaited = try? catalog.read("cannot look for what was set in a directory") { connection in
      try CatalogRenames(connection).isAwaited(directory.rawValue)
    }
    guard !(isAwaited ?? false) else { return absent.withLock { _ = $0.insert(directory.rawValue) } }
    let isNoted: Void? = try? journal.write("cannot drop what is kept of a directory") { writer, connection in
      try writer.trashAbsent([directory.rawValue], connection)
    }
    if isNoted != nil { emptyTrash() }
  }

  /// LIMIT: rows that the end of a volume goes through; more are the next run's.
  private static var droppedMax: Int { 4096 }

  /// The volume ends: what is kept of directories that were not where they were, and that no listing has brought under
  /// another key, goes.
  func dropAbsent() {
    let nodes = journal.nodes
    let left = absent.withLock { absent in
      defer { absent = [] }
      return absent.filter { nodes.node(of: $0) == nil }
    }
    guard !left.isEmpty else { return }
    // What cannot be dropped now is met by the next mount again.
    let contents = try? journal.write("cannot drop what is kept of directories") { writer, connection in
      // What is below may have been met meanwhile, in a directory that the store has put there.
      let unused = try left.filter { try !CatalogSearch(connection).isUsed(below: $0) { nodes.node(of: $0) != nil } }
      try writer.trashAbsent(unused, connection)
      return try writer.emptyTrash(connection, limit: Self.droppedMax)
    }
    for id in contents ?? [] { content.remove(id) }
  }

  public func renamed(_ directories: [ChangedItem]) throws(FSError) -> [FormerPlace] {
    guard journal.hadItems else { return [] }
    // Of what was not met in this run nothing waits to be committed.
    let nodes = journal.nodes
    return try catalog.read("cannot look for directories that were renamed") { connection in
      try directories.compactMap { directory in
        let found = try CatalogRenames(connection).row(of: directory) { nodes.node(of: $0) != nil }
        return found.map { FormerPlace(directory, item: SavedItemID(rawValue: $0.row.id), key: $0.key) }
      }
    }
  }

  public func takeRenamed(_ directories: [ChangedItem]) throws(FSError) -> [RenamedDirectory] {
    if journal.backlog > 0 { try journal.commit() }
    let taken = try journal.write("cannot keep that directories were renamed") { writer, connection in
      try writer.takeRenamed(directories, connection).map { renamed in
        var lost: [ItemRow] = []
        return RenamedDirectory(
          renamed.directory.node, item: try self.item(renamed.row, connection, lost: &lost),
          formerKey: renamed.formerKey, key: renamed.directory.binding?.key ?? [])
      }
    }
    for renamed in taken { journal.adopt(renamed.item.id.rawValue, as: renamed.node) }
    if journal.trashCount > 0 { emptyTrash() }
    return taken
  }

  public func writing(below directory: ChangedItem) throws(FSError) -> SavedWriting {
    if journal.backlog > 0 { try journal.commit() }
    let known = journal.item(of: directory.node)
    return try catalog.read("cannot look for what was written below a directory") { connection in
      guard let top = try known ?? CatalogSearch(connection).item(directory)?.id else { return SavedWriting() }
      var search = WritingSearch(connection, content)
      return try search.run(below: top)
    }
  }

  public func adopt(_ item: SavedItemID, as node: NodeID) { journal.adopt(item.rawValue, as: node) }

  /// What the store listed in a directory when that was told last; nil if it was not.
  public func listing(of directory: ChangedItem) throws(FSError) -> [StoreEntry]? {
    if journal.backlog > 0 { try journal.commit() }
    return try catalog.read("cannot read a saved listing") { connection in
      guard let row = try CatalogSearch(connection).item(directory) else { return nil }
      var entries: [StoreEntry] = []
      var parts: Int64 = 0
      try connection.forEach(
        "SELECT part, entries, sum FROM listing WHERE directory = ? ORDER BY part", .integer(row.id)
      ) { part in
        let (number, bytes) = (try part.integer(0), try part.bytes(1))
        try part.checkSum([.integer(row.id), .integer(number), .bytes(bytes)], in: 2)
        guard number == parts else { throw Damage("a part of a listing is missing") }
        parts += 1
        entries += try ListingPart.decode(bytes, home: part.home)
      }
      return parts > 0 ? entries : nil
    }
  }

  /// Keeps what the store has listed in a directory. Metadata lane.
  public func keepListing(_ entries: [StoreEntry], of directory: ChangedItem) throws(FSError) {
    try journal.write("cannot keep a listing") { writer, connection in
      try writer.setListing(entries, of: directory, connection)
    }
  }

  // MARK: - Rows

  /// What cannot be read is a warning of `status`, too: nobody but who has looked would know of it.
  private func noting<Result>(_ body: () throws(FSError) -> Result) throws(FSError) -> Result {
    do throws(FSError) {
      return try body()
    } catch {
      notes.noteDamage(error)
      throw error
    }
  }

  /// Says of a row that cannot be read which one it is, and of which directory.
  private func naming<Result>(
    _ row: @autoclosure () -> String, in directory: ItemRow, _ connection: CatalogConnection,
    _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch let damage as Damage {
      let path = (try? CatalogSearch(connection).path(of: directory.id)) ?? nil
      let name = path.map { $0.isEmpty ? "the root" : "'\(String(decoding: $0, as: UTF8.self))'" }
      throw Damage("\(row()) in \(name ?? "item \(directory.id)"): \(damage)")
    }
  }

  private func saved(
    of directory: ChangedItem, _ known: Int64?, _ connection: CatalogConnection, lost: inout [ItemRow]
  ) throws -> SavedDirectory {
    let search = CatalogSearch(connection)
    var saved = SavedDirectory()
    // A directory that was adopted is the one of its place, even if SOURCE has another one there by now.
    let adopted = try known.flatMap { try connection.item($0) }
    guard let row = try adopted ?? search.item(directory) else { return saved }
    guard row.kind == .directory || row.kind == nil else { throw Damage("what is in a file was saved") }
    saved.item = try item(row, connection, lost: &lost)
    try connection.forEach("SELECT \(NameRow.columns) FROM name WHERE directory = ?", .integer(row.id)) { found in
      let name = try naming("a name", in: row, connection) { try NameRow(found) }
      try naming("item \(name.item)", in: row, connection) { try add(name, in: row, search, to: &saved, lost: &lost) }
    }
    try connection.forEach("SELECT \(ItemRow.columns) FROM item WHERE parent = ?", .integer(row.id)) { found in
      let id = try found.integer(0)
      try naming("item \(id)", in: row, connection) {
        let child = try ItemRow(found)
        guard let name = child.place?.name else { return }
        saved.listed.append(SavedDirectory.Name(name: name, item: try item(child, connection, lost: &lost)))
      }
    }
    for shared in try search.sharedFiles(in: row) + search.onlyShared(in: row.id) {
      guard !(saved.listed + saved.hidden).contains(where: { $0.name == shared.name }) else { continue }
      saved.listed.append(
        SavedDirectory.Name(name: shared.name, item: try item(shared.row, connection, lost: &lost)))
    }
    return saved
  }

  private func add(
    _ name: NameRow, in row: ItemRow, _ search: CatalogSearch, to saved: inout SavedDirectory, lost: inout [ItemRow]
  ) throws {
    let connection = search.connection
    guard let target = try connection.item(name.item) else { throw Damage("a name leads to no item") }
    if name.layer == .made, target.kind == .directory || target.kind == nil {
      try check(target, isOnlyIn: row, search, in: connection)
    }
    var entry = SavedDirectory.Name(name: name.name, item: try item(target, connection, lost: &lost))
    entry.item.isElsewhere = target.place.map { $0 != ItemRow.Place(parent: row.id, name: name.name) } ?? false
    if name.layer == .made { saved.made.append(entry) } else { saved.hidden.append(entry) }
  }

  /// A directory has one name, and is not in itself.
  private func check(
    _ child: ItemRow, isOnlyIn directory: ItemRow, _ search: CatalogSearch, in connection: CatalogConnection
  ) throws {
    guard try connection.names(of: child.id).filter({ $0.layer == .made }).count == 1 else {
      throw Damage("a directory has two names")
    }
    guard try !search.isIn(child.id, directory.id) else { throw Damage("a directory is in itself") }
  }

  private func item(
    _ row: ItemRow, _ connection: CatalogConnection, lost: inout [ItemRow]
  ) throws -> SavedItem {
    var item = SavedItem(id: SavedItemID(rawValue: row.id), inode: row.inode)
    item.version = row.record.version
    item.listed = row.record.listed
    let names = try connection.names(of: row.id)
    item.isNamed = names.contains { $0.layer == .made }
    item.isHidden = names.contains { $0.layer == .hidden }
    item.hasPlace = row.place != nil
    let isHiddenThere = row.place.map { place in
      names.contains { $0.layer == .hidden && $0.directory == place.parent && $0.name == place.name }
    }
    item.nameCount = names.count + (isHiddenThere == false ? 1 : 0)
    if item.isNamed { item.key = try CatalogSearch(connection).key(of: row) }
    item.attributes = row.record.attributes
    item.isDirty = row.record.isDirty
    item.target = row.record.target
    item.lastUse = row.record.use
    if let id = row.content {
      let size = try? content.size(of: id)
      let isWhole =
        row.record.isDirty
        ? size != nil : isTrusted(row.record.epoch) && size != nil && size == row.record.version?.size
      item.contentSize = size ?? 0
      if isWhole { item.content = id } else if !row.record.isDirty { lost.append(row) }
      if hasLostContent(row) {
        notes.noteLost(row.id, path: (try? CatalogSearch(connection).path(of: row.id)) ?? nil)
        // It is no empty file: whoever reads it is told (EIO).
        if size == nil {
          item.content = id
          item.contentSize = max(row.record.attributes?.size ?? row.record.version?.size ?? 1, 1)
        }
      }
    }
    try connection.forEach("SELECT name, value, sum FROM attribute WHERE item = ?", .integer(row.id)) { found in
      let (name, value) = (try found.bytes(0), try found.optionalBytes(1))
      try found.checkSum([.integer(row.id), .bytes(name), SQLValue(value)], in: 2)
      guard !name.isEmpty, name.count <= 255, !name.contains(0), (value?.count ?? 0) <= 64 << 10 else {
        throw Damage("an extended attribute is none")
      }
      guard CatalogConnection.isStoreName(name) else {
        item.extendedAttributes.updateValue(value, forKey: name)
        return
      }
      if let value, item.isDirty { item.storeNames.append(value) }
    }
    // One of them is its place, if the store has that.
    let place = try item.storeNames.isEmpty ? nil : CatalogSearch(connection).key(of: row)
    item.nameCount += max(item.storeNames.count - (place != nil ? 1 : 0), 0)
    item.storeNames = CatalogConnection.severalNames(item.storeNames, place, listed: item.listed)
    return item
  }

  /// Clean content that is missing, or may be incomplete: the files are dataless again.
  private func drop(_ lost: [ItemRow]) throws(FSError) {
    guard !lost.isEmpty else { return }
    let dropped = try journal.write("cannot drop content") { _, connection in
      try lost.compactMap { lost -> ContentID? in
        guard var row = try connection.item(lost.id), row.content == lost.content, !row.record.isDirty else {
          return nil
        }
        row.content = nil
        try row.save(connection)
        return lost.content
      }
    }
    for id in dropped { content.remove(id) }
  }
}
