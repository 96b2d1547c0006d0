/// Which items have come into another area by a rename, since the volume was mounted.
struct AreaMoves {
  /// LIMIT: items that are remembered; others are not told of.
  static let limit = 10_000

  /// The area that each was in before; nil: in none.
  private var former: [NodeIndex: Areas.Place?] = [:]

  var isEmpty: Bool { former.isEmpty }

  /// An item was renamed.
  mutating func note(_ node: NodeIndex, from before: Areas.Place?, to after: Areas.Place?) {
    if let origin = former[node] {
      if origin == after { former[node] = nil }
      return
    }
    guard before != after, former.count < Self.limit else { return }
    former[node] = .some(before)
  }

  /// The area that an item was in before it was renamed into another one: nil if it was not, `.some(nil)` for none.
  func former(of node: NodeIndex) -> Areas.Place?? { former.isEmpty ? nil : former[node] }

  /// There are other areas.
  mutating func forgetAll() { former = [:] }

  /// Items are given back.
  mutating func forget(_ nodes: [NodeIndex]) {
    guard !former.isEmpty else { return }
    for node in nodes { former[node] = nil }
  }
}
