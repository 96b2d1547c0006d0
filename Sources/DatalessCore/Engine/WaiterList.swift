/// The waiters of one attempt; each leaves in constant time, because thousands may be killed together.
struct WaiterList {
  private var slots: [Waiter?] = []
  private var free: [Int] = []

  var count: Int { slots.count - free.count }
  var isEmpty: Bool { count == 0 }
  var all: [Waiter] { slots.compactMap { $0 } }

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

  mutating func remove(at slot: Int) -> Waiter? {
    guard let waiter = slots[slot] else { return nil }
    slots[slot] = nil
    free.append(slot)
    return waiter
  }
}
