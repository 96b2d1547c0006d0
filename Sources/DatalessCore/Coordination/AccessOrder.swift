/// The order of coordinated accesses: which intents are held, and which wait for whom.
///
/// Readers share, writers exclude, on what lies below a claimed directory, too. An intent is held when nobody who
/// cannot be beside it is held, or came before it: first come, first served, so that nobody starves. It takes all its
/// names at once. Only an intent *within* another one can close a circle of those who wait: it has the place in the
/// order of that one, is kept from nothing by its group, and is refused where it would never be held.
///
/// A name that an intent holds, and each directory on the way to it, has a place; what an intent does there is one of
/// the modes of `AccessMode`. So who is in whose way is seen at one place, and nobody looks at all others. Who waits is
/// parked at one place where it is kept, and goes on from there.
public struct AccessOrder: Sendable {
  typealias Place = AccessPlaces.Place

  private var intents: [UInt64: OrderedIntent] = [:]
  private var places = AccessPlaces()
  private var users: [Place: PlaceUsers] = [:]
  /// By position, of groups that have, or had, more than one.
  private var groups: [UInt64: [UInt64]] = [:]
  private var lastPosition: UInt64 = 0

  /// LIMIT: intents within one: each looks at all others of its group wherever it comes.
  public static let withinMax = 64
  /// LIMIT: intents that are looked at for one who waits: thousands may be there that are in nobody's way.
  private static let looksMax = 64

  public init() {}

  // MARK: - Looking

  public var count: Int { intents.count }
  /// Names and directories on the way to them.
  var placeCount: Int { users.count }

