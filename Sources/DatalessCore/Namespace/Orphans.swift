/// Nodes that have lost their last name since they were taken last; they may have one again by then.
struct Orphans {
  private var nodes: [NodeID] = []

  /// As many as were not taken.
  var count: Int { nodes.count }

  mutating func add(_ node: NodeID) { if nodes.last != node { nodes.append(node) } }

  /// Those that have come since there were so many, perhaps very many.
  mutating func take(after count: Int) -> [NodeID] {
    var taken: [NodeID] = []
    guard count > 0 else {
      swap(&taken, &nodes)
      return taken
    }
    guard count < nodes.count else { return [] }
    taken += nodes[count...]
    nodes.removeSubrange(count...)
    return taken
  }
}
