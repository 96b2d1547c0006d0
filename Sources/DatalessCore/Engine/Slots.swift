internal import DequeModule

/// Who may fetch at the same time (`concurrency`), and who waits for that in which order.
struct Slots {
  private var holders: Set<AttemptID> = []
  /// Some of them may have ended meanwhile; they are passed over when it is their turn.
  private var waiting: Deque<AttemptID> = []
  /// Those for which nobody waits: it is their turn when nobody else wants a slot.
  private var eager: Deque<AttemptID> = []
  /// Whether free slots are being given to those who wait.
  private(set) var isFilling = false

  var inUse: Int { holders.count }
  var waitingCount: Int { waiting.count + eager.count }

  /// Takes a slot, or puts the attempt behind all who wait for one.
  ///
  /// - Parameters:
  ///   - limit: Slots there are now; fewer than are in use when it was lowered.
  ///   - isEager: Whether nobody waits for it.
  /// - Returns: Whether it has a slot.
  mutating func request(_ attempt: AttemptID, limit: Int, isEager: Bool = false) -> Bool {
    guard holders.count < limit else {
      if isEager { eager.append(attempt) } else { waiting.append(attempt) }
      return false
    }
    holders.insert(attempt)
    return true
  }

  /// Somebody waits for an attempt by now.
  mutating func prefer(_ attempt: AttemptID) {
    guard let place = eager.firstIndex(of: attempt) else { return }
    eager.remove(at: place)
    waiting.append(attempt)
  }

  /// An attempt has ended. - Returns: Whether it had a slot.
  mutating func giveBack(_ attempt: AttemptID) -> Bool { !holders.isEmpty && holders.remove(attempt) != nil }

  // MARK: - Giving free slots to those who wait

  /// From here to `endFilling`, what gives back a slot leaves it to the one who fills.
  mutating func beginFilling() { isFilling = true }

  mutating func endFilling() { isFilling = false }

  /// Whether somebody waits and may have a slot. - Parameter limit: nil: as many as want one.
  func hasNext(limit: Int?) -> Bool { waitingCount > 0 && limit.map { holders.count < $0 } ?? true }

  /// Takes out who has waited longest.
  mutating func next() -> AttemptID? { waiting.popFirst() ?? eager.popFirst() }

  /// Gives a slot to one who has been taken out and has not ended.
  mutating func grant(_ attempt: AttemptID) { holders.insert(attempt) }
}
