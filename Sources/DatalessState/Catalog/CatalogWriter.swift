import DatalessCore

/// Applies changes to the catalog, inside a transaction of its caller's.
///
/// What it remembers of a transaction that fails is forgotten again (`rollBack`).
struct CatalogWriter: Sendable {
  /// The rows that changes are about.
  var items: CatalogItems
  private(set) var highestInode: UInt64
  /// Whether an earlier run has left anything but the root.
  let hadItems: Bool
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

  /// Trees that are to be gone through; and as they were committed last.
  private var trash = CatalogTrash()
  private var committedTrash = CatalogTrash()

  init(_ connection: CatalogConnection, epoch: Int64) throws {
    let last = try connection.first("SELECT max(id) FROM item") { row throws in try row.optionalInteger(0) } ?? nil
    guard let last, last < .max / 2 else { throw Damage("there is no root, or no more room for items") }
    hadItems = last > ItemRow.root
    highestInode = try connection.number(.highestInode) ?? 0
    self.epoch = epoch
    committed = (highestInode, epoch)
    let removed = try connection.removedTrees().tops
    items = CatalogItems(nextID: last + 1, orphans: Set(removed))
    for top in removed { trash.add(top) }
    committedTrash = trash
  }

  /// A restored item is a node from now on.
  mutating func adopt(_ item: Int64, as node: NodeID) { items.adopt(item, as: node) }

  func item(of node: NodeID) -> Int64? { items.item(of: node) }
  func node(of item: Int64) -> NodeID? { items.node(of: item) }

  /// The transaction has been committed.
  mutating func commit() {
    items.commit()
    replaced = ReplacedNames()
    givenUp = []
    committed = (highestInode, epoch)
    committedTrash = trash
  }

  /// It has not.
  mutating func rollBack() {
    items.rollBack()
    replaced = ReplacedNames()
    givenUp = []
    (highestInode, epoch) = committed
    trash = committedTrash
  }

  /// As `CatalogTrash.count`.
  var trashCount: Int { trash.count }

  /// Goes on with removed trees. - Returns: Content to be removed.
  mutating func emptyTrash(_ connection: CatalogConnection, limit: Int) throws -> [ContentID] {
    let known = items.nodes
    items.forgetPlaces()
    let contents = try trash.empty(connection, limit: limit) { known.contains($0) }
    items.noteOrphans(trash.takeOrphaned())
    return contents
  }

  /// Removes what no name leads to, open or not; of removed trees as many rows as `limit`. Nothing is changed after it.
  ///
  /// - Returns: Content to be removed.
  mutating func removeUnreachable(_ connection: CatalogConnection, limit: Int) throws -> [ContentID] {
    items.forgetPlaces()
    for top in try connection.removedTrees().tops { trash.add(top) }
    let contents = try trash.empty(connection, limit: limit) { _ in false }
    items.noteOrphans(trash.takeOrphaned())
    let superseded = try items.takeSuperseded().filter { try connection.item(with: $0) == nil }
    return try contents + connection.removeOrphans() + superseded
  }

  /// Content that is to be on the disk before the transaction is committed.
  mutating func takeContentToFlush() -> Set<ContentID> {
    defer { givenUp = [] }
    return replaced.takeContent().union(givenUp)
  }

