/// The waiters of one attempt; each leaves in constant time, because thousands may be killed together.
struct WaiterList {
  private var slots: [Waiter?] = []
  private var free: [Int] = []

  var count: Int { slots.count - free.count }
  var isEmpty: Bool { count == 0 }

  /// The first so many.
  func prefix(_ limit: Int) -> [Waiter] { Array(slots.lazy.compactMap { $0 }.prefix(limit)) }

  /// Takes all, with gaps where some have left.
  mutating func takeAll() -> [Waiter?] {
    defer { self = WaiterList() }
    return slots
  }

  /// - Returns: The waiter's slot.
  mutating func append(_ waiter: Waiter) -> Int {
    if let slot = free.popLast() {
      slots[slot] = waiter
      return slot
    }
    slots.append(waiter)
    return slots.count - 1
  }

  subscript(slot: Int) -> Waiter? { slots[slot] }

  mutating func remove(at slot: Int) {
    guard slots[slot] != nil else { return }
    slots[slot] = nil
    free.append(slot)
  }
}
