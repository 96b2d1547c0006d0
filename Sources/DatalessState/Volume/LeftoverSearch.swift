internal import Synchronization

/// The search for content that an earlier run has left and that nobody names, as others see it: whether it is to be
/// made, or under way, and how far it has come.
final class LeftoverSearch: Sendable {
  /// Below 0: nothing is looked for any more, because all was found, or the catalog is damaged.
  private let looked: Atomic<Int64>

  init(isNeeded: Bool) { looked = Atomic(isNeeded ? 0 : -1) }

  /// Items that were looked at; nil when nothing is looked for.
  var progress: Int64? {
    let count = looked.load(ordering: .acquiring)
    return count < 0 ? nil : count
  }

  /// More items were looked at.
  func note(_ count: Int64) { looked.add(count, ordering: .relaxed) }

  func end() { looked.store(-1, ordering: .releasing) }
}
