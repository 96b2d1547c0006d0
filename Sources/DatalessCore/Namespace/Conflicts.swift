/// Conflicts that nobody has decided yet, by the item that is here; of what was removed here, by the store's. And what
/// was found since that was asked last.
///
/// What the store has is not kept here: it is what a file retains (`ItemContent`), or what the store's name leads to
/// that is hidden behind the one made here.
struct Conflicts {
  /// What was found.
  struct News {
    let node: NodeID
    let kind: ConflictKind
    /// What the store has; nil: nothing.
    let theirs: ListedItem?
    /// Whether the conflict is none any more.
    let hasEnded: Bool
  }

  private var kinds: [NodeIndex: ConflictKind] = [:]
  private var news: [News] = []

  var isEmpty: Bool { kinds.isEmpty }
  var count: Int { kinds.count }
  var nodes: [NodeIndex] { Array(kinds.keys) }
  var hasNews: Bool { !news.isEmpty }

  func kind(of node: NodeIndex) -> ConflictKind? { kinds.isEmpty ? nil : kinds[node] }

  /// A conflict was found; perhaps once more, because the store has changed again. - Returns: Whether it is another one
  /// than was known.
  mutating func note(_ kind: ConflictKind, of node: NodeIndex, _ id: NodeID, theirs: ListedItem?) -> Bool {
    news.append(News(node: id, kind: kind, theirs: theirs, hasEnded: false))
    return kinds.updateValue(kind, forKey: node) != kind
  }

  /// Both sides agree again. - Returns: Whether they did not.
  mutating func end(_ node: NodeIndex, _ id: NodeID) -> Bool {
    guard let kind = resolve(node) else { return false }
    news.append(News(node: id, kind: kind, theirs: nil, hasEnded: true))
    return true
  }

  /// Somebody has decided. - Returns: What it was.
  mutating func resolve(_ node: NodeIndex) -> ConflictKind? { kinds.isEmpty ? nil : kinds.removeValue(forKey: node) }

  /// An earlier run had found it.
  mutating func restore(_ kind: ConflictKind, of node: NodeIndex) { kinds[node] = kind }

  mutating func takeNews() -> [News] {
    defer { news = [] }
    return news
  }

  /// An item is given back.
  mutating func forget(_ node: NodeIndex) { if !kinds.isEmpty { kinds[node] = nil } }
}
