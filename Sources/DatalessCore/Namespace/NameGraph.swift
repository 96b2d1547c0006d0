/// Which names lead to which items: the lists of a directory's names and of an item's names, the hash table over them,
/// and what of them is given back when nobody can ask for it any more. Used by `Namespace` alone.
///
/// A name that vanishes is *gone*: it stays in its directory's list, so that cookies of a readdir under way stay valid,
/// until the list is swept. An item's last name stays, in no list but the item's, until the item itself is forgotten:
/// *swept* if it is still found, else *former*, so that records can still say what it was called. Records of names and
/// nodes are used again; node ids are not (`NodeTable`).
struct NameGraph: ~Copyable {
  /// To be looked at from outside; changed by the verbs below.
  private(set) var nodes: NodeTable
  private(set) var names: NameTable
  private var itemNames = ItemNames()
  private var gone = GoneNames()
  private var orphans = Orphans()
  /// What was changed on the volume, by directory.
  private var changes = NameChanges()

  init(root: ItemAttributes, nameKey: NameHashKey) {
    names = NameTable(key: nameKey)
    nodes = NodeTable(root: root)
  }

  // MARK: - Items

  /// As `NodeTable.node`.
  mutating func node(for item: ListedItem, _ older: NodeIndex? = nil) -> NodeIndex? { nodes.node(for: item, older) }

  /// Changes what no count and no name depends on.
  mutating func change(_ node: NodeIndex, _ change: (inout NodeRecord) -> Void) { change(&nodes[node]) }

  /// As `NodeTable`.
  mutating func adopt(_ item: ListedItem, for node: NodeIndex) { nodes.adopt(item, for: node) }
  mutating func setAttributes(_ new: ItemAttributes, of node: NodeIndex) { nodes.setAttributes(new, of: node) }
  mutating func makeOwn(_ node: NodeIndex, inode: UInt64) { nodes.makeOwn(node, inode: inode) }
  mutating func share(_ node: NodeIndex, _ attributes: ItemAttributes) { nodes.share(node, attributes) }
  mutating func noteExtended(_ isOther: Bool, of node: NodeIndex) { nodes.noteExtended(isOther, of: node) }

  /// Takes over a content state, keeping the counts of the volume and of the directories that the node has names in.
  mutating func setContent(_ cell: ItemContent.Cell, of node: NodeIndex) {
    let (wasLocal, wasDirty) = (nodes[node].isLocal, nodes[node].isDirty)
    nodes.update(node) { $0.contentCell = cell }
    let (isLocal, isDirty) = (nodes[node].isLocal, nodes[node].isDirty)
    guard wasLocal != isLocal || wasDirty != isDirty else { return }
    var name = nodes[node].firstName
    while name != .end, names[name].isPresent {
      let directory = names[name].directory
      if wasLocal != isLocal { nodes.countLocalChild(in: directory, isLocal) }
      if wasDirty != isDirty { changes.countChild(isDirty, keeps: true, in: directory, nodes, names: names) }
      name = names[name].nextOfNode
    }
  }

  private mutating func countChild(_ node: NodeIndex, in directory: NodeIndex, _ isMore: Bool) {
    if nodes[node].isLocal { nodes.countLocalChild(in: directory, isMore) }
    if isChanged(node) { changes.countChild(isMore, keeps: keeps(node), in: directory, nodes, names: names) }
  }

  /// Whether something of an item is nowhere else: a file's content; what was made in a directory, or below it.
  func keeps(_ node: NodeIndex) -> Bool { nodes[node].kind == .directory ? changes.keeps(node) : nodes[node].isDirty }

  /// The same, or names were removed in a directory, or below it.
  func isChanged(_ node: NodeIndex) -> Bool {
    nodes[node].kind == .directory ? changes.contains(node) : nodes[node].isDirty
  }

  /// As `Orphans`.
  var orphanCount: Int { orphans.count }
  mutating func takeOrphans(after count: Int) -> [NodeID] { orphans.take(after: count) }

  // MARK: - Finding names

  /// Makes all names of a directory findable, a bounded number at a time. Most directories are walked and never
  /// searched: the kernel gets their names by READDIRPLUS, and a name that is not searched needs no place in the hash
  /// table.
  ///
  /// - Returns: Whether all are; otherwise call again.
  mutating func indexNames(of directory: NodeIndex) -> Bool { names.enterSome(of: directory, &nodes) }

  /// A name of the node that is present; otherwise one that it had, so that a record can say what it was. nil for the
  /// root.
  func presentName(of node: NodeIndex) -> NameIndex? { nodes[node].firstName.optional }

  /// Names of a directory that were made or removed on the volume, and that the store has not, or has still.
  func changeCount(in directory: NodeIndex) -> Int { changes.names(in: directory) }

