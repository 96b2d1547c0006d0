internal import HeapModule

/// Intents by their place in the order, the first to be had at once.
///
/// What leaves is not looked for: it is passed over when it comes first, and dropped when as much has come as was left
/// the last time. So each entry costs the logarithm of how many there are, whoever leaves.
struct PositionQueue {
  private struct Entry: Comparable {
    let position: UInt64
    let intent: UInt64

    static func < (left: Entry, right: Entry) -> Bool {
      (left.position, left.intent) < (right.position, right.intent)
    }
  }

  private var heap = Heap<Entry>()
  private var limit = Self.least

  private static let least = 64

  /// - Parameter isThere: Whether an intent is still in the queue.
  mutating func add(_ intent: UInt64, at position: UInt64, isThere: (UInt64) -> Bool) {
    heap.insert(Entry(position: position, intent: intent))
    guard heap.count > limit else { return }
    var seen: Set<UInt64> = []
    heap = Heap(heap.unordered.filter { isThere($0.intent) && seen.insert($0.intent).inserted })
    limit = max(Self.least, 2 * heap.count)
  }

  /// The first that is still in the queue.
  mutating func first(isThere: (UInt64) -> Bool) -> (intent: UInt64, position: UInt64)? {
    while let entry = heap.min {
      if isThere(entry.intent) { return (entry.intent, entry.position) }
      heap.removeMin()
    }
    return nil
  }

  /// How many entries are kept, those included that have left.
  var count: Int { heap.count }
}
