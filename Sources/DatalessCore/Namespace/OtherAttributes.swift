/// Which items of the store have other attributes on the volume, because a program has set them, and how many these
/// are. What follows from other changes, such as the times of what was written to, does not count.
struct OtherAttributes {
  private struct Reasons: OptionSet {
    let rawValue: UInt8
    /// Mode, owner or times.
    static let metadata = Reasons(rawValue: 1)
    static let extended = Reasons(rawValue: 2)
    /// It has no name: that is what is told of it.
    static let orphan = Reasons(rawValue: 4)

    var isCounted: Bool { !contains(.orphan) && !isDisjoint(with: [.metadata, .extended]) }
  }

  private var items: [NodeIndex: Reasons] = [:]
  /// Items that have a name.
  private(set) var count = 0

  /// An item's metadata are as they are told to be. - Parameter isOrphan: Whether it has no name.
  mutating func note(_ node: NodeIndex, metadata: Bool, isOrphan: Bool) {
    guard metadata || !items.isEmpty else { return }
    change(node) { reasons in
      reasons.set(.metadata, metadata)
      reasons.set(.orphan, isOrphan)
    }
  }

  mutating func note(_ node: NodeIndex, extended: Bool, isOrphan: Bool) {
    guard extended || !items.isEmpty else { return }
    change(node) { reasons in
      reasons.set(.extended, extended)
      reasons.set(.orphan, isOrphan)
    }
  }

  func contains(_ node: NodeIndex) -> Bool { items[node] != nil }

  mutating func forget(_ node: NodeIndex) { if !items.isEmpty { change(node) { $0 = [] } } }

  private mutating func change(_ node: NodeIndex, _ change: (inout Reasons) -> Void) {
    let before = items[node] ?? []
    var now = before
    change(&now)
    if now.isDisjoint(with: [.metadata, .extended]) { now = [] }
    guard now != before else { return }
    items[node] = now.isEmpty ? nil : now
    if before.isCounted { count -= 1 }
    if now.isCounted { count += 1 }
  }
}

extension OptionSet where Element == Self {
  fileprivate mutating func set(_ one: Self, _ isThere: Bool) { if isThere { insert(one) } else { remove(one) } }
}