  /// Names that were made, and names of the store that are hidden, on the volume.
  var changedNames: (made: Int, removed: Int) { (changes.made, changes.removed) }

  /// Whether a directory has no name that is present. - Parameter limit: Names looked at.
  /// - Returns: nil when it takes another look: who asks again goes on where this one stopped.
  mutating func isEmpty(_ directory: NodeIndex, limit: Int) -> Bool? {
    gone.isNonePresent(in: directory, first: nodes[directory].firstChild, names, limit: limit)
  }

  // MARK: - Listings

  /// Starts a listing: it gives a directory a new epoch, and names that keep an older one were not seen by it.
  ///
  /// It looks for each name that an earlier one left, so these are indexed first, a bounded number under each lock.
  /// Asked in the same step as it starts: a directory that was empty when it was looked at may have been listed anew
  /// since.
  ///
  /// - Returns: False when more have to be indexed, and nothing has begun: call again.
  mutating func beginListing(of directory: NodeIndex) -> Bool {
    guard indexNames(of: directory) else { return false }
    nodes[directory].listingEpoch &+= 1
    nodes[directory].isRelisted = nodes[directory].firstChild != .end
    return true
  }

  /// A listing has seen a name.
  mutating func markSeen(_ name: NameIndex) {
    names.setEpoch(nodes[names[name].directory].listingEpoch, of: name)
  }

  // MARK: - Changes

  /// Adds a name to a directory, behind the others. - Returns: nil when the tables are full.
  @discardableResult
  mutating func link(
    _ text: UnsafeBufferPointer<UInt8>, to node: NodeIndex, in directory: NodeIndex, isLocal: Bool = false
  ) -> NameIndex? {
    guard
      let name = names.append(text, of: node, in: directory, isLocal: isLocal, epoch: nodes[directory].listingEpoch)
    else { return nil }
    if isLocal { changes.count(1, of: .made, in: directory, nodes, names: names) }
    itemNames.add(name, to: &nodes[node].firstName, &names)
    countChild(node, in: directory, true)
    appendToList(name, of: directory)
    if nodes[directory].isIndexed { names.enter(name) }
    if nodes[node].isOrphan { noteNames(of: node) }
    return name
  }

  private mutating func appendToList(_ name: NameIndex, of directory: NodeIndex) {
    let last = nodes[directory].lastChild
    if last == .end { nodes[directory].firstChild = name } else { names.setNextSibling(name, of: last) }
    nodes[directory].lastChild = name
  }

  /// Takes a name away, or gives it back. One that is not present does not keep its directory from becoming dataless.
  ///
  /// - Parameter standing: `present`; `gone`: nobody has it any more; `removed`: the store has it still.
  mutating func setStanding(_ standing: NameRecord.Standing, of name: NameIndex) {
    let record = names[name]
    let directory = record.directory
    guard record.standing != standing else { return }
    switch record.standing {
    case .present: countChild(record.node, in: directory, false)
    case .removed: changes.count(-1, of: .removed, in: directory, nodes, names: names)
    case .gone: gone.remove(in: directory)
    case .swept:
      guard standing == .present else { return }
      _ = gone.removeFormer(in: directory)
      appendToList(name, of: directory)
    case .former, .free: return
    }
    names.setStanding(standing, name)
    switch standing {
    case .present:
      gone.notePresent(in: directory)
      countChild(record.node, in: directory, true)
    case .removed: changes.count(1, of: .removed, in: directory, nodes, names: names)
    default: gone.add(in: directory)
    }
    if record.isLocal { changes.count(standing == .present ? 1 : -1, of: .made, in: directory, nodes, names: names) }
    unlink(name, from: record.node)
    itemNames.add(name, to: &nodes[record.node].firstName, &names)
    noteNames(of: record.node)
  }

  /// The volume's own from now on, whatever the store lists. Only for a name that is present.
  mutating func keepHere(_ name: NameIndex) {
    guard names[name].isPresent, !names[name].isLocal else { return }
    names.setLocal(name)
    changes.count(1, of: .made, in: names[name].directory, nodes, names: names)
  }

  /// Gives a name to another node. The one that had it may be left without any.
  mutating func relink(_ name: NameIndex, to node: NodeIndex) {
    let record = names[name]
    let old = record.node
    guard old != node else { return }
    unlink(name, from: old)
    names.setNode(node, of: name)
    itemNames.add(name, to: &nodes[node].firstName, &names)
    if record.isPresent {
      countChild(old, in: record.directory, false)
      countChild(node, in: record.directory, true)
    }
    // So that records can still say what the old one was.
    if nodes[old].firstName == .end, let former = names.appendFormer(name, of: old) {
      keep(former, as: .former)
    }
    noteNames(of: old)
    noteNames(of: node)
  }

