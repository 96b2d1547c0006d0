/// Where items are: names of a node, and paths.
extension Namespace {
  /// FUSE_NAME_MAX of the kernel. Most file systems stop at 255 bytes, but not all.
  static var nameLengthMax: Int { 1024 }

  /// LIMIT: names of one file that are told, and that rules are asked about: each is put together under the lock.
  private static var namesMax: Int { 256 }

  /// LIMIT: levels of a path. A store that names one directory in several places could make a ring of them.
  static var depthMax: Int { 1 << 16 }

  /// Whether a node has, or had, more than one name.
  func hasSeveralNames(_ node: NodeIndex) -> Bool {
    let first = self[node].firstName
    return first != .end && record(of: first).nextOfNode != .end
  }

  /// The path of a node from the root, without a leading slash; for a hard link, by the first of its
  /// names that was listed, as long as it is there.
  func path(of node: NodeIndex) -> [UInt8] { path(ofName: presentName(of: node)) }

  /// All known names of a file that has several, as paths, the one of `path(of:)` first; else none.
  func paths(of node: NodeIndex) -> [[UInt8]] {
    guard let first = presentName(of: node), self[node].kind != .directory else { return [] }
    var others: [[UInt8]] = []
    var name = self[node].firstName
    while name != .end, others.count < Self.namesMax {
      let record = record(of: name)
      if record.isPresent, name != first { others.append(path(ofName: name)) }
      name = record.nextOfNode
    }
    return others.isEmpty ? [] : [path(ofName: first)] + others
  }

  /// The path of one name, present or gone; empty for none.
  func path(ofName name: NameIndex?) -> [UInt8] { path(ofName: name) { presentName(of: $0) } }

  /// What a node is in the store: under which key, and which version. nil for what was made on the volume.
  /// Of what lies in a directory that the store has no more, too.
  func binding(of node: NodeIndex) -> StoreBinding? {
    if let key = restoredKey(of: node) { return StoreBinding(key: key, version: listed(of: node).version) }
    guard isNamedInStore(node) else { return nil }
    return StoreBinding(key: path(ofName: storeName(of: node)) { storeName(of: $0) }, version: listed(of: node).version)
  }

  /// The directories in which the store has a node, as `ChangedItem.directories`.
  func storeDirectories(of node: NodeIndex) -> [ChangedItem.Directory] {
    var found: [ChangedItem.Directory] = []
    var node = node
    // Where a key was restored, what lies above it is not known yet.
    while found.count < Self.depthMax, restored.key(of: node) == nil, let name = storeName(of: node) {
      node = record(of: name).directory
      if node == .root { break }
      found.append(ChangedItem.Directory(node: id(of: node), version: listed(of: node).version))
    }
    return found
  }

  /// Whether a node is something in the store, as `binding` says it.
  func hasBinding(_ node: NodeIndex) -> Bool { restoredKey(of: node) != nil || isNamedInStore(node) }

  private func isNamedInStore(_ node: NodeIndex) -> Bool {
    let name = storeName(of: node)
    return node == .root || (name != nil && hasStorePath(name))
  }

  /// Whether the store has a node under some name.
  func isBound(_ node: NodeIndex) -> Bool {
    if let name = storeName(of: node), record(of: name).isInStore { return true }
    return node == .root || restored.key(of: node) != nil
  }

  /// The store's key of what lies in a place that was not listed since the volume was mounted; nil for all others.
  private func restoredKey(of node: NodeIndex) -> [UInt8]? {
    guard restored.hasKeys else { return nil }
    var names: [NameIndex] = []
    var node = node
    for _ in 0..<Self.depthMax {
      if let key = restored.key(of: node) {
        return names.reversed().reduce(key) { $0 + [UInt8(ascii: "/")] + Array(text(of: $1)) }
      }
      guard let name = storeName(of: node) else { return nil }
      names.append(name)
      node = record(of: name).directory
    }
    return nil
  }

  /// Whether the store has had all directories on the way to one of its names.
  private func hasStorePath(_ name: NameIndex?) -> Bool {
    // Nearly every volume has none that are its own.
    guard changedNames.made > 0 else { return true }
    var next = name
    for _ in 0..<Self.depthMax {
      guard let name = next else { return false }
      let directory = record(of: name).directory
      if directory == .root { return true }
      next = storeName(of: directory)
    }
    return true
  }

  /// - Parameter parent: The name by which a directory on the way is called.
  private func path(ofName name: NameIndex?, by parent: (NodeIndex) -> NameIndex?) -> [UInt8] {
    var chain: [NameIndex] = []
    var length = 0
    var next = name
    while let name = next, chain.count < Self.depthMax {
      let record = record(of: name)
      chain.append(name)
      length += Int(record.textLength) + 1
      next = parent(record.directory)
    }
    var path: [UInt8] = []
    path.reserveCapacity(length)
    for name in chain.reversed() {
      if !path.isEmpty { path.append(UInt8(ascii: "/")) }
      path.append(contentsOf: text(of: name))
    }
    return path
  }

  /// Whether a node is, or lies in, a directory.
  func isIn(_ directory: NodeIndex, _ node: NodeIndex) -> Bool { isIn(node) { $0 == directory } }

  /// Whether a node is, or lies in, one of some directories; also in a ring.
  func isIn(_ node: NodeIndex, _ isOne: (NodeIndex) -> Bool) -> Bool {
    var node = node
    for _ in 0..<Self.depthMax {
      if isOne(node) { return true }
      guard let name = presentName(of: node) else { return false }
      node = record(of: name).directory
    }
    return true
  }

  /// Whether a directory lies in one that has no name any more.
  func isInOrphan(_ directory: NodeIndex) -> Bool { isIn(directory) { self[$0].isOrphan } }

  /// Where the present names of an item are; of one with very many, the first of them.
  func directories(of node: NodeIndex) -> [NodeIndex] {
    var found: [NodeIndex] = []
    var name = self[node].firstName
    while name != .end, record(of: name).isPresent, found.count < Self.namesMax {
      found.append(record(of: name).directory)
      name = record(of: name).nextOfNode
    }
    return found
  }

  /// How many directories a directory lies in.
  func level(of directory: NodeIndex) -> Int {
    var (node, level) = (directory, 0)
    while node != .root, level < Self.depthMax, let name = presentName(of: node) {
      node = record(of: name).directory
      level += 1
    }
    return level
  }

  /// The inode number a directory reports for `..`.
  func parentInode(of node: NodeIndex) -> UInt64 {
    let name = self[node].firstName
    return self[name == .end ? node : record(of: name).directory].inode
  }
}
