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

  /// Items of the volume's own that the operation under way has left without a name.
  private var nameless: Set<Int64> = []
  /// Items that are in the table of orphans, or were before a transaction failed.
  private var orphans: Set<Int64> = []

  init(_ connection: CatalogConnection, epoch: Int64) throws {
    let last = try connection.first("SELECT max(id) FROM item") { row throws in try row.optionalInteger(0) } ?? nil
    guard let last, last < .max / 2 else { throw Damage("there is no root, or no more room for items") }
    nextID = last + 1
    highestInode = try connection.number(.highestInode) ?? 0
    self.epoch = epoch
    committed = (highestInode, epoch)
  }

  /// A restored item is a node from now on.
  mutating func adopt(_ item: Int64, as node: NodeID) { known.adopt(item, as: node) }

  func item(of node: NodeID) -> Int64? { known[node] }

  /// The transaction has been committed.
  mutating func commit() {
    known.commit()
    replaced = ReplacedNames()
    committed = (highestInode, epoch)
  }

  /// It has not.
  mutating func rollBack() {
    known.rollBack()
    replaced = ReplacedNames()
    lastDirectory = nil
    (highestInode, epoch) = committed
  }

  /// Content that is to be on the disk before the transaction is committed.
  mutating func takeContentToFlush() -> Set<ContentID> { replaced.takeContent() }

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
      try make(item, attributes, target, listed, connection)
    case .content(let item, let content): try setContent(content, of: item, isDirty: false, connection)
    case .dirty(let item, let content): try setContent(content, of: item, isDirty: true, connection)
    case .contentDropped(let item, let content): try dropContent(content, of: item, connection)
    case .bound(let item, let formerKey): try bind(item, formerKey, connection)
    case .named(let item, let name, let directory):
      try addName(name, in: directory, .made, item, connection)
    case .unnamed(let name, let directory): try removeName(name, in: directory, .made, connection)
    case .hidden(let item, let name, let directory):
      try addName(name, in: directory, .hidden, item, connection)
    case .unhidden(let name, let directory): try removeName(name, in: directory, .hidden, connection)
    case .attributes(let item, let attributes, let listed):
      try update(item, connection) { $0.set(attributes, listed: listed, of: item) }
    case .attribute(let item, let name, let value): try setAttribute(name, value, of: item, connection)
    case .forgotten(let item):
      if let row = try find(item, connection) { try delete(row.id, connection) }
    }
  }

  private mutating func make(
    _ item: ChangedItem, _ attributes: ItemAttributes, _ target: [UInt8], _ listed: ItemAttributes?,
    _ connection: CatalogConnection
  ) throws {
    let id = try update(item, connection) { row in
      row.set(attributes, listed: listed, of: item)
      row.record.target = target
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
    try update(item, connection) { row in
      row.content = content
      row.record.isDirty = isDirty
      row.record.epoch = epoch
      if let version = item.binding?.version { row.record.version = version }
    }
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
    _ name: [UInt8], in directory: ChangedItem, _ layer: NameRow.Layer, _ item: ChangedItem,
    _ connection: CatalogConnection
  ) throws {
    let row = NameRow(
      directory: try resolve(directory, connection).id, name: name, layer: layer, item: try resolve(item, connection).id
    )
    if layer == .made {
      try replaced.note(row, connection)
      nameless.remove(row.item)
      if orphans.contains(row.item) { try connection.run("DELETE FROM orphan WHERE item = ?", .integer(row.item)) }
    }
    if layer == .hidden { replaced.vacate(name, in: row.directory) }
    try row.save(connection)
  }

  private mutating func removeName(
    _ name: [UInt8], in directory: ChangedItem, _ layer: NameRow.Layer, _ connection: CatalogConnection
  ) throws {
    guard let parent = try find(directory, connection) else { return }
    guard let row = try connection.name(name, in: parent.id, layer) else { return }
    if layer == .made { replaced.vacate(name, in: parent.id) }
    try connection.deleteName(name, in: parent.id, layer)
    try deleteIfEmpty(row.item, connection)
    try deleteIfEmpty(parent.id, connection)
    if layer == .made, let item = try connection.item(row.item), item.place == nil { nameless.insert(item.id) }
  }

  private mutating func setAttribute(
    _ name: [UInt8], _ value: [UInt8]?, of item: ChangedItem, _ connection: CatalogConnection
  ) throws {
    let id = try resolve(item, connection).id
    let values: [SQLValue] = [.integer(id), .bytes(name), SQLValue(value)]
    try connection.run(
      "INSERT OR REPLACE INTO attribute(item, name, value, sum) VALUES(?, ?, ?, ?)", values[0], values[1], values[2],
      .integer(Checksum.of(values)))
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
  private mutating func find(_ item: ChangedItem, _ connection: CatalogConnection) throws -> ItemRow? {
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

  private mutating func bind(_ item: ChangedItem, _ formerKey: [UInt8], _ connection: CatalogConnection) throws {
    lastDirectory = nil
    guard let binding = item.binding, var row = try findBound(item, formerKey, connection) else { return }
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
    _ item: ChangedItem, _ formerKey: [UInt8], _ connection: CatalogConnection
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
  private mutating func deleteIfEmpty(_ id: Int64, _ connection: CatalogConnection) throws {
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
