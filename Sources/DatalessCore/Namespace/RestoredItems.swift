/// Items that an earlier run has kept and that may be met again, under another name: which nodes they are. And where
/// the store has those that were met by a name that was made on the volume, until the store's own name for them is
/// known.
struct RestoredItems {
  enum Standing: Equatable {
    /// Not met yet.
    case unknown
    case node(NodeIndex)
    /// Met, and forgotten since: nothing leads to it.
    case gone
  }

  private var nodes: [SavedItemID: NodeIndex?] = [:]
  private var items: [NodeIndex: SavedItemID] = [:]
  /// How many names of an item were not met yet.
  private var left: [NodeIndex: Int] = [:]
  private var keys = RestoredKeys()
  /// Those of them that have no name here, and are to get one where their key says.
  private(set) var awaited: Set<NodeIndex> = []
  /// Which of them may not be where their key says.
  private var doubted: Set<NodeIndex> = []
  /// Keys by which the store had what was written to, if those were several: not all of them may have been met.
  private var storeNames: [NodeIndex: [[UInt8]]] = [:]
  /// Those of them of which one was removed or moved here: by which one it may be found, nobody knows.
  private var hidden: Set<NodeIndex> = []
  /// Directories of the store that it has no more.
  private var lost: Set<[UInt8]> = []
  /// Known by a name that is hidden, and by nothing else: what is kept of them is not here yet.
  private var bare: Set<NodeIndex> = []
  /// Those of them that were written to.
  private var written: Set<NodeIndex> = []

  /// Of which is kept that the store had them nowhere any more.
  private var placeless: Set<NodeIndex> = []

  /// Older versions, of which a name that was made here is still to be met.
  private var older: Set<NodeIndex> = []

  /// Directories that a listing has brought under another key than they were saved under, and those about which their
  /// former directory's listing has decided: whichever comes first.
  private var renamed: Set<SavedItemID> = []
  private var settled: Set<SavedItemID> = []

  func standing(of item: SavedItemID) -> Standing {
    guard let known = nodes[item] else { return .unknown }
    return known.map { .node($0) } ?? .gone
  }

  /// An item is a node from now on.
  ///
  /// - Parameters:
  ///   - isBare: Whether nothing but its name is here.
  ///   - names: How many lead to it, the one by which it was met included; nil if nobody knows.
  mutating func note(_ item: SavedItemID, as node: NodeIndex, isBare: Bool, names: Int?) {
    nodes[item] = .some(node)
    items[node] = item
    left[node] = names
    if isBare { bare.insert(node) }
  }

  /// A name that was kept leads to a node.
  mutating func noteName(of node: NodeIndex) {
    if let count = left[node], count > 0 { left[node] = count - 1 }
  }

  /// Which item a node is, if it may be met again.
  func item(of node: NodeIndex) -> SavedItemID? { items.isEmpty ? nil : items[node] }

  /// Whether an item has, or may have, another name that was not met yet.
  func isAwaited(_ node: NodeIndex) -> Bool { !items.isEmpty && items[node] != nil && left[node] != 0 }

  /// Whether an item has, or may have, a name here that was not met yet: it was met by one that is hidden alone.
  func awaitsMadeName(_ node: NodeIndex) -> Bool { isBare(node) && isAwaited(node) }

  /// How many names of an item were not met yet; nil if nobody knows.
  func namesLeft(of node: NodeIndex) -> Int? { left[node] }

  var hasBare: Bool { !bare.isEmpty }
  func isBare(_ node: NodeIndex) -> Bool { hasBare && bare.contains(node) }

  /// What is kept of an item is to be put back now. - Returns: Whether it was not before.
  mutating func takeBare(_ node: NodeIndex) -> Bool {
    written.remove(node)
    return bare.remove(node) != nil
  }

  /// What is kept of a node that is known by nothing but its name was written here.
  mutating func noteWritten(_ node: NodeIndex) { written.insert(node) }
  func isWritten(_ node: NodeIndex) -> Bool { !written.isEmpty && written.contains(node) }

  /// The store has an item under a name, of which nobody knew any. - Returns: Whether it has one from now on.
  mutating func takePlaceless(_ node: NodeIndex) -> Bool {
    !placeless.isEmpty && placeless.remove(node) != nil
  }
  mutating func notePlaceless(_ node: NodeIndex) { placeless.insert(node) }

  mutating func noteOlder(_ node: NodeIndex) { older.insert(node) }
  mutating func takeOlder(_ node: NodeIndex) -> Bool { !older.isEmpty && older.remove(node) != nil }

  /// The store has another version of an item, which is another node.
  ///
  /// - Parameter isLeft: Whether nothing of the older one is here: names of it that are met yet are the newer one's.
  /// - Returns: What is the newer one from now on; nil if the older one keeps it.
  mutating func follow(_ node: NodeIndex, to newer: NodeIndex, isLeft: Bool) -> SavedItemID? {
    // Something else is kept of the newer one: what was written is not that.
    if written.contains(node), items[newer] != nil { return nil }
    // Of the older one there is nothing but its name still.
    let isBare = self.isBare(node)
    guard isBare || (isLeft && isAwaited(node)), let item = items.removeValue(forKey: node) else { return nil }
    note(item, as: newer, isBare: isBare, names: left.removeValue(forKey: node))
    if written.remove(node) != nil { written.insert(newer) }
    return item
  }

