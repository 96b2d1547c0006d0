/// Who holds one place of `AccessOrder`, who waits for it, and who is parked there until he can go on.
struct PlaceUsers {
  private struct Queues {
    var waiting = [PositionQueue](repeating: PositionQueue(), count: AccessMode.allCases.count)
    /// Of those, who is parked here; who is within another one apart, because what its group holds does not keep it.
    var parked = [PositionQueue](repeating: PositionQueue(), count: AccessMode.allCases.count)
    var parkedWithin: Set<UInt64> = []
  }

  private(set) var held: Set<UInt64> = []
  /// How many hold it, by `AccessMode`.
  private(set) var holds = SIMD8<Int32>(repeating: 0)
  private(set) var waiting: Set<UInt64> = []
  /// Made by the first that waits.
  private var queues: Queues?

  var isNobody: Bool { held.isEmpty && waiting.isEmpty }
  /// Whether somebody has waited.
  var mayHaveParked: Bool { queues != nil }

  // MARK: - Holding

  /// - Parameter former: What it has held it as; nil: it has not held it.
  mutating func hold(_ intent: UInt64, as mode: AccessMode, insteadOf former: AccessMode? = nil) {
    if let former {
      holds[former.rawValue] -= 1
    } else {
      waiting.remove(intent)
      held.insert(intent)
    }
    holds[mode.rawValue] += 1
  }

  /// - Parameter mode: What it has held it as; nil: it has waited.
  mutating func leave(_ intent: UInt64, as mode: AccessMode?) {
    if let mode {
      held.remove(intent)
      holds[mode.rawValue] -= 1
    } else {
      waiting.remove(intent)
      queues?.parkedWithin.remove(intent)
    }
  }

  // MARK: - Waiting

  /// - Parameter isWaiting: As `PositionQueue`.
  mutating func wait(_ intent: UInt64, as mode: AccessMode, position: UInt64, isWaiting: (UInt64) -> Bool) {
    if queues == nil { queues = Queues() }
    waiting.insert(intent)
    queues?.waiting[mode.rawValue].add(intent, at: position, isThere: isWaiting)
  }

  /// The place in the order of the first that waits. - Parameter isWaiting: As `PositionQueue`.
  mutating func firstWaiting(_ mode: AccessMode, isWaiting: (UInt64) -> Bool) -> UInt64? {
    queues?.waiting[mode.rawValue].first(isThere: isWaiting)?.position
  }

  // MARK: - Parking

  /// - Parameter isParked: As `PositionQueue`.
  mutating func park(_ intent: UInt64, as mode: AccessMode, position: UInt64, isParked: (UInt64) -> Bool) {
    queues?.parked[mode.rawValue].add(intent, at: position, isThere: isParked)
  }

  /// The first that is parked. - Parameter isParked: As `PositionQueue`.
  mutating func firstParked(
    _ mode: AccessMode, isParked: (UInt64) -> Bool
  ) -> (intent: UInt64, position: UInt64)? {
    queues?.parked[mode.rawValue].first(isThere: isParked)
  }

  var parkedWithin: Set<UInt64> { queues?.parkedWithin ?? [] }
  mutating func parkWithin(_ intent: UInt64) { queues?.parkedWithin.insert(intent) }
  mutating func unparkWithin(_ intent: UInt64) { queues?.parkedWithin.remove(intent) }
}
