import DatalessCore

/// Applies changes to the catalog, inside a transaction of its caller's.
///
/// It remembers which item a node is, as changes name items by nodes: what was remembered in a transaction that
/// fails is forgotten again (`rollBack`).
struct CatalogWriter: Sendable {
  private var known = KnownItems()
  /// The directory of the store whose place was looked up last.
  private var lastDirectory: (key: [UInt8], item: Int64)?
  private var nextID: Int64
  private(set) var highestInode: UInt64
  /// In which epoch content is written.
  var epoch: Int64
  /// Both as they were committed last.
  private var committed: (highestInode: UInt64, epoch: Int64)
  private var replaced = ReplacedNames()
  /// Inode numbers that are given on the volume.
  private static let madeInodes: Range<UInt64> = 1 << 62..<1 << 63

  /// Content that may have been written since this was asked last, and that nobody has flushed.
  private var written: Set<ContentID> = []

  /// Content of what the store has no more, that has become dirty: its clean bytes are nowhere else.
  private var givenUp: Set<ContentID> = []

  /// Items of the volume's own that the operation under way has left without a name.
  private var nameless: Set<Int64> = []
  /// Items that are in the table of orphans, or were before a transaction failed.
  private var orphans: Set<Int64> = []
  /// Trees that are to be gone through; and as they were committed last.
  private var trash = CatalogTrash()
  private var committedTrash = CatalogTrash()

  init(_ connection: CatalogConnection, epoch: Int64) throws {
    let last = try connection.first("SELECT max(id) FROM item") { row throws in try row.optionalInteger(0) } ?? nil
    guard let last, last < .max / 2 else { throw Damage("there is no root, or no more room for items") }
    nextID = last + 1
    highestInode = try connection.number(.highestInode) ?? 0
    self.epoch = epoch
    committed = (highestInode, epoch)
    for top in try connection.removedTrees().tops {
      orphans.insert(top)
      trash.add(top)
    }
    committedTrash = trash
  }

  /// A restored item is a node from now on.
  mutating func adopt(_ item: Int64, as node: NodeID) { known.adopt(item, as: node) }

  func item(of node: NodeID) -> Int64? { known[node] }

  /// The transaction has been committed.
  mutating func commit() {
    known.commit()
    replaced = ReplacedNames()
    givenUp = []
    committed = (highestInode, epoch)
    committedTrash = trash
  }

  /// It has not.
  mutating func rollBack() {
    known.rollBack()
    replaced = ReplacedNames()
    givenUp = []
    lastDirectory = nil
    (highestInode, epoch) = committed
    trash = committedTrash
  }

  /// As `CatalogTrash.count`.
  var trashCount: Int { trash.count }

  /// Goes on with removed trees. - Returns: Content to be removed.
  mutating func emptyTrash(_ connection: CatalogConnection, limit: Int) throws -> [ContentID] {
    let known = known
    lastDirectory = nil
    return try trash.empty(connection, limit: limit) { known.contains($0) }
  }

  /// Content that is to be on the disk before the transaction is committed.
  mutating func takeContentToFlush() -> Set<ContentID> {
    defer { givenUp = [] }
    return replaced.takeContent().union(givenUp)
  }

  var hasWritten: Bool { !written.isEmpty }

  /// Content that may have been written since this was asked last.
  mutating func takeWritten() -> Set<ContentID> {
    defer { written = [] }
    return written
  }

  // MARK: - Changes

  /// Applies what has one number.
  mutating func apply(_ change: StateChange, _ connection: CatalogConnection) throws {
    replaced.beginOperation()
    nameless = []
    try applyPart(change, connection)
    for item in nameless where try connection.names(of: item).allSatisfy({ $0.layer != .made }) {
      try connection.run("INSERT OR IGNORE INTO orphan(item) VALUES(?)", .integer(item))
      orphans.insert(item)
    }
  }

