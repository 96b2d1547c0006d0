/// Callers that wait for something other than an attempt (the store's metadata, an eviction before their open, the
/// delay of an access), and requests that are on their way to the engine.
struct PendingCalls {
  /// Who waits, and how his call is ended before its time.
  struct Call {
    /// Whose signals are looked at.
    let threadID: Int32
    let fail: @Sendable (FSError) -> Void
  }

  /// Requests that are on their way, and whether they were interrupted on it.
  private var announced: [WaiterID: Bool] = [:]
  private var parked: [WaiterID: Call] = [:]

  var announcedCount: Int { announced.count }
  var parkedCount: Int { parked.count }

  // MARK: - On their way

  /// A request is about to come under this waiter: from now on an interrupt of it is remembered.
  mutating func announce(_ waiter: WaiterID) { announced[waiter] = false }

  /// Remembers an interrupt of a request that is on its way; of any other one it says nothing.
  mutating func interruptAnnounced(_ waiter: WaiterID) {
    if announced[waiter] != nil { announced[waiter] = true }
  }

  /// The request has come: it is parked, or answered.
  ///
  /// - Returns: Whether it was interrupted before. One that is parked is to be looked at now.
  mutating func receive(_ waiter: WaiterID) -> Bool { announced.removeValue(forKey: waiter) ?? false }

  // MARK: - Waiting

  mutating func park(_ waiter: WaiterID, _ call: Call) { parked[waiter] = call }

  /// The thread that waits under a waiter; nil if nobody does.
  func threadID(of waiter: WaiterID) -> Int32? { parked[waiter]?.threadID }

  /// Takes a call out, to be answered: nobody else answers it then. nil if somebody has.
  mutating func claim(_ waiter: WaiterID) -> Call? { parked.removeValue(forKey: waiter) }

  /// Takes all calls out: the volume ends.
  mutating func claimAll() -> Dictionary<WaiterID, Call>.Values {
    defer { parked = [:] }
    return parked.values
  }
}
