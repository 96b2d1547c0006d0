import DatalessCore

/// Finds, makes and deletes the rows of items for changes, which name items by nodes, inside a transaction.
///
/// What is remembered in a transaction that fails is forgotten again (`rollBack`).
struct CatalogItems: Sendable {
  private var known = KnownItems()
  /// The directory of the store whose place was looked up last.
  private var lastDirectory: (key: [UInt8], item: Int64)?
  private var nextID: Int64
  /// Items of the volume's own that the operation under way has left without a name.
  private var nameless: Set<Int64> = []
  /// Files of the store that it has left without a name that callers see, or has given content without one.
  private var hidden: Set<Int64> = []
  /// Items that are in the table of orphans, or were before a transaction failed.
  private var orphans: Set<Int64>
  /// Those of them that the transaction under way has given a name, or a place, again.
  private var reclaimed: Set<Int64> = []
  /// Content that the transaction under way has left without an item: to be removed when it is committed.
  private var leftContent: [ContentID] = []
  /// Content that other content has taken the row of, and that the node which has it removes; as it was committed, and
  /// as it is now.
  private var superseded: (committed: Set<ContentID>, now: Set<ContentID>) = ([], [])

  init(nextID: Int64, orphans: Set<Int64>) {
    self.nextID = nextID
    self.orphans = orphans
  }

  /// A restored item is a node from now on.
  mutating func adopt(_ item: Int64, as node: NodeID) { known.adopt(item, as: node) }

  mutating func remember(_ item: Int64, as node: NodeID) { known.remember(item, as: node) }

  func item(of node: NodeID) -> Int64? { known[node] }
  func node(of item: Int64) -> NodeID? { known.node(of: item) }

  /// The nodes that items are, as they are now.
  var nodes: KnownItems { known }

  mutating func commit() {
    known.commit()
    superseded.committed = superseded.now
    orphans.subtract(reclaimed)
    reclaimed = []
  }

  /// A row has other fetched content from now on. If no other node had it in this run, nobody else removes the former
  /// one: an earlier run has fetched it, by the name that the store had then.
  mutating func leave(_ content: ContentID, of item: Int64, to node: NodeID) {
    if known.wasAlways(item, node) { leftContent.append(content) } else { superseded.now.insert(content) }
  }

  /// Whoever has content removes it.
  mutating func noteDropped(_ content: ContentID) {
    if !superseded.now.isEmpty { superseded.now.remove(content) }
  }

  /// Content that no row has, and that nobody has removed.
  mutating func takeSuperseded() -> Set<ContentID> {
    defer { superseded.now = [] }
    return superseded.now
  }

  mutating func takeLeftContent() -> [ContentID] {
    defer { leftContent = [] }
    return leftContent
  }

  mutating func rollBack() {
    known.rollBack()
    leftContent = []
    superseded.now = superseded.committed
    reclaimed = []
    lastDirectory = nil
  }

  /// Rows were changed by others.
  mutating func forgetPlaces() { lastDirectory = nil }

  // MARK: - Items without a name

  mutating func beginOperation() { (nameless, hidden) = ([], []) }

  /// Keeps the items that the operation has left without a name until they are forgotten.
  mutating func endOperation(_ connection: CatalogConnection) throws {
    for item in nameless {
      guard let row = try connection.item(item), row.place == nil,
        try connection.names(of: item).allSatisfy({ $0.layer != .made }),
        !CatalogSearch(connection).mayHaveChanges(below: row)
      else { continue }
      try addOrphan(item, connection)
    }
    for item in hidden {
      if let row = try connection.item(item), try connection.isUnreachable(row) { try addOrphan(item, connection) }
    }
  }

  mutating func addOrphan(_ item: Int64, _ connection: CatalogConnection) throws {
    try connection.run("INSERT OR IGNORE INTO orphan(item) VALUES(?)", .integer(item))
    orphans.insert(item)
    reclaimed.remove(item)
  }

  /// Items were put into the table of orphans by others.
  mutating func noteOrphans(_ items: Set<Int64>) {
    orphans.formUnion(items)
    reclaimed.subtract(items)
  }

  /// A file of the store may be seen by nobody at the end of the operation, and have content: somebody has it open.
  mutating func noteHidden(_ item: Int64) { hidden.insert(item) }

  /// It has no content any more, or is seen again.
  mutating func noteReachable(_ item: Int64, _ connection: CatalogConnection) throws {
    guard orphans.contains(item), let row = try connection.item(item), row.place != nil, row.kind != .directory,
      row.kind != nil
    else { return }
    try connection.run("DELETE FROM orphan WHERE item = ?", .integer(item))
    reclaimed.insert(item)
  }

  /// An item may have no name at the end of the operation.
  mutating func noteNameless(_ item: Int64) { nameless.insert(item) }

  /// An item has a name.
  mutating func noteNamed(_ item: Int64, _ connection: CatalogConnection) throws {
    nameless.remove(item)
    guard orphans.contains(item) else { return }
    try connection.run("DELETE FROM orphan WHERE item = ?", .integer(item))
    reclaimed.insert(item)
  }

