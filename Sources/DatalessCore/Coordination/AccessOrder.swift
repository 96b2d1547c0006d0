/// The order of coordinated accesses: which intents are held, and which wait for whom.
///
/// Readers share, writers exclude, on what lies below a claimed directory, too. An intent is held when nobody who
/// cannot be beside it is held, or came before it: first come, first served, so that nobody starves. It takes all its
/// names at once. Only an intent that another one waits for can close a circle: one *within* another one, which has the
/// place in the order of that one, or one for which a held one is not given back (`yielders`). It is refused where it
/// would never be held.
///
/// An intent within another one is of the same *party*, and kept from nothing by it; or it stands *apart*, as that of a
/// presenter that saves first: then it passes the one that it is within, and excludes all else of the group as it
/// excludes others.
///
/// A name that an intent holds, and each directory on the way to it, has a place; what an intent does there is one of
/// the modes of `AccessMode`. So who is in whose way is seen at one place, and nobody looks at all others. Who waits is
/// parked at one place where it is kept, and goes on from there.
public struct AccessOrder: Sendable {
  typealias Place = AccessPlaces.Place

  private(set) var intents: [UInt64: OrderedIntent] = [:]
  private(set) var places = AccessPlaces()
  private(set) var users: [Place: PlaceUsers] = [:]
  /// By position, of groups that have, or had, more than one.
  private(set) var groups: [UInt64: [UInt64]] = [:]
  /// Of an intent, those that it lets pass and for which it is not given back.
  private(set) var passing: [UInt64: Set<UInt64>] = [:]
  private var lastPosition: UInt64 = 0
  /// Of the intent that was refused last.
  public private(set) var lastCircle: AccessCircle?

  /// LIMIT: intents within one: each looks at all others of its group wherever it comes.
  public static let withinMax = 64
  public init() {}

  // MARK: - Looking

  public var count: Int { intents.count }
  /// Names and directories on the way to them.
  var placeCount: Int { users.count }

  public func isHeld(_ id: UInt64) -> Bool { intents[id]?.isHeld ?? false }

  /// Whether others wait for what an intent holds.
  public mutating func isWaitedFor(_ id: UInt64) -> Bool {
    guard let intent = intents[id], intent.isHeld else { return false }
    // Nobody passes it: whoever waits for what it excludes waits for it.
    let isAlone = groups[intent.position] == nil && passing[id] == nil
    for place in intent.places {
      guard let mode = intent.mode(at: place), mode.excluded.contains(where: { firstWaiting($0, at: place) != nil })
      else { continue }
      if isAlone { return true }
      for waiter in users[place]?.waiting ?? [] {
        guard let other = intents[waiter], let theirs = other.mode(at: place) else { continue }
        if keeps(intent, other, as: theirs, at: place) { return true }
      }
    }
    return false
  }

  // MARK: - Beginning

  /// Takes an intent up.
  ///
  /// - Parameters:
  ///   - id: Of no intent that is in the order: never used before, or that of one that was just refused.
  ///   - outer: A held intent that is not given back before this one was answered.
  ///   - isApart: Whether it is another program's than `outer`: it passes that one alone, and has a party of its own.
  ///   - yielders: Further held ones that let it pass, and are not given back before it was answered.
  public mutating func begin(
    _ id: UInt64, _ claims: [AccessClaim], within outer: UInt64? = nil, isApart: Bool = false, yielders: [UInt64] = []
  ) -> AccessStart {
    var position = lastPosition + 1
    var party: UInt64?
    var passed = yielders
    if let outer {
      guard let leader = intents[outer], leader.isHeld else { return .outerNotHeld }
      position = leader.position
      party = isApart ? id : leader.party
      passed += leader.yielders + (isApart ? [outer] : [])
      guard groups[position, default: []].count < Self.withinMax else { return .tooManyWithin }
      groups[position, default: [outer]].append(id)
    } else {
      lastPosition = position
    }
    let intent = OrderedIntent(
      id, position: position, party: party, yielders: Set(passed.filter { intents[$0] != nil }))
    intents[id] = intent
    for yielder in intent.yielders { passing[yielder, default: []].insert(id) }
    for claim in claims { add(claim, to: id) }
    guard let places = intents[id]?.places else { return .waits }
    if let kept = scan(id) {
      for place in places { wait(id, at: place) }
      park(id, at: kept)
      guard outer != nil || !intent.yielders.isEmpty, let circle = circle(of: id) else { return .waits }
      lastCircle = circle
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

  /// Has a held intent hold another name, as what it holds has that now. - Returns: False when it follows no more.
  mutating func follow(_ id: UInt64, _ claim: AccessClaim) -> Bool {
    guard intents[id]?.follow() ?? false else { return false }
    add(claim, to: id)
    return true
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
      guard let mode = intent.mode(at: place), isKept(intent, as: mode, at: place) else { continue }
      intents[id]?.goOn(atStep: step)
      return place
    }
    return nil
  }

  private mutating func isKept(_ intent: OrderedIntent, as mode: AccessMode, at place: Place) -> Bool {
    guard let holds = users[place]?.holds else { return false }
    for other in mode.excluded {
      if holds[other.rawValue] > 0, holds[other.rawValue] > passedHolds(intent, other, at: place) { return true }
      if let first = firstWaiting(other, at: place), first < intent.position { return true }
    }
    return (groups[intent.position] ?? []).contains { member in
      guard let other = intents[member], other.isWaiting, other.isBefore(intent) else { return false }
      return keeps(other, intent, as: mode, at: place)
    }
  }

  /// How many hold a place that an intent may be beside, whatever they do there.
  private func passedHolds(_ intent: OrderedIntent, _ mode: AccessMode, at place: Place) -> Int32 {
    var count: Int32 = 0
    for member in groups[intent.position] ?? [] {
      if let other = intents[member], other.isHeld, other.isOfParty(of: intent), other.mode(at: place) == mode {
        count += 1
      }
    }
    for yielder in intent.yielders {
      if let other = intents[yielder], other.isHeld, !other.isOfParty(of: intent), other.mode(at: place) == mode {
        count += 1
      }
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
    if groups[intent.position] != nil || !intent.yielders.isEmpty {
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
    passing[id] = nil
    for yielder in intent.yielders where passing[yielder]?.remove(id) != nil && passing[yielder]?.isEmpty ?? false {
      passing[yielder] = nil
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
      while let next = firstParked(mode, at: place), let intent = intents[next.intent],
        !isKept(intent, as: mode, at: place)
      {
        resume(next.intent, &held)
      }
    }
    for id in users[place]?.parkedWithin ?? [] {
      guard let intent = intents[id], let mode = intent.mode(at: place), !isKept(intent, as: mode, at: place) else {
        continue
      }
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
}