  private mutating func applyPart(_ change: StateChange, _ connection: CatalogConnection) throws {
    switch change {
    case .together(let changes): for change in changes { try applyPart(change, connection) }
    case .made(let item, let attributes, let target, let listed):
      try make(item, attributes, target: target, listed: listed, in: connection)
    case .content(let item, let content): try setContent(content, of: item, isDirty: false, connection)
    case .dirty(let item, let content): try setContent(content, of: item, isDirty: true, connection)
    case .contentDropped(let item, let content): try dropContent(content, of: item, connection)
    case .bound(let item, let formerKey): try bind(item, formerKey, in: connection)
    case .named(let item, let name, let directory):
      try addName(name, in: directory, .made, item: item, connection: connection)
    case .unnamed(let name, let directory): try removeName(name, in: directory, .made, connection: connection)
    case .hidden(let item, let name, let directory):
      try addName(name, in: directory, .hidden, item: item, connection: connection)
    case .unhidden(let name, let directory): try removeName(name, in: directory, .hidden, connection: connection)
    case .attributes(let item, let attributes, let listed):
      var dirty: ContentID?
      try update(item, connection) { row in
        row.set(attributes, listed: listed, of: item)
        if row.record.isDirty { dirty = row.content }
      }
      if let dirty { written.insert(dirty) }
    case .attribute(let item, let name, let value): try setAttribute(name, value, of: item, in: connection)
    case .trashed(let item, let isKnown):
      let id = try resolve(item, connection).id
      try connection.run("INSERT OR IGNORE INTO orphan(item) VALUES(?)", .integer(id))
      orphans.insert(id)
      if !isKnown { trash.add(id) }
    case .forgotten(let item):
      // What is in a tree that is still gone through goes with that.
      if let row = try find(item, connection), try !trash.contains(row.id) && !connection.hasMadeName(row.id) {
        try delete(row.id, connection)
      }
    }
  }

  private mutating func make(
    _ item: ChangedItem, _ attributes: ItemAttributes, target: [UInt8], listed: ItemAttributes?,
    in connection: CatalogConnection
  ) throws {
    let id = try update(item, connection) { row in
      row.set(attributes, listed: listed, of: item)
      row.record.target = target
      // What was written here is of no version of the store's, which may have another item of the same number.
      if item.binding == nil, row.record.isDirty { row.record.version = nil }
    }
    if item.binding == nil { nameless.insert(id) }
    if Self.madeInodes.contains(item.inode), item.inode > highestInode {
      highestInode = item.inode
      try connection.set(.highestInode, to: highestInode)
    }
  }

  private mutating func setContent(
    _ content: ContentID, of item: ChangedItem, isDirty: Bool, _ connection: CatalogConnection
  ) throws {
    // An id that the store has given again, after a power loss has taken what had it.
    if var former = try connection.item(with: content), former.id != (try find(item, connection))?.id {
      former.content = nil
      try former.save(connection)
    }
    let epoch = self.epoch
    written.insert(content)
    var isOnlyCopy = false
    try update(item, connection) { row in
      isOnlyCopy = isDirty && !row.record.isDirty && item.binding == nil && row.record.version != nil
      row.content = content
      row.record.isDirty = isDirty
      row.record.epoch = epoch
      if let version = item.binding?.version { row.record.version = version }
    }
    if isOnlyCopy { givenUp.insert(content) }
  }

  private mutating func dropContent(
    _ content: ContentID, of item: ChangedItem, _ connection: CatalogConnection
  ) throws {
    // By the content: another version of the item may have its place by now.
    guard var row = try connection.item(with: content) else { return }
    row.content = nil
    row.record.isDirty = false
    try row.save(connection)
    try deleteIfEmpty(row.id, connection)
  }

  private mutating func addName(
    _ name: [UInt8], in directory: ChangedItem, _ layer: NameRow.Layer, item: ChangedItem,
    connection: CatalogConnection
  ) throws {
    let row = NameRow(
      directory: try resolve(directory, connection).id, name: name, layer: layer, item: try resolve(item, connection).id
    )
    var former: Int64?
    if layer == .made {
      former = try replaced.note(row, connection)
      nameless.remove(row.item)
      if orphans.contains(row.item) { try connection.run("DELETE FROM orphan WHERE item = ?", .integer(row.item)) }
    }
    let hidden = layer == .hidden ? try connection.name(name, in: row.directory, layer)?.item : nil
    if layer == .hidden { replaced.vacate(name, in: row.directory) }
    try row.save(connection)
    // In one operation a name may be taken away, led to what it was, and led to another item.
    if let former, former != row.item { try noteUnnamed(former, connection) }
    if let hidden, hidden != row.item { try forgetReplaced(hidden, connection) }
  }

  /// The store has another item where it had one that was removed here: nothing leads to that any more.
  private mutating func forgetReplaced(_ id: Int64, _ connection: CatalogConnection) throws {
    guard let row = try connection.item(id), row.kind != .directory, row.content == nil,
      try connection.names(of: id).isEmpty
    else { return }
    try delete(id, connection)
  }

  private mutating func removeName(
    _ name: [UInt8], in directory: ChangedItem, _ layer: NameRow.Layer, connection: CatalogConnection
  ) throws {
    guard let parent = try find(directory, connection) else { return }
    guard let row = try connection.name(name, in: parent.id, layer) else { return }
    if layer == .made { replaced.vacate(name, in: parent.id) }
    try connection.deleteName(name, in: parent.id, layer)
    if layer == .made {
      try noteUnnamed(row.item, connection)
    } else {
      // The store has another item there by now, or none: what is left of a removed tree has no place any more.
      if orphans.contains(row.item), var removed = try connection.item(row.item) {
        removed.place = nil
        try removed.save(connection)
        lastDirectory = nil
      }
      try deleteIfEmpty(row.item, connection)
    }
    try deleteIfEmpty(parent.id, connection)
  }

