/// The items that the volume knows, and their names: in flat tables, about 170 bytes for each file, and no object.
///
/// The tables are its own: from outside, records are read (`subscript`), and changed by the verbs below and in the
/// extensions, which are made of them. A FUSE node id leads to the index of a record. Names that vanish stay as gone
/// entries while somebody lists them. Not thread-safe: used only under the engine's lock, each call in time
/// proportional to what it returns.
struct Namespace: ~Copyable {
  /// In a place of its own: see `Owned`.
  private var names: Owned<NameGraph>
  private var graph: NameGraph {
    @inline(__always) _read { yield names.value }
    @inline(__always) _modify { yield &names.value }
  }
  private var presentation: AttributePresentation
  /// Nodes without a name that may be forgotten by now.
  private var forgettable: [NodeIndex] = []

  /// What others are to be told of, and to act upon.
  var news = NamespaceNews()

  /// What an earlier run has kept, as far as it is to be met again.
  var restored = RestoredItems()

  /// What was changed on both sides.
  var conflicts = Conflicts()

  private let journal: Journal

  /// - Parameter timeOfDay: CLOCK_REALTIME, or a test's own time; called under the engine's lock.
  init(
    root: ItemAttributes, nameKey: NameHashKey = NameHashKey(low: 0, high: 0), journal: Journal = Journal(NoJournal()),
    timeOfDay: @escaping @Sendable () -> Timestamp = { Timestamp(seconds: 0, nanoseconds: 0) }
  ) {
    self.journal = journal
    presentation = AttributePresentation(timeOfDay: timeOfDay)
    names = Owned(NameGraph(root: root, nameKey: nameKey))
  }

  // MARK: - Nodes

  /// The index of a node that the kernel names; nil for one that was never handed out, or is forgotten.
  func index(of node: NodeID) -> NodeIndex? { graph.nodes.index(of: node) }

  /// What the kernel calls a node.
  func id(of node: NodeIndex) -> NodeID { graph.nodes.id(of: node) }

  var counts: NamespaceCounts { graph.nodes.counts }

  /// Places of nodes and of names are below these.
  var nodeEnd: UInt32 { graph.nodes.end }
  var nameEnd: UInt32 { graph.names.end }

  subscript(node: NodeIndex) -> NodeRecord { _read { yield graph.nodes[node] } }

  /// The metadata of a node as it was listed.
  func attributes(of node: NodeIndex) -> ItemAttributes { graph.nodes.attributes(of: node) }

  /// What the volume presents of a node.
  func snapshot(of node: NodeIndex) -> ItemSnapshot {
    var attributes = self.attributes(of: node)
    let isDataless = graph.nodes[node].isDataless
    if attributes.kind == .file, attributes.size > 0 {
      presentation.apply(to: &attributes, of: node, isDataless: isDataless, isDirty: graph.nodes[node].isDirty)
    }
    return ItemSnapshot(node: id(of: node), attributes: attributes, isDataless: isDataless)
  }

  /// The node for a listed item: the one that another name of the same file has, unless that is the `older` one, or a
  /// new one; nil when the tables are full.
  mutating func node(for item: ListedItem, older: NodeIndex? = nil) -> NodeIndex? {
    guard let node = graph.node(for: item, older) else { return nil }
    // A further name has come since, say: by the former version the store opens it no more.
    let known = listed(of: node)
    let isNewer = known.attributes.changeTime < item.attributes.changeTime
    if isNewer, !self[node].isDirty, known.version.hasBytes(of: item.version) { adopt(item, for: node) }
    return node
  }

  /// The node of a file with several names, if one of them is known.
  func sharedNode(for item: ListedItem) -> NodeIndex? { graph.nodes.sharedNode(for: item) }

  /// What the store listed of a node last; what was changed on the volume since is not in it.
  func listed(of node: NodeIndex) -> ListedItem { graph.nodes.listed(of: node) }

  /// Takes over the store's metadata of the same bytes.
  mutating func adopt(_ item: ListedItem, for node: NodeIndex) {
    guard listed(of: node) != item else { return }
    let shown = attributes(of: node)
    let key = keepsJournal ? boundItem(node)?.binding : nil
    let isOther = keepsJournal && hasOwnAttributes(node)
    if self[node].kind == .file, self[node].isLocal { news.noteRights(id(of: node)) }
    graph.adopt(item, for: node)
    if attributes(of: node) != shown { news.noteChanged(id(of: node)) }
    if let key, let now = boundItem(node), now.binding != key { append(.bound(now, formerKey: key.key)) }
    if isOther { tellListed(of: node) }
  }

  /// Gives a node other metadata on the volume. The store's is kept beside it: what is fetched goes by that.
  ///
  /// - Parameter isTold: Whether the journal is told now; what a write changes is told when the file is closed.
  mutating func setAttributes(_ attributes: ItemAttributes, of node: NodeIndex, isTold: Bool = true) {
    graph.setAttributes(attributes, of: node)
    presentation.noteChange(of: node)
    if isTold { tellAttributes(of: node) }
  }

