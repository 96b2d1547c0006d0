/// The records of all items, whatever they are called. Used by `Namespace` alone.
struct NodeTable: ~Copyable {
  private var records = SegmentedTable<NodeRecord>()
  private var devices: [UInt64]
  /// Files with several names, by what makes them the same file: whichever name is seen first, it is one node.
  private var hardLinks: [StoreIdentity: NodeIndex] = [:]
  /// As the store listed them last: attributes of items that have others on the volume.
  private var listed: [NodeIndex: ItemAttributes] = [:]
  /// Of a store that has them.
  private var tokens: [NodeIndex: VersionToken] = [:]
  private(set) var counts = NamespaceCounts()
  private(set) var others = OtherAttributes()
  /// The largest inode number of the store that lies in the range of those made on the volume; 0 if there is none.
  private(set) var largestReserved: UInt64 = 0
  /// Places to be used again, linked by `firstName`.
  private var firstFree: NodeIndex?

  init(root: ItemAttributes) {
    // Index 0 means "none".
    let zero = Timestamp(seconds: 0, nanoseconds: 0)
    let unused = ItemAttributes(
      device: 0, inode: 0, mode: 0, linkCount: 0, uid: 0, gid: 0, specialDevice: 0, size: 0, blocks: 0,
      accessTime: zero, modificationTime: zero, changeTime: zero)
    devices = [root.device]
    _ = records.append(NodeRecord(unused, deviceIndex: 0))
    let index = NodeIndex(rawValue: UInt32(records.append(NodeRecord(root, deviceIndex: 0))))
    precondition(index == .root, "the root is node 1")
    counts.add(records[index])
  }

  // MARK: - Ids

  /// What the kernel calls a node: its place, and above it how often the place was used before. So an id is never given
  /// twice, though places are.
  func id(of node: NodeIndex) -> NodeID {
    NodeID(rawValue: UInt64(records[node].uses) << 32 | UInt64(node.rawValue))
  }

  /// The place of a node; nil for an id that was never given, or whose item is forgotten.
  func index(of id: NodeID) -> NodeIndex? {
    let node = NodeIndex(rawValue: UInt32(truncatingIfNeeded: id.rawValue))
    guard node.rawValue > 0, node.rawValue < end, UInt64(records[node].uses) == id.rawValue >> 32, !records[node].isFree
    else { return nil }
    return node
  }

  /// Indices are below this.
  var end: UInt32 { UInt32(records.count) }

  /// For reading; and for changes that no count depends on. Others go through `update`.
  subscript(node: NodeIndex) -> NodeRecord {
    _read { yield records[node] }
    _modify { yield &records[node] }
  }

  /// The metadata of a node as it is on the volume.
  func attributes(of node: NodeIndex) -> ItemAttributes {
    records[node].attributes(device: devices[Int(records[node].deviceIndex)])
  }

  /// What the store listed of a node last.
  func listed(of node: NodeIndex) -> ListedItem {
    ListedItem(
      listed.isEmpty ? attributes(of: node) : listed[node] ?? attributes(of: node),
      token: tokens.isEmpty ? .none : tokens[node] ?? .none)
  }

  /// One more of a directory's names leads to something local, or one less.
  mutating func countLocalChild(in directory: NodeIndex, _ isMore: Bool) {
    if isMore { records[directory].localChildCount += 1 } else { records[directory].localChildCount -= 1 }
  }

  /// Changes a record that may be counted otherwise then.
  mutating func update(_ node: NodeIndex, _ change: (inout NodeRecord) -> Void) {
    if !records[node].isOrphan { counts.remove(records[node]) }
    change(&records[node])
    if !records[node].isOrphan { counts.add(records[node]) }
    noteMetadata(of: node)
  }

  /// Something of an item has changed that says whether a program has set its metadata.
  private mutating func noteMetadata(of node: NodeIndex) {
    let record = records[node]
    let isOther = !listed.isEmpty && listed[node].map { record.isOther(than: $0) } ?? false
    others.note(node, metadata: isOther, isOrphan: record.isOrphan)
  }

  /// Whether extended attributes of an item are others than the store's. What was made here has none there.
  mutating func noteExtended(_ isOther: Bool, of node: NodeIndex) {
    others.note(node, extended: isOther && !isMade(node), isOrphan: records[node].isOrphan)
  }

  /// The node for a listed item: the one that another name of the same file has, or a new one; nil when the table is
  /// full.
  ///
  /// - Parameter older: A node that it is not: what was written there is of an older version.
  mutating func node(for item: ListedItem, _ older: NodeIndex? = nil) -> NodeIndex? {
    if let known = sharedNode(for: item), known != older { return known }
    guard let deviceIndex = deviceIndex(item.attributes.device),
      let node = place(NodeRecord(item.attributes, deviceIndex: deviceIndex))
    else { return nil }
    counts.add(records[node])
    noteReserved(item.attributes)
    if !item.token.isNone { tokens[node] = item.token }
    share(node, item.attributes)
    return node
  }

  private mutating func place(_ record: NodeRecord) -> NodeIndex? {
    guard let node = firstFree else {
      return records.count < Int(UInt32.max) ? NodeIndex(rawValue: UInt32(records.append(record))) : nil
    }
    let next = records[node].firstName
    firstFree = next == .end ? nil : NodeIndex(rawValue: next.rawValue)
    let uses = records[node].uses
    records[node] = record
    records[node].uses = uses
    return node
  }

