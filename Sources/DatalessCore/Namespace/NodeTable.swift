/// The records of all items, whatever they are called. Used by `Namespace` alone.
struct NodeTable: ~Copyable {
  private var records = SegmentedTable<NodeRecord>()
  private var devices: [UInt64]
  /// Files with several names, by what makes them the same file: whichever name is seen first, it is one node.
  private var hardLinks: [StoreIdentity: NodeIndex] = [:]
  private(set) var counts = NamespaceCounts()
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

  /// What the kernel calls a node: its place, and above it how often the place was used before. So an id is never given twice,
  /// though places are.
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

  /// The metadata of a node as it was listed.
  func attributes(of node: NodeIndex) -> ItemAttributes {
    records[node].attributes(device: devices[Int(records[node].deviceIndex)])
  }

  /// Changes a record that may be counted otherwise then.
  mutating func update(_ node: NodeIndex, _ change: (inout NodeRecord) -> Void) {
    if !records[node].isOrphan { counts.remove(records[node]) }
    change(&records[node])
    if !records[node].isOrphan { counts.add(records[node]) }
  }

  /// The node for listed metadata: the one that another name of the same file has, or a new one; nil when the table is full.
  mutating func node(for attributes: ItemAttributes) -> NodeIndex? {
    if let known = sharedNode(for: attributes) { return known }
    guard let deviceIndex = deviceIndex(attributes.device),
      let node = place(NodeRecord(attributes, deviceIndex: deviceIndex))
    else { return nil }
    counts.add(records[node])
    share(node, attributes)
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

  /// Forgets a node that no count includes any more: its place is used again, unless it was used as often as can be counted.
  mutating func free(_ node: NodeIndex) {
    let identity = StoreIdentity(attributes(of: node))
    if hardLinks[identity] == node { hardLinks[identity] = nil }
    records[node].isFree = true
    guard records[node].uses < .max else { return }
    records[node].uses += 1
    records[node].firstName = NameIndex(rawValue: firstFree?.rawValue ?? 0)
    firstFree = node
  }

  /// The node of a file with several names, if one of them is known.
  ///
  /// Only the same version is the same file for certain: SOURCE gives the inode number of a removed file to the next one. If it
  /// is the same file and was changed meanwhile, its two names are two nodes, of which the older is stale.
  func sharedNode(for attributes: ItemAttributes) -> NodeIndex? {
    guard attributes.mayHaveSeveralNames, let known = hardLinks[StoreIdentity(attributes)],
      // Another kind is another item, whatever its times say: a node's counts and its state go by its kind.
      records[known].kind == attributes.kind, self.attributes(of: known).isSameVersion(as: attributes)
    else { return nil }
    return known
  }

  /// Takes over metadata of the same bytes.
  mutating func adopt(_ listed: ItemAttributes, for node: NodeIndex) {
    update(node) { $0.update(listed) }
    share(node, listed)
  }

  /// Whichever name of a file with several is seen next is to be this node.
  private mutating func share(_ node: NodeIndex, _ attributes: ItemAttributes) {
    if attributes.mayHaveSeveralNames { hardLinks[StoreIdentity(attributes)] = node }
  }

  private mutating func deviceIndex(_ device: UInt64) -> UInt16? {
    if let known = devices.firstIndex(of: device) { return UInt16(known) }
    guard devices.count < Int(UInt16.max) else { return nil }
    devices.append(device)
    return UInt16(devices.count - 1)
  }
}