  // MARK: - Keys

  /// The store has no directory with a key: what was to be met below it is not there either.
  ///
  /// - Parameter isElsewhere: Whether a node has another name; else it comes with what is kept of that directory.
  /// - Returns: What was met already.
  mutating func loseKeys(below key: [UInt8], where isElsewhere: (NodeIndex) -> Bool) -> [NodeIndex] {
    losePlace(key)
    return keys.takeBelow(key, where: isElsewhere)
  }

  /// The store has no directory with a key: the keys below it lead nowhere now.
  mutating func losePlace(_ key: [UInt8]) { lost.insert(key) }

  /// Whether the store has, as far as is known, no directory any more in which a key would be.
  func isLost(_ key: [UInt8]) -> Bool {
    !lost.isEmpty && StoreKey.directories(above: key).contains { lost.contains($0) }
  }

  /// An item is met by a name that was made on the volume: the store has it there, as far as is known.
  mutating func meet(_ node: NodeIndex, key: [UInt8]?) {
    setKey(key.map(isLost) ?? false ? nil : key, of: node)
  }

  /// Keys by which the store had a written file when it was kept; empty if there was but one.
  ///
  /// - Parameter isFound: Whether it has to be found by them: not if one was removed or moved here. Default: yes.
  func storeNames(of node: NodeIndex, isFound: Bool = true) -> [[UInt8]] {
    guard !storeNames.isEmpty, let keys = storeNames[node] else { return [] }
    return isFound && hidden.contains(node) ? [] : keys
  }

  mutating func setStoreNames(_ keys: [[UInt8]], of node: NodeIndex, isHidden: Bool) {
    guard !keys.isEmpty else { return }
    storeNames[node] = keys
    if isHidden { hidden.insert(node) }
  }

  var hasStoreNames: Bool { !storeNames.isEmpty }
  var hasKeys: Bool { !keys.isEmpty }
  var nodesWithKeys: [NodeIndex] { keys.all }
  func key(of node: NodeIndex) -> [UInt8]? { keys[node] }
  func items(at key: [UInt8]) -> [NodeIndex] { keys.items(at: key) }
  mutating func setKey(_ key: [UInt8]?, of node: NodeIndex) {
    keys[node] = key
    if !awaited.isEmpty { awaited.remove(node) }
  }

  /// An item is about to have no name: the one that it gets is that of a key.
  mutating func awaitName(at key: [UInt8], of node: NodeIndex) {
    keys[node] = key
    awaited.insert(node)
  }

  /// An item may not be where the store had it: its place is to be looked at, if that was not done yet.
  mutating func doubt(_ node: NodeIndex) { if key(of: node) != nil { doubted.insert(node) } }

  var hasDoubted: Bool { !doubted.isEmpty }

  /// The keys of those whose places were not looked at since this was asked last.
  mutating func takeDoubted() -> [[UInt8]] {
    defer { doubted = [] }
    return doubted.compactMap { keys[$0] }
  }

  // MARK: - Directories that the store has renamed

  /// A directory is to be met under another key. - Returns: False if its former place has been looked into.
  mutating func beginRenaming(_ item: SavedItemID) -> Bool {
    guard !settled.contains(item) else { return false }
    renamed.insert(item)
    return true
  }

  /// It has stayed where it was.
  mutating func cancelRenaming(_ item: SavedItemID) { renamed.remove(item) }

  /// The listing of a directory's place decides about it. - Returns: False if it was met under another key.
  mutating func settle(_ item: SavedItemID) -> Bool {
    guard !renamed.contains(item) else { return false }
    settled.insert(item)
    return true
  }

  /// The directory is not there, and nothing in it was changed: another listing may bring it.
  mutating func unsettle(_ item: SavedItemID) { settled.remove(item) }

  /// What was met below keys that are others now has others, too. Those may have changed places.
  ///
  /// - Parameter isElsewhere: As `loseKeys`.
  /// - Returns: What was met in directories that have lost their keys to these: it is not there any more.
  mutating func moveKeys(
    _ moves: [(from: [UInt8], to: [UInt8])], where isElsewhere: (NodeIndex) -> Bool
  ) -> [NodeIndex] {
    guard hasKeys else { return [] }
    let moved = keys.takeMoved(Dictionary(moves.map { ($0.from, $0.to) }) { _, last in last })
    let replaced = moves.flatMap { keys.takeBelow($0.to, where: isElsewhere) }
    for (node, key) in moved { keys[node] = key }
    return replaced
  }

  /// An item is given back.
  mutating func forget(_ node: NodeIndex) {
    guard !items.isEmpty || !keys.isEmpty || !storeNames.isEmpty || !placeless.isEmpty else { return }
    written.remove(node)
    placeless.remove(node)
    older.remove(node)
    setKey(nil, of: node)
    doubted.remove(node)
    storeNames[node] = nil
    hidden.remove(node)
    left[node] = nil
    bare.remove(node)
    if let item = items.removeValue(forKey: node) { nodes[item] = .some(nil) }
  }
}