  /// The store has something else, or nothing, where it had a removed item: what is left of a removed tree has no place
  /// any more. Of a tree that was gone through already that is nothing.
  mutating func vacateOrphan(_ item: Int64, _ connection: CatalogConnection) throws {
    guard orphans.contains(item), !reclaimed.contains(item), var removed = try connection.item(item) else { return }
    removed.place = nil
    try removed.save(connection)
    lastDirectory = nil
    guard removed.isDirectoryOfStore, try !connection.isOrphan(item), try !connection.isNeeded(item) else { return }
    try delete(item, connection)
  }

  /// A hidden name leads to an item no more, which may have neither a name nor a place then.
  mutating func noteUnhidden(_ item: Int64, _ connection: CatalogConnection) throws {
    guard let row = try connection.item(item), row.place == nil else { return }
    notePlaceless(row)
    try noteNowhere(row, connection)
  }

  /// An item that was removed here has lost a name in the store. What was written to it nobody finds by anything any
  /// more, but who has it open, if it has no other one.
  mutating func noteNowhere(_ row: ItemRow, _ connection: CatalogConnection) throws {
    guard row.record.isDirty, row.place == nil, !row.awaitsName, try connection.names(of: row.id).isEmpty,
      try connection.storeNames(of: row.id).isEmpty
    else { return }
    noteNameless(row.id)
  }

  // MARK: - Rows

  @discardableResult
  mutating func update(
    _ item: ChangedItem, _ connection: CatalogConnection, _ change: (inout ItemRow) -> Void
  ) throws -> Int64 {
    var row = try resolve(item, connection)
    change(&row)
    try row.save(connection)
    return row.id
  }

  /// The row of an item; made if there is none.
  mutating func resolve(_ item: ChangedItem, _ connection: CatalogConnection) throws -> ItemRow {
    if let row = try find(item, connection) { return row }
    return try make(item, connection)
  }

  /// A row of its own for an item that has none, or whose row is another's by now.
  @discardableResult
  mutating func make(_ item: ChangedItem, _ connection: CatalogConnection) throws -> ItemRow {
    var row = ItemRow(id: takeID(), place: nil, inode: item.inode)
    if let binding = item.binding {
      row.record.version = binding.version
      row.place = try place(of: item, connection)
      if let place = row.place { try clear(place, connection) }
    }
    try row.save(connection)
    known.remember(row.id, as: item.node)
    return row
  }

  /// The row of an item, which knows its place by now; nil if there is none.
  mutating func find(_ item: ChangedItem, _ connection: CatalogConnection) throws -> ItemRow? {
    if let id = known[item.node], var row = try connection.item(id) {
      // The store has it no more, and it is the volume's own; unless the row is another node's by now, which has that
      // place by another name of the store's.
      if item.binding == nil, row.place != nil, known.node(of: id) == item.node {
        row.place = nil
        try row.save(connection)
        lastDirectory = nil
        notePlaceless(row)
      }
      return row
    }
    let search = CatalogSearch(connection)
    guard var row = try search.item(item), try !isOwn(row, ofOtherThan: item, connection) else { return nil }
    // The store has renamed it. Where it was before may be a tree that was removed here, which it would go with; and
    // what is done to it now is done to the name that it has now.
    if let binding = item.binding, row.id != ItemRow.root,
      try row.kind == .directory || search.hasOneName(row) || isLeft(row),
      try search.key(of: row) != binding.key || search.isInOthers(row, than: item, isInUse: { node(of: $0) != nil }),
      let place = try place(of: item, connection), place != row.place
    {
      try clear(place, connection)
      if let content = row.content, isLeft(row) {
        leftContent.append(content)
        row.content = nil
      }
      row.place = place
      try row.save(connection)
    }
    if row.record.version == nil, item.binding != nil, row.id != ItemRow.root {
      row.take(item)
      try row.save(connection)
    }
    known.remember(row.id, as: item.node)
    return row
  }

  /// Where the store has an item, with the directories on the way; nil for the root, and where something else is known
  /// to be that was changed. A name that an earlier run has met is not known to be there still.
  mutating func place(of item: ChangedItem, _ connection: CatalogConnection) throws -> ItemRow.Place? {
    guard let key = item.binding?.key else { return nil }
    var names = try SavedName.components(of: key)
    guard let last = names.popLast() else { return nil }
    let directory = Array(key.dropLast(names.isEmpty ? last.count : last.count + 1))
    var parent = ItemRow.root
    if let lastDirectory, lastDirectory.key == directory {
      parent = lastDirectory.item
    } else {
      for (level, name) in names.enumerated() {
        let above = names.count - 1 - level
        let way = above < item.directories.count ? item.directories[above] : nil
        let place = ItemRow.Place(parent: parent, name: name)
        guard let next = try self.directory(way, at: place, connection) else { return nil }
        parent = next
      }
      lastDirectory = (directory, parent)
    }
    let place = ItemRow.Place(parent: parent, name: last)
    let isSeen = item.directories.count >= names.count
    return try isSeen || !isWritten(place, byOtherThan: item, connection) ? place : nil
  }