  /// Takes one name out of the list of a node's names.
  private mutating func unlink(_ name: NameIndex, from node: NodeIndex) {
    itemNames.remove(name, from: &nodes[node].firstName, &names)
  }

  /// Notes whether a node has a name, after its names have changed.
  private mutating func noteNames(of node: NodeIndex) {
    let isOrphan = presentName(of: node).map { !names[$0].isPresent } ?? true
    guard node != .root, nodes[node].isOrphan != isOrphan else { return }
    nodes.update(node) { $0.isOrphan = isOrphan }
    if isOrphan { orphans.add(nodes.id(of: node)) } else { dropFormer(of: node) }
  }

  /// What has no name is to be freed, though it could not be when it lost its last one.
  mutating func addOrphan(_ node: NodeIndex) { orphans.add(nodes.id(of: node)) }

  /// An item has a name again: what it was called while it had none is not wanted any more.
  private mutating func dropFormer(of node: NodeIndex) {
    for name in names.formers(first: nodes[node].firstName) {
      unlink(name, from: node)
      _ = gone.removeFormer(in: names[name].directory)
      names.free(name)
    }
  }

  // MARK: - Giving back

  /// A name is its item's last one, and in no list but the item's.
  private mutating func keep(_ name: NameIndex, as standing: NameRecord.Standing) {
    names.setStanding(standing, name)
    nodes[names[name].node].firstName = name
    gone.addFormer(in: names[name].directory)
  }

  /// A directory that has no open handle any more: names of its list may have been left because of one.
  mutating func noteSweepable(_ directory: NodeIndex) { gone.noteSweepable(directory) }

  /// Whether a directory waits for being swept.
  var hasSweepable: Bool { gone.hasSweepable }

  /// Another number whenever names were taken out of the list of a directory: cookies from before lead nowhere.
  func sweeps(of directory: NodeIndex) -> UInt64 { gone.sweeps(of: directory) }

  /// Takes names that are gone out of the list of one directory.
  ///
  /// - Parameters:
  ///   - limit: Names looked at.
  ///   - formers: Gets the nodes that have no name but a former one from now on.
  ///   - freed: Gets the names that were made on the volume and given back.
  ///   - isInUse: Whether somebody has a directory open, whose cookies would lead nowhere, or lists it.
  mutating func sweepNext(
    limit: Int, formers: inout [NodeIndex], freed: inout [FreedName], isInUse: (NodeIndex) -> Bool
  ) {
    for name in gone.sweepNext(limit: limit, &nodes, &names, isInUse: isInUse) {
      let node = names[name].node
      if leaveList(name, freed: &freed) { formers.append(node) }
    }
  }

  /// A name that was gone is in no list any more. - Returns: Whether its node may be forgotten.
  private mutating func leaveList(_ name: NameIndex, freed: inout [FreedName]) -> Bool {
    let record = names[name]
    // Who has made it on the volume makes another item under it next.
    let isIndexed = nodes[record.directory].isIndexed
    let isFound = isIndexed && !record.isLocal
    if isIndexed, !isFound { names.unenter(name) }
    unlink(name, from: record.node)
    if nodes[record.node].firstName == .end {
      names.setNextSibling(.end, of: name)
      names.setNextOfNode(.end, of: name)
      keep(name, as: isFound ? .swept : .former)
    } else {
      if isFound { names.unenter(name) }
      if record.isLocal { freed.append(FreedName(node: record.node, length: Int(record.textLength))) }
      names.free(name)
    }
    return nodes[record.node].isOrphan
  }

  /// Forgets a node that nothing leads to: its record is used again, under another id.
  ///
  /// - Parameter orphans: Gets the directory that it was in, if that can be forgotten now.
  /// - Returns: False as long as the kernel knows it, something of it is local, or other names need it.
  mutating func forget(_ node: NodeIndex, orphans: inout [NodeIndex]) -> Bool {
    let record = nodes[node]
    let isEmpty = record.kind == .directory ? record.firstChild == .end : !record.isLocal
    guard record.isOrphan, record.lookups == 0, isEmpty, !gone.hasFormer(in: node), record.firstName != .end else {
      return false
    }
    let name = names[record.firstName]
    guard name.standing == .former || name.standing == .swept, name.nextOfNode == .end else { return false }
    if gone.removeFormer(in: name.directory), nodes[name.directory].isOrphan { orphans.append(name.directory) }
    if name.standing == .swept { names.unenter(record.firstName) }
    names.free(record.firstName)
    names.leave(node)
    gone.leave(node)
    changes.leave(node)
    nodes.free(node)
    return true
  }
}
