/// One blocked caller of an attempt.
struct Waiter {
  let id: WaiterID
  let request: TriggerRequest
  let since: MonotonicTime
  let completion: @Sendable (WaitResult) -> Void

  /// His wait as the log shows it. - Parameter outcome: nil: it begins.
  func record(in attempt: AttemptID, _ outcome: Outcome?, _ now: MonotonicTime) -> Event.WaitRecord {
    Event.WaitRecord(
      attempt: attempt.rawValue, caller: request.caller, trigger: request.trigger, offset: request.offset,
      length: request.length, blocked: outcome == nil ? nil : now - since, outcome: outcome, time: now)
  }
}

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