  /// Forgets a node that no count includes any more: its place is used again, unless it was used as often as can be
  /// counted.
  mutating func free(_ node: NodeIndex) {
    let identity = StoreIdentity(attributes(of: node))
    if hardLinks[identity] == node { hardLinks[identity] = nil }
    if !listed.isEmpty { listed[node] = nil }
    if !tokens.isEmpty { tokens[node] = nil }
    others.forget(node)
    records[node].isFree = true
    guard records[node].uses < .max else { return }
    records[node].uses += 1
    records[node].firstName = NameIndex(rawValue: firstFree?.rawValue ?? 0)
    firstFree = node
  }

  /// The node of a file with several names, if one of them is known.
  ///
  /// Without a time of birth only the same version is the same file for certain: SOURCE gives the inode number of a
  /// removed file to the next one. If it is the same file and has other bytes, its two names are two nodes, of which
  /// the older is stale. What was written to here is one under all its names, whatever the store has by now.
  func sharedNode(for item: ListedItem) -> NodeIndex? {
    // Another kind is another version: a node's counts and its state go by its kind.
    let identity = StoreIdentity(item.attributes)
    // Of several names the others may be gone by now.
    guard !hardLinks.isEmpty, item.attributes.kind != .directory, let known = hardLinks[identity] else { return nil }
    if listed(of: known).version.isSame(as: item.version) { return known }
    let isCertain = identity.birth != 0 && records[known].kind == item.attributes.kind
    guard isCertain else { return nil }
    return records[known].isDirty || listed(of: known).version.hasBytes(of: item.version) ? known : nil
  }

  /// Takes over the store's metadata of the same bytes. What was changed on the volume stays as it is there. Of a
  /// directory it may be another one's.
  mutating func adopt(_ item: ListedItem, for node: NodeIndex) {
    if records[node].kind == .directory { rebind(node, to: item.attributes) }
    var shown = item.attributes
    if let base = listed[node] {
      shown = attributes(of: node).merged(base: base, theirs: item.attributes)
      listed[node] = shown == item.attributes ? nil : item.attributes
    }
    update(node) { $0.update(shown) }
    if !item.token.isNone || !tokens.isEmpty { tokens[node] = item.token.isNone ? nil : item.token }
    share(node, item.attributes)
  }

  private mutating func rebind(_ node: NodeIndex, to attributes: ItemAttributes) {
    guard StoreIdentity(attributes) != StoreIdentity(listed(of: node).attributes),
      let device = deviceIndex(attributes.device)
    else { return }
    noteReserved(attributes)
    update(node) { record in
      record.deviceIndex = device
      record.inode = attributes.inode
      record.birth = attributes.birth
      record.generation = 0
    }
  }

  /// An item is the volume's own, and has a number that no item of the store has.
  mutating func makeOwn(_ node: NodeIndex, inode: UInt64) {
    guard let device = deviceIndex(ItemAttributes.madeDevice) else { return }
    let identity = StoreIdentity(attributes(of: node))
    if hardLinks[identity] == node { hardLinks[identity] = nil }
    if !listed.isEmpty { listed[node] = nil }
    if !tokens.isEmpty { tokens[node] = nil }
    update(node) { record in
      record.deviceIndex = device
      record.inode = inode
      record.birth = inode
    }
  }

  /// A store's inode number may be one of those that are given to what is made on the volume.
  private mutating func noteReserved(_ attributes: ItemAttributes) {
    guard MadeNumbers.isInRange(attributes.inode), attributes.device != ItemAttributes.madeDevice else { return }
    largestReserved = max(largestReserved, attributes.inode)
  }

  /// Gives a node other metadata on the volume; what the store listed is kept beside it.
  mutating func setAttributes(_ attributes: ItemAttributes, of node: NodeIndex) {
    guard !isMade(node) else { return update(node) { $0.update(attributes) } }
    let base = listed[node] ?? self.attributes(of: node)
    update(node) { $0.update(attributes) }
    listed[node] = self.attributes(of: node) == base ? nil : base
    noteMetadata(of: node)
  }

  /// Whether an item was made on the volume.
  func isMade(_ node: NodeIndex) -> Bool { devices[Int(records[node].deviceIndex)] == ItemAttributes.madeDevice }

  /// Whichever name of a file with several is seen next is to be this node.
  mutating func share(_ node: NodeIndex, _ attributes: ItemAttributes) {
    if attributes.mayHaveSeveralNames { hardLinks[StoreIdentity(attributes)] = node }
  }

  private mutating func deviceIndex(_ device: UInt64) -> UInt16? {
    if let known = devices.firstIndex(of: device) { return UInt16(known) }
    guard devices.count < Int(UInt16.max) else { return nil }
    devices.append(device)
    return UInt16(devices.count - 1)
  }
}

extension NodeRecord {
  /// Whether a program has set mode, owner or times: not what writing to a file, or to a directory's names, makes of
  /// its times.
  fileprivate func isOther(than listed: ItemAttributes) -> Bool {
    if UInt32(mode) != listed.mode || uid != listed.uid || gid != listed.gid { return true }
    guard kind != .directory, !isDirty else { return false }
    return modificationSeconds != listed.modificationTime.seconds
      || modificationNanoseconds != listed.modificationTime.nanoseconds
  }
}