  /// Notes whether something of a directory is kept that is not here yet.
  mutating func setAwaitsSaved(_ awaits: Bool, of node: NodeIndex) { graph.change(node) { $0.awaitsSaved = awaits } }

  /// Notes whether the last name of an item was taken away on the volume.
  mutating func setUnlinked(_ isUnlinked: Bool, of node: NodeIndex) {
    graph.change(node) { $0.isUnlinked = isUnlinked }
  }

  /// Whether an item was made on the volume.
  func isMade(_ node: NodeIndex) -> Bool { graph.nodes.isMade(node) }

  /// As `NameGraph`, `NodeTable`.
  func isChanged(_ node: NodeIndex) -> Bool { graph.isChanged(node) }
  func keeps(_ node: NodeIndex) -> Bool { graph.keeps(node) }
  var largestReserved: UInt64 { graph.nodes.largestReserved }

  /// Whether so many names of so many bytes can be made, and kept.
  func hasRoom(for count: Int, names: Int = 1) -> Bool {
    graph.names.hasRoom(for: count, names: names)
      && journal.hasRoom(for: (StateChange.growth(ofName: count) + StateChange.growthOfItem) * Int64(names))
  }

  /// As `Orphans`.
  var orphanCount: Int { graph.orphanCount }
  mutating func takeOrphans(after count: Int = 0) -> [NodeID] { graph.takeOrphans(after: count) }
  mutating func addOrphan(_ node: NodeIndex) { graph.addOrphan(node) }

  /// One more of what the log tells as `prior`; and a use, as `NodeRecord.lastUse`.
  mutating func count(_ call: NodeRecord.CountedCall, of node: NodeIndex) { graph.change(node) { $0.count(call) } }
  mutating func forgetCalls(of node: NodeIndex) { graph.change(node) { $0.forgetCalls() } }
  mutating func noteUse(_ use: UInt32, of node: NodeIndex) { graph.change(node) { $0.lastUse = use } }

  // MARK: - Lookups

  /// One more answer brings the node to the kernel.
  mutating func countLookup(of node: NodeIndex) { graph.change(node) { if $0.lookups < .max { $0.lookups += 1 } } }

  /// The kernel has given lookups back, or has not taken them.
  mutating func giveBack(_ count: UInt64, of node: NodeIndex) {
    let known = graph.nodes[node].lookups
    // More than can be counted: it will be taken for known as long as the volume is mounted.
    guard known < .max else { return }
    let left = UInt64(known) > count ? known - UInt32(count) : 0
    graph.change(node) { $0.lookups = left }
    if left == 0 { noteForgettable(node) }
  }

  // MARK: - Content

  /// Takes over what of a node is local, keeping the counts of its directories and of the volume. For `ItemContents`
  /// alone.
  ///
  /// - Parameter partialBytes: As `ItemContent.partialBytes`.
  mutating func setContent(_ cell: ItemContent.Cell, partialBytes: Int64?, of node: NodeIndex) {
    presentation.setPartialBytes(partialBytes, of: node)
    let old = graph.nodes[node].contentCell
    guard old != cell else { return }
    guard old.state != cell.state || old.isDirty != cell.isDirty else {
      return graph.change(node) { $0.contentCell = cell }
    }
    graph.setContent(cell, of: node)
    if cell.state == .resident, old.state != .resident, graph.nodes[node].kind == .file {
      presentation.noteContent(of: node)
    }
  }

  mutating func present(_ presentation: Presentation) { self.presentation.present(presentation) }

  func partialBlocks(of node: NodeIndex) -> Int64? { presentation.partialBlocks(of: node) }

  // MARK: - Names

  /// The record of a name.
  func record(of name: NameIndex) -> NameRecord { graph.names[name] }

  /// The bytes of a name, valid until it is given back.
  func text(of name: NameIndex) -> UnsafeBufferPointer<UInt8> { graph.names.text(of: name) }

  /// The name behind a readdir cookie; nil for a number that is no name of the directory.
  func name(at number: UInt64, in directory: NodeIndex) -> NameIndex? { graph.names.name(at: number, in: directory) }

  /// As `NameGraph.presentName`.
  func presentName(of node: NodeIndex) -> NameIndex? { graph.presentName(of: node) }

  /// Makes names of a directory findable, a bounded number at a time. - Returns: Whether all are; otherwise call again.
  mutating func indexNames(of directory: NodeIndex) -> Bool { graph.indexNames(of: directory) }

  /// A name of a directory, as far as its names are indexed; nil if there is none.
  func find(_ text: UnsafeBufferPointer<UInt8>, in directory: NodeIndex, _ layer: NameLayer = .visible) -> NameIndex? {
    graph.names.find(text, in: directory, layer).optional
  }

  /// Starts a listing, as `NameGraph.beginListing`. - Returns: False when nothing has begun: call again.
  mutating func beginListing(of directory: NodeIndex) -> Bool { graph.beginListing(of: directory) }

  /// A listing has seen a name.
  mutating func markSeen(_ name: NameIndex) { graph.markSeen(name) }

