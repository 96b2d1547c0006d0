/// The place of an item's record in the namespace: dense, and used again when the item has been forgotten.
///
/// Whoever keeps one past a release of the engine's lock keeps a `NodeID` instead, or is asked about when a node is
/// forgotten: an index says nothing of which item has the place now.
struct NodeIndex: Hashable, Comparable, Sendable, BitwiseCopyable {
  let rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }

  static let root = NodeIndex(rawValue: 1)
  static func < (left: NodeIndex, right: NodeIndex) -> Bool { left.rawValue < right.rawValue }
}

/// The place of a name's record in the namespace. A name is an edge from a directory to an item.
struct NameIndex: Hashable, Sendable, BitwiseCopyable {
  let rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Ends a list of names.
  static let end = NameIndex(rawValue: 0)

  /// Itself; nil for `end`.
  var optional: NameIndex? { self == .end ? nil : self }
}

/// Where a visit of a directory's names, which takes several holds of the lock, goes on.
enum NameCursor {
  case start
  case at(NameIndex)
}

/// Where a visit of all nodes, which takes several holds of the lock, goes on.
public struct NodeCursor: Sendable {
  let next: NodeIndex
}