  public func isHeld(_ id: UInt64) -> Bool { intents[id]?.isHeld ?? false }

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
      if keeps(other, intent, as: mode, at: place) { found.append(other) }
    }
    return (places.path(of: place), found)
  }

  private func keeps(_ id: UInt64, _ intent: OrderedIntent, as mode: AccessMode, at place: Place) -> Bool {
    guard let other = intents[id], other.position != intent.position, let theirs = other.mode(at: place) else {
      return false
    }
    return mode.excludes(theirs) && (other.isHeld || other.position < intent.position)
  }

  // MARK: - Beginning

  /// Takes an intent up.
  ///
  /// - Parameters:
  ///   - id: Never used before.
  ///   - outer: A held intent that is not given back before this one was answered.
  public mutating func begin(_ id: UInt64, _ claims: [AccessClaim], within outer: UInt64? = nil) -> AccessStart {
    var position = lastPosition + 1
    if let outer {
      guard let leader = intents[outer], leader.isHeld else { return .outerNotHeld }
      position = leader.position
      guard groups[position, default: []].count < Self.withinMax else { return .tooManyWithin }
      groups[position, default: [outer]].append(id)
    } else {
      lastPosition = position
    }
    intents[id] = OrderedIntent(position: position)
    for claim in claims { add(claim, to: id) }
    guard let places = intents[id]?.places else { return .waits }
    if let kept = scan(id) {
      for place in places { wait(id, at: place) }
      park(id, at: kept)
      guard outer != nil, closesCircle(id) else { return .waits }
      // Nobody has been kept by it yet.
      remove(id)
      return .deadlock
    }
    hold(id)
    return .held
  }

  private mutating func add(_ claim: AccessClaim, to id: UInt64) {
    var chain = places.make(claim.path)
    guard let place = chain.popLast() else { return }
    if enter(id, place, { $0.claim(isWrite: claim.isWrite) }) {
      for above in chain {
        _ = enter(id, above) { entry in
          entry.claimBelow(reads: claim.isWrite ? 0 : 1, writes: claim.isWrite ? 1 : 0)
          return true
        }
      }
    }
  }

  /// Changes what an intent does at a place. What is held already is counted anew.
  private mutating func enter(_ id: UInt64, _ place: Place, _ change: (inout AccessEntry) -> Bool) -> Bool {
    let isHeld = intents[id]?.isHeld ?? false
    let before = intents[id]?.entry(at: place)
    var entry = before ?? AccessEntry()
    let result = change(&entry)
    intents[id]?.set(entry, at: place)
    if before == nil {
      places.enter(place)
      if users[place] == nil { users[place] = PlaceUsers() }
    }
    if isHeld { users[place]?.hold(id, as: entry.mode, insteadOf: before?.mode) }
    return result
  }

  // MARK: - Going on

  /// The first place at which an intent is kept, from where it was kept last; nil: none, so it may be held.
  private mutating func scan(_ id: UInt64) -> Place? {
    guard let intent = intents[id] else { return nil }
    for step in 0..<intent.places.count {
      let place = intent.place(atStep: step)
      guard let mode = intent.mode(at: place), isKept(intent.position, mode, at: place) else { continue }
      intents[id]?.goOn(atStep: step)
      return place
    }
    return nil
  }

  private mutating func isKept(_ position: UInt64, _ mode: AccessMode, at place: Place) -> Bool {
    guard let holds = users[place]?.holds else { return false }
    for other in mode.excluded {
      if holds[other.rawValue] > 0, holds[other.rawValue] > ownHolds(position, other, at: place) { return true }
      if let first = firstWaiting(other, at: place), first < position { return true }
    }
    return false
  }

  private func ownHolds(_ position: UInt64, _ mode: AccessMode, at place: Place) -> Int32 {
    guard let members = groups[position] else { return 0 }
    var count: Int32 = 0
    for member in members {
      if let intent = intents[member], intent.isHeld, intent.mode(at: place) == mode { count += 1 }
    }
    return count
  }

  private mutating func firstWaiting(_ mode: AccessMode, at place: Place) -> UInt64? {
    let intents = intents
    return users[place]?.firstWaiting(mode) { intents[$0]?.isWaiting ?? false }
  }

  private mutating func hold(_ id: UInt64) {
    guard let intent = intents[id] else { return }
    intents[id]?.hold()
    for place in intent.places {
      if let mode = intent.mode(at: place) { users[place]?.hold(id, as: mode) }
    }
  }

  private mutating func wait(_ id: UInt64, at place: Place) {
    guard let intent = intents[id], let mode = intent.mode(at: place) else { return }
    let intents = intents
    users[place]?.wait(id, as: mode, position: intent.position) { intents[$0]?.isWaiting ?? false }
  }

  private mutating func park(_ id: UInt64, at place: Place) {
    intents[id]?.park(at: place)
    guard let intent = intents[id], let mode = intent.mode(at: place) else { return }
    if groups[intent.position] != nil {
      users[place]?.parkWithin(id)
    } else {
      let intents = intents
      users[place]?.park(id, as: mode, position: intent.position) { intents[$0]?.parked == place }
    }
  }

  // MARK: - Ending

  /// An intent is given back, or is wanted no more.
  ///
  /// - Returns: Those that are held from now on.
  public mutating func end(_ id: UInt64) -> [UInt64] {
    let left = remove(id)
    var held: [UInt64] = []
    for place in left { wake(at: place, &held) }
    return held
  }

  /// - Returns: The places at which others may go on.
  @discardableResult
  private mutating func remove(_ id: UInt64) -> [Place] {
    guard let intent = intents.removeValue(forKey: id) else { return [] }
    if var members = groups.removeValue(forKey: intent.position) {
      members.removeAll { $0 == id }
      if !members.isEmpty { groups[intent.position] = members }
    }
    var left: [Place] = []
    for place in intent.places {
      guard let mode = intent.mode(at: place) else { continue }
      users[place]?.leave(id, as: intent.isHeld ? mode : nil)
      if users[place]?.isNobody ?? false {
        users[place] = nil
      } else if users[place]?.mayHaveParked ?? false {
        left.append(place)
      }
      for gone in places.leave(place) { users[gone] = nil }
    }
    return left
  }

  /// Those that were kept at a place and are no more go on.
  private mutating func wake(at place: Place, _ held: inout [UInt64]) {
    for mode in AccessMode.allCases {
      while let next = firstParked(mode, at: place), !isKept(next.position, mode, at: place) {
        resume(next.intent, &held)
      }
    }
    for id in users[place]?.parkedWithin ?? [] {
      guard let intent = intents[id], let mode = intent.mode(at: place),
        !isKept(intent.position, mode, at: place)
      else { continue }
      users[place]?.unparkWithin(id)
      resume(id, &held)
    }
  }

  private mutating func firstParked(_ mode: AccessMode, at place: Place) -> (intent: UInt64, position: UInt64)? {
    let intents = intents
    return users[place]?.firstParked(mode) { intents[$0]?.parked == place }
  }

  private mutating func resume(_ id: UInt64, _ held: inout [UInt64]) {
    intents[id]?.park(at: nil)
    if let place = scan(id) {
      park(id, at: place)
    } else {
      hold(id)
      held.append(id)
    }
  }

  // MARK: - Renames

  /// What had a name has another one: who holds the old one holds the new one, too, from now on; and who holds
  /// something below the old one, all below the new one. Who waits waits for the name.
  ///
  /// - Returns: Those that can never be held now, because of what their group holds: to be ended.
  public mutating func rename(_ from: [UInt8], to: [UInt8]) -> [UInt64] {
    guard let place = places.find(from) else { return [] }
    var concerned: [UInt64] = []
    for id in users[place]?.held ?? [] {
      guard let isWrite = intents[id]?.follow(at: place) else { continue }
      add(AccessClaim(to, isWrite: isWrite), to: id)
      guard let position = intents[id]?.position else { continue }
      concerned += groups[position, default: []].filter { intents[$0]?.isWaiting ?? false }
    }
    return concerned.filter { closesCircle($0) }
  }

  // MARK: - Circles

  /// Whether an intent that waits within another one waits for what its own group holds.
  private func closesCircle(_ id: UInt64) -> Bool {
    guard let position = intents[id]?.position else { return false }
    var seen: Set<UInt64> = [id]
    var next = [id]
    while let current = next.popLast() {
      guard let intent = intents[current] else { continue }
      for place in intent.places {
        guard let mode = intent.mode(at: place), let users = users[place] else { continue }
        for other in [users.held, users.waiting].joined() where keeps(other, intent, as: mode, at: place) {
          guard let theirs = intents[other] else { continue }
          if other == id || (theirs.isHeld && theirs.position == position) { return true }
          guard seen.insert(other).inserted else { continue }
          if !theirs.isHeld {
            next.append(other)
          } else {
            for member in groups[theirs.position, default: []] where seen.insert(member).inserted {
              if intents[member]?.isWaiting ?? false { next.append(member) }
            }
          }
        }
      }
    }
    return false
  }
}