  /// Whether a place is another item's, to which something was written.
  private func isWritten(
    _ place: ItemRow.Place, byOtherThan item: ChangedItem, _ connection: CatalogConnection
  ) throws -> Bool {
    guard let row = try connection.item(at: place), row.record.isDirty, row.id != known[item.node] else { return false }
    guard let version = item.binding?.version, let other = row.record.version else { return true }
    return !version.isSameItem(as: other)
  }

  /// The row of a directory on the way; made if there is none. It says what the directory is in the store: so it is
  /// found when SOURCE has renamed that. nil where a file is that was changed, and nobody has seen a directory.
  private mutating func directory(
    _ directory: ChangedItem.Directory?, at place: ItemRow.Place, _ connection: CatalogConnection
  ) throws -> Int64? {
    var former = try connection.item(at: place)
    if let row = former {
      if directory == nil, row.kind ?? .directory != .directory, !row.isBareFile { return nil }
      let isOther = directory.map { row.record.version?.isSameItem(as: $0.version) == false } ?? false
      // Another one that is a node tells itself where it is by now; what is below this one would go with it.
      if isOther || row.kind ?? .directory != .directory {
        try clear(place, connection)
        former = nil
      }
    }
    var row = former ?? ItemRow(id: takeID(), place: place, inode: 0)
    if row.record.version == nil, let directory {
      (row.record.version, row.inode) = (directory.version, directory.version.inode)
    }
    if row != former { try row.save(connection) }
    if let node = directory?.node, try known[node].flatMap({ try connection.item($0) }) == nil {
      known.remember(row.id, as: node)
    }
    return row.id
  }

  /// Whoever has a place has it no more.
  mutating func clear(_ place: ItemRow.Place, _ connection: CatalogConnection) throws {
    guard var row = try connection.item(at: place) else { return }
    row.place = nil
    try row.save(connection)
    lastDirectory = nil
    try deleteIfEmpty(row.id, connection)
    notePlaceless(row)
  }

  /// An item has lost its place in the store. What nobody has written to goes, unless it has a name: what was set on it
  /// has gone with its name to the item that has the place now (`EngineState.takeNewVersions`). A directory goes with
  /// all that is below it, as a removed tree does, unless something there was changed.
  private mutating func notePlaceless(_ row: ItemRow) {
    let isKept = row.kind == .directory || row.kind == nil ? !row.isDirectoryOfStore : row.record.isDirty
    if !isKept { noteNameless(row.id) }
  }

  /// Deletes an item of the store's of which nothing is kept. Items of the volume's own go when they are forgotten.
  mutating func deleteIfEmpty(_ id: Int64, _ connection: CatalogConnection) throws {
    guard id != ItemRow.root, let row = try connection.item(id), row.isOfStore, row.content == nil,
      row.record.isEmpty, try !connection.isNeeded(id)
    else { return }
    try delete(id, connection)
  }

  mutating func delete(_ id: Int64, _ connection: CatalogConnection) throws {
    // A directory: what it had in the store, and was moved out of it here, has no place there any more.
    for var child in try connection.items(in: id, after: .min, limit: .max) {
      child.place = nil
      try child.save(connection)
      notePlaceless(child)
      if child.kind == .directory || child.kind == nil, try !connection.hasMadeName(child.id) {
        try delete(child.id, connection)
      }
    }
    for name in try connection.names(in: id, limit: .max) where name.layer == .hidden {
      try connection.deleteName(name.name, in: id, name.layer)
      try noteUnhidden(name.item, connection)
    }
    // What is left in a directory that the store has no more says that it was moved out of that.
    try connection.run("DELETE FROM name WHERE item = ? AND layer = 1", .integer(id))
    try connection.run("DELETE FROM attribute WHERE item = ?", .integer(id))
    try connection.run("DELETE FROM listing WHERE directory = ?", .integer(id))
    try connection.run("DELETE FROM item WHERE id = ?", .integer(id))
    if orphans.contains(id) { try connection.run("DELETE FROM orphan WHERE item = ?", .integer(id)) }
    nameless.remove(id)
    if lastDirectory?.item == id { lastDirectory = nil }
  }

  /// A directory of the store's is the volume's own from now on, and nothing was told of it yet but what is below it:
  /// the row of its place is its own, so that all of that stays in it.
  mutating func adopt(_ item: ChangedItem, at place: ItemRow.Place, _ connection: CatalogConnection) throws {
    guard item.binding == nil, known[item.node] == nil, let row = try connection.item(at: place),
      row.kind == .directory || row.kind == nil
    else { return }
    known.remember(row.id, as: item.node)
  }

  private mutating func takeID() -> Int64 {
    defer { nextID += 1 }
    return nextID
  }
}
