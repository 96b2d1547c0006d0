/// Who keeps whom, and who would wait for ever.
extension AccessOrder {
  /// LIMIT: intents that are looked at for one who waits: thousands may be there that are in nobody's way.
  private static let looksMax = 64

  /// Some of those that keep an intent from being held, with the name at which they do; empty: nobody does.
  public func blockers(of id: UInt64, limit: Int = 8) -> (path: [UInt8], intents: [UInt64]) {
    guard let intent = intents[id], let place = intent.parked, let users = users[place],
      let mode = intent.mode(at: place)
    else { return ([], []) }
    var found: [UInt64] = []
    var looks = 0
    for other in [users.held, users.waiting].joined() {
      looks += 1
      guard looks <= Self.looksMax, found.count < limit else { break }
      if let other = intents[other], keeps(other, intent, as: mode, at: place) { found.append(other.id) }
    }
    return (places.path(of: place), found)
  }

  /// Whether one intent keeps another one from what that does at a place.
  func keeps(_ other: OrderedIntent, _ intent: OrderedIntent, as mode: AccessMode, at place: Place) -> Bool {
    guard !intent.yielders.contains(other.id), !other.isOfParty(of: intent), let theirs = other.mode(at: place) else {
      return false
    }
    return mode.excludes(theirs) && (other.isHeld || other.isBefore(intent))
  }

  /// Those that wait, and for which a held intent, or another one of its party, is not given back.
  func dependents(of id: UInt64) -> [UInt64] {
    guard let intent = intents[id] else { return [] }
    var found: Set<UInt64> = []
    for member in groups[intent.position] ?? [id] {
      guard let other = intents[member], other.isOfParty(of: intent) else { continue }
      if other.isWaiting { found.insert(member) }
      for passed in passing[member] ?? [] where intents[passed]?.isWaiting ?? false { found.insert(passed) }
    }
    return found.sorted()
  }

  /// Whether an intent that waits would wait for ever: those that keep it wait for it, or for what is not given back
  /// before it. nil: it would not.
  public func circle(of id: UInt64) -> AccessCircle? {
    guard intents[id]?.isWaiting ?? false else { return nil }
    var seen: Set<UInt64> = [id]
    // Each with the first step that leads there.
    var next: [(intent: UInt64, first: (place: Place, other: UInt64)?)] = [(id, nil)]
    while let current = next.popLast() {
      guard let intent = intents[current.intent] else { continue }
      for place in intent.places {
        guard let mode = intent.mode(at: place), let users = users[place] else { continue }
        for number in [users.held, users.waiting].joined() {
          guard let other = intents[number], keeps(other, intent, as: mode, at: place) else { continue }
          let first = current.first ?? (place, number)
          let isNew = seen.insert(number).inserted
          let reached = isNew && other.isHeld ? dependents(of: number) : []
          if number == id || reached.contains(id) {
            return AccessCircle(path: places.path(of: first.place), keeper: first.other, last: number)
          }
          if isNew, other.isWaiting { next.append((number, first)) }
          for one in reached where seen.insert(one).inserted { next.append((one, first)) }
        }
      }
    }
    return nil
  }
}
