internal import DequeModule

/// What is to be fetched although nobody reads it: below which directories, and which files, because a content policy
/// wants it. One tree is gone through at a time.
struct EagerFetches {
  /// LIMIT: fetches, and listings, that are under way at the same time, as measured on macOS. Readers are not counted.
  static let atOnce = 6

  private var trees: Deque<NodeID> = []
  private var known: Set<NodeID> = []
  private var isRunning = false
  private var noted: [NodeID] = []

  /// What is to be added as soon as the lock is released.
  mutating func note(_ node: NodeID) { noted.append(node) }

  mutating func takeNoted() -> [NodeID] {
    guard !noted.isEmpty else { return [] }
    defer { noted = [] }
    return noted
  }

  /// Those that wait to be gone through.
  var waiting: Int { trees.count }

  /// An item, and what is below it, is to be looked at. - Returns: Whether somebody has to begin with it.
  mutating func add(_ node: NodeID) -> Bool {
    if known.insert(node).inserted { trees.append(node) }
    defer { isRunning = true }
    return !isRunning
  }

  /// What is to be gone through next; nil: nothing, and who went through them has ended.
  mutating func next() -> NodeID? {
    guard let node = trees.popFirst() else {
      isRunning = false
      return nil
    }
    known.remove(node)
    return node
  }
}
