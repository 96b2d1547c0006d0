import DatalessCore

/// Which items of the catalog nodes are. What was remembered in a transaction that fails is forgotten again.
struct KnownItems: Sendable {
  private var items: [NodeID: Int64] = [.root: ItemRow.root]
  /// Those that were ever a node, and which one last.
  private var met: [Int64: NodeID] = [:]
  /// Those that were more than one.
  private var several: Set<Int64> = []
  /// What the transaction under way has replaced.
  private var before: [(node: NodeID, item: Int64?)] = []

  subscript(node: NodeID) -> Int64? { items[node] }

  /// Whether an item is a node, or was one.
  func contains(_ item: Int64) -> Bool { met[item] != nil }

  /// The node that an item was last; it may be given back by now.
  func node(of item: Int64) -> NodeID? { met[item] }

  /// Whether an item was this node in this run, and no other one.
  func wasAlways(_ item: Int64, _ node: NodeID) -> Bool { met[item] == node && !several.contains(item) }

  mutating func remember(_ item: Int64, as node: NodeID) {
    meet(item, node)
    before.append((node, items[node]))
    items[node] = item
  }

  /// For good.
  mutating func adopt(_ item: Int64, as node: NodeID) {
    items[node] = item
    meet(item, node)
  }

  private mutating func meet(_ item: Int64, _ node: NodeID) {
    if let former = met.updateValue(node, forKey: item), former != node { several.insert(item) }
  }

  mutating func commit() { before = [] }

  mutating func rollBack() {
    for (node, item) in before.reversed() { items[node] = item }
    before = []
  }
}