  /// Adds a name to a directory, behind the others. - Returns: nil when the tables are full.
  ///
  /// - Parameter isLocal: Whether it is made on the volume; otherwise the store has it.
  @discardableResult
  mutating func link(
    _ text: UnsafeBufferPointer<UInt8>, to node: NodeIndex, in directory: NodeIndex, isLocal: Bool = false
  ) -> NameIndex? {
    guard let name = graph.link(text, to: node, in: directory, isLocal: isLocal) else { return nil }
    if isLocal, keepsJournal { append(.named(changedItem(node), name: Array(text), in: changedItem(directory))) }
    return name
  }

  /// As `NameGraph.setStanding`.
  mutating func setStanding(_ standing: NameRecord.Standing, of name: NameIndex) {
    let before = told(name, isLost: standing == .gone)
    graph.setStanding(standing, of: name)
    tell(name, since: before)
  }

  /// As `NameGraph.keepHere`.
  mutating func keepHere(_ name: NameIndex) {
    let (node, before) = (record(of: name).node, told(name, isLost: true))
    graph.keepHere(name)
    journal.beginOperation()
    defer { journal.endOperation() }
    tell(name, since: before)
    // Told last, when the name has said which item it is. Of a directory nothing may have been told yet but what is
    // below it. A file is of no version of the store's any more, which may have the same number elsewhere.
    if self[node].kind == .directory || self[node].kind == .file { tellUnbound(node) }
  }

  /// The name under which the store has a node, as `NameTable.storeName`.
  func storeName(of node: NodeIndex) -> NameIndex? { graph.names.storeName(first: graph.nodes[node].firstName) }

  /// Names of a directory that were made, or removed, on the volume. As long as there are any, it cannot become
  /// dataless: they would be lost.
  func changeCount(in directory: NodeIndex) -> Int { graph.changeCount(in: directory) }

  /// As `NameGraph.changedNames`, `OtherAttributes`.
  var changedNames: (made: Int, removed: Int) { graph.changedNames }
  var otherAttributes: OtherAttributes { graph.nodes.others }
  mutating func noteExtended(_ isOther: Bool, of node: NodeIndex) { graph.noteExtended(isOther, of: node) }
  mutating func shareNames(of node: NodeIndex, _ item: ListedItem) { graph.share(node, item.attributes) }
  mutating func makeOwn(_ node: NodeIndex, inode: UInt64) { graph.makeOwn(node, inode: inode) }

  /// As `NameGraph.isEmpty`.
  mutating func isEmpty(_ directory: NodeIndex, limit: Int) -> Bool? { graph.isEmpty(directory, limit: limit) }

  /// Gives a name to another node. The one that had it may be left without any.
  ///
  /// - Parameter former: An item that the store has had under the name until now: what that is then is told first.
  mutating func relink(_ name: NameIndex, to node: NodeIndex, unbinding former: NodeIndex? = nil) {
    let before = told(name, isLost: record(of: name).node != node)
    let formerKey = keepsJournal ? keyOfKept(node) : nil
    graph.relink(name, to: node)
    if let former { tellOwn(former) }
    tell(name, since: before)
    tellBinding(of: node, since: formerKey)
  }

  /// Whether changes are to be told.
  var keepsJournal: Bool { journal.keepsChanges }
  func append(_ change: StateChange) { journal.append(change) }

  // MARK: - Forgetting

  /// A node may have become one that can be forgotten: the kernel has given it back, its last handle is closed, its
  /// content is gone.
  mutating func noteForgettable(_ node: NodeIndex) {
    if graph.nodes[node].isOrphan { forgettable.append(node) }
  }

  /// A directory has no open handle, or no attempt in flight, any more.
  mutating func noteSweepable(_ directory: NodeIndex) { graph.noteSweepable(directory) }

  /// As `NameGraph.sweeps`.
  func sweeps(of directory: NodeIndex) -> UInt64 { graph.sweeps(of: directory) }

  /// Whether something may be given back.
  var hasLeftovers: Bool { !forgettable.isEmpty || graph.hasSweepable }

  /// Gives back some of what nobody can ask for any more: names that are gone, and nodes without a name.
  ///
  /// - Parameters:
  ///   - limit: Records looked at.
  ///   - forgotten: Gets the nodes that were given back.
  ///   - freed: Gets names of others that were made on the volume, and given back.
  ///   - isInUse: Whether somebody has a node open, or is at work on its content.
  mutating func giveBackSome(
    limit: Int, forgotten: inout [NodeIndex], freed: inout [NameGraph.FreedName], isInUse: (NodeIndex) -> Bool
  ) {
    if graph.hasSweepable {
      return names.value.sweepNext(limit: limit, formers: &forgettable, freed: &freed, isInUse: isInUse)
    }
    for _ in 0..<limit {
      guard let node = forgettable.popLast() else { return }
      guard !graph.nodes[node].isFree, !isInUse(node) else { continue }
      let made = keepsJournal && isMade(node) ? changedItem(node) : nil
      guard names.value.forget(node, orphans: &forgettable) else { continue }
      presentation.forget(node)
      restored.forget(node)
      conflicts.forget(node)
      forgotten.append(node)
      if let made { append(.forgotten(made)) }
    }
  }
}
