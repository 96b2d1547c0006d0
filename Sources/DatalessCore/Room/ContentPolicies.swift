/// The content policies of items that have one of their own. What has none costs nothing.
struct ContentPolicies {
  private var own: [NodeIndex: ContentPolicy] = [:]

  /// Whether nothing has one: asked before anything else.
  var isEmpty: Bool { own.isEmpty }

  /// An item's own policy; nil if it is inherited.
  func own(of node: NodeIndex) -> ContentPolicy? { own.isEmpty ? nil : own[node] }

  /// All items that have one.
  var all: [(node: NodeIndex, policy: ContentPolicy)] { own.map { ($0.key, $0.value) } }

  /// Those that are pinned themselves.
  var pinned: [NodeIndex] { own.isEmpty ? [] : own.compactMap { $0.value.keepsContent ? $0.key : nil } }

  /// - Returns: Whether that is another one than before.
  mutating func set(_ policy: ContentPolicy, of node: NodeIndex) -> Bool {
    let before = own[node] ?? .inherited
    own[node] = policy == .inherited ? nil : policy
    return before != policy
  }

  /// A name leads to another version of its item from now on, which is another node.
  /// - Returns: Whether there was one.
  mutating func move(from old: NodeIndex, to new: NodeIndex) -> Bool {
    guard let policy = own.removeValue(forKey: old) else { return false }
    own[new] = policy
    return true
  }

  /// Items are given back.
  mutating func forget(_ nodes: [NodeIndex]) {
    guard !own.isEmpty else { return }
    for node in nodes { own[node] = nil }
  }
}