  /// Content that is to be removed, now that the transaction is committed.
  mutating func takeLeftContent() -> [ContentID] { items.takeLeftContent() }

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
    items.beginOperation()
    try applyPart(change, connection)
    try items.endOperation(connection)
  }

  private mutating func applyPart(_ change: StateChange, _ connection: CatalogConnection) throws {
    switch change {
    case .together(let changes): for change in changes { try applyPart(change, connection) }
    case .made(let item, let attributes, let target, let listed):
      try make(item, attributes, target: target, listed: listed, in: connection)
    case .content(let item, let content): try setContent(content, of: item, isDirty: false, connection)
    case .dirty(let item, let content): try setContent(content, of: item, isDirty: true, connection)
    case .contentDropped(let item, let content): try dropContent(content, of: item, connection)
    case .bound(let item, let formerKey): try items.bind(item, formerKey, in: connection)
    case .named(let item, let name, let directory):
      try addName(name, in: directory, .made, item: item, connection: connection)
    case .unnamed(let name, let directory): try removeName(name, in: directory, .made, connection: connection)
    case .hidden(let item, let name, let directory):
      try addName(name, in: directory, .hidden, item: item, connection: connection)
    case .unhidden(let name, let directory): try removeName(name, in: directory, .hidden, connection: connection)
    case .attributes(let item, let attributes, let listed):
      var dirty: ContentID?
      let epoch = self.epoch
      try items.update(item, connection) { row in
        row.set(attributes, listed: listed, of: item)
        guard row.record.isDirty else { return }
        dirty = row.content
        // It says how large the content is from now on.
        row.record.epoch = epoch
      }
      if let dirty { written.insert(dirty) }
    case .listed(let item, let attributes, let listed):
      let id = try items.update(item, connection) { row in
        guard var kept = row.record.attributes, row.record.isDirty else { return }
        (kept.mode, kept.uid, kept.gid) = (attributes.mode, attributes.uid, attributes.gid)
        kept.linkCount = attributes.linkCount
        row.set(kept, listed: listed, of: item)
      }
      // The store may have lost the last name by which what was removed here was seen, unless it is known by others.
      if try connection.storeNames(of: id).isEmpty { items.noteHidden(id) }
    case .attribute(let item, let name, let value): try setAttribute(name, value, of: item, in: connection)
    case .storeName(let item, let key, let isThere):
      try noteStoreName(key, isThere: isThere, of: item, in: connection)
    case .trashed(let item, let isKnown):
      if isKnown {
        try items.addOrphan(try items.resolve(item, connection).id, connection)
      } else if let row = try items.findTree(item, connection) {
        try trashTree(row.id, connection)
      }
    case .vanished(let item):
      if let row = try items.findTree(item, connection) { try trashAbsent([row.id], connection) }
    case .gone(let item): try noteGone(item, in: connection)
    case .followed(let node, let item): try items.follow(item.rawValue, to: node, connection)
    case .forgotten(let item):
      // What is in a tree that is still gone through goes with that.
      if let row = try items.find(item, connection), try !trash.contains(row.id) && !connection.hasMadeName(row.id) {
        try forgetStoreNames(of: row.id, connection)
        try items.delete(row.id, connection)
      }
    }
  }

  /// All that is known of a directory and what is below it is gone through, and goes.
  mutating func trashTree(_ directory: Int64, _ connection: CatalogConnection) throws {
    try items.addOrphan(directory, connection)
    trash.add(directory)
  }

  private mutating func make(
    _ item: ChangedItem, _ attributes: ItemAttributes, target: [UInt8], listed: ItemAttributes?,
    in connection: CatalogConnection
  ) throws {
    let id = try items.update(item, connection) { row in
      row.set(attributes, listed: listed, of: item)
      row.record.target = target
      if row.inode == 0 { row.inode = item.inode }
      // A directory that the store has no more, and of which nothing else was kept, has got a number of the volume's.
      if item.binding == nil, row.inode != item.inode, Self.madeInodes.contains(item.inode) {
        (row.inode, row.record.version) = (item.inode, nil)
      }
      // What was written here is of no version of the store's, which may have another item of the same number.
      if item.binding == nil, row.record.isDirty { row.record.version = nil }
    }
    if item.binding == nil {
      items.noteNameless(id)
      if attributes.kind == .directory { try forgetKeys(below: id, connection) }
    }
    if Self.madeInodes.contains(item.inode), item.inode > highestInode {
      highestInode = item.inode
      try connection.set(.highestInode, to: highestInode)
    }
  }

  private mutating func setContent(
    _ content: ContentID, of item: ChangedItem, isDirty: Bool, _ connection: CatalogConnection
  ) throws {
    // An id that the store has given again, after a power loss has taken what had it.
    if var former = try connection.item(with: content), former.id != (try items.find(item, connection))?.id {
      former.content = nil
      try former.save(connection)
    }
    // What was written is never fetched: it is another file, which the store has renamed, or made of the same number.
    if !isDirty, let row = try items.find(item, connection), row.record.isDirty, row.content != content {
      try items.make(item, connection)
    }
    let epoch = self.epoch
    written.insert(content)
    var isOnlyCopy = false
    var former: ContentID?
    let id = try items.update(item, connection) { row in
      isOnlyCopy = isDirty && !row.record.isDirty && item.binding == nil && row.record.version != nil
      // Another node may have fetched it, by another name of the store's.
      if !row.record.isDirty, row.content != content { former = row.content }
      row.content = content
      row.record.isDirty = isDirty
      row.record.epoch = epoch
      row.take(item)
      // Only files have content; what it is like is told when it is closed.
      row.beFile()
    }
    if isOnlyCopy { givenUp.insert(content) }
    if let former { items.leave(former, of: id, to: item.node) }
    items.noteHidden(id)
  }

  private mutating func dropContent(
    _ content: ContentID, of item: ChangedItem, _ connection: CatalogConnection
  ) throws {
    items.noteDropped(content)
    // By the content: another version of the item may have its place by now.
    guard var row = try connection.item(with: content) else { return }
    if row.record.isDirty {
      try forgetStoreNames(of: row.id, connection)
      row.record.forgetWriting()
      // It was removed here, and the store has it no more.
      if try row.place == nil && row.isOfStore && connection.names(of: row.id).isEmpty {
        return try items.delete(row.id, connection)
      }
    }
    row.content = nil
    row.record.isDirty = false
    try row.save(connection)
    try items.noteReachable(row.id, connection)
    try items.deleteIfEmpty(row.id, connection)
  }

  private mutating func addName(
    _ name: [UInt8], in directory: ChangedItem, _ layer: NameRow.Layer, item: ChangedItem,
    connection: CatalogConnection
  ) throws {
    let parent = try items.resolve(directory, connection).id
    if layer == .made { try items.adopt(item, at: ItemRow.Place(parent: parent, name: name), connection) }
    let row = NameRow(directory: parent, name: name, layer: layer, item: try items.resolve(item, connection).id)
    var former: Int64?
    if layer == .made {
      former = try replaced.note(row, connection)
      try items.noteNamed(row.item, connection)
    }
    let hidden = layer == .hidden ? try connection.name(name, in: row.directory, layer)?.item : nil
    if layer == .hidden { replaced.vacate(name, in: row.directory) }
    try row.save(connection)
    // In one operation a name may be taken away, led to what it was, and led to another item.
    if let former, former != row.item { try noteUnnamed(former, connection) }
    if let hidden, hidden != row.item { try forgetReplaced(hidden, connection) }
    if layer == .hidden { items.noteHidden(row.item) }
  }

  /// The store has another item where it had one that was removed here: nothing leads to that any more.
  private mutating func forgetReplaced(_ id: Int64, _ connection: CatalogConnection) throws {
    guard let row = try connection.item(id), row.kind != .directory, row.content == nil,
      try connection.names(of: id).isEmpty
    else { return }
    try items.delete(id, connection)
  }

  private mutating func removeName(
    _ name: [UInt8], in directory: ChangedItem, _ layer: NameRow.Layer, connection: CatalogConnection
  ) throws {
    guard let parent = try items.find(directory, connection) else { return }
    guard let row = try connection.name(name, in: parent.id, layer) else { return }
    if layer == .made { replaced.vacate(name, in: parent.id) }
    try connection.deleteName(name, in: parent.id, layer)
    if layer == .made {
      try noteUnnamed(row.item, connection)
    } else {
      try items.noteReachable(row.item, connection)
      try items.vacateOrphan(row.item, connection)
      try items.deleteIfEmpty(row.item, connection)
      try items.noteUnhidden(row.item, connection)
    }
    try items.deleteIfEmpty(parent.id, connection)
  }

  /// A name that was made does not lead to an item any more. If none does at the end of the operation, it is an orphan.
  private mutating func noteUnnamed(_ item: Int64, _ connection: CatalogConnection) throws {
    try items.deleteIfEmpty(item, connection)
    guard let row = try connection.item(item) else { return }
    if row.place == nil { items.noteNameless(item) } else { items.noteHidden(item) }
  }
}