  /// A name that was made does not lead to an item any more. If none does at the end of the operation, it is an orphan.
  private mutating func noteUnnamed(_ item: Int64, _ connection: CatalogConnection) throws {
    try deleteIfEmpty(item, connection)
    if let row = try connection.item(item), row.place == nil { nameless.insert(item) }
  }

  // MARK: - Items

  @discardableResult
  private mutating func update(
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
    var row = ItemRow(id: takeID(), place: nil, inode: item.inode)
    if let binding = item.binding {
      row.record.version = binding.version
      row.place = try place(of: binding.key, connection)
      if let place = row.place { try clear(place, connection) }
    }
    try row.save(connection)
    known.remember(row.id, as: item.node)
    return row
  }

  /// The row of an item, which knows its place by now; nil if there is none.
  mutating func find(_ item: ChangedItem, _ connection: CatalogConnection) throws -> ItemRow? {
    if let id = known[item.node], var row = try connection.item(id) {
      // The store has it no more, and it is the volume's own.
      if item.binding == nil, row.place != nil {
        row.place = nil
        try row.save(connection)
        lastDirectory = nil
      }
      return row
    }
    guard var row = try CatalogSearch(connection).item(item) else { return nil }
    if row.record.version == nil, let version = item.binding?.version, row.id != ItemRow.root {
      row.record.version = version
      row.inode = item.inode
      try row.save(connection)
    }
    known.remember(row.id, as: item.node)
    return row
  }

  private mutating func bind(_ item: ChangedItem, _ formerKey: [UInt8], in connection: CatalogConnection) throws {
    lastDirectory = nil
    guard let binding = item.binding, var row = try findBound(item, formerKey, in: connection) else { return }
    guard row.id != ItemRow.root else { return }
    if let place = try place(of: binding.key, connection), place != row.place {
      try clear(place, connection)
      row.place = place
    }
    row.record.version = binding.version
    row.inode = item.inode
    try row.save(connection)
  }

  private mutating func findBound(
    _ item: ChangedItem, _ formerKey: [UInt8], in connection: CatalogConnection
  ) throws -> ItemRow? {
    if let row = try find(item, connection) { return row }
    guard let binding = item.binding else { return nil }
    var former = binding
    former.key = formerKey
    return try find(ChangedItem(item.node, inode: item.inode, binding: former), connection)
  }

  /// Where a key leads, with the directories on the way; nil for the root.
  private mutating func place(of key: [UInt8], _ connection: CatalogConnection) throws -> ItemRow.Place? {
    var names = try SavedName.components(of: key)
    guard let last = names.popLast() else { return nil }
    let directory = Array(key.dropLast(names.isEmpty ? last.count : last.count + 1))
    if let lastDirectory, lastDirectory.key == directory {
      return ItemRow.Place(parent: lastDirectory.item, name: last)
    }
    var parent = ItemRow.root
    for name in names {
      let place = ItemRow.Place(parent: parent, name: name)
      if let row = try connection.item(at: place) {
        parent = row.id
      } else {
        let row = ItemRow(id: takeID(), place: place, inode: 0)
        try row.save(connection)
        parent = row.id
      }
    }
    lastDirectory = (directory, parent)
    return ItemRow.Place(parent: parent, name: last)
  }

  /// Whoever has a place has it no more.
  private mutating func clear(_ place: ItemRow.Place, _ connection: CatalogConnection) throws {
    guard var row = try connection.item(at: place) else { return }
    row.place = nil
    try row.save(connection)
    lastDirectory = nil
    try deleteIfEmpty(row.id, connection)
  }

  /// Deletes an item of the store's of which nothing is kept. Items of the volume's own go when they are forgotten.
  mutating func deleteIfEmpty(_ id: Int64, _ connection: CatalogConnection) throws {
    guard id != ItemRow.root, let row = try connection.item(id), row.isOfStore, row.content == nil,
      row.record.isEmpty, try !connection.isNeeded(id)
    else { return }
    try delete(id, connection)
  }

  private mutating func delete(_ id: Int64, _ connection: CatalogConnection) throws {
    try connection.run("DELETE FROM attribute WHERE item = ?", .integer(id))
    try connection.run("DELETE FROM listing WHERE directory = ?", .integer(id))
    try connection.run("DELETE FROM item WHERE id = ?", .integer(id))
    if orphans.contains(id) { try connection.run("DELETE FROM orphan WHERE item = ?", .integer(id)) }
    nameless.remove(id)
    if lastDirectory?.item == id { lastDirectory = nil }
  }

  private mutating func takeID() -> Int64 {
    defer { nextID += 1 }
    return nextID
  }
}
