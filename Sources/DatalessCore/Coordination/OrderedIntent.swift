/// One intent of `AccessOrder`: where it comes in the order, and what it does at which place.
struct OrderedIntent {
  typealias Place = AccessPlaces.Place

  /// LIMIT: new names of what was renamed while an intent held it.
  static let followedMax = 64

  let id: UInt64
  /// That of its group: of the intent that it is within.
  let position: UInt64
  /// Of its group, those that are kept from nothing by each other, by the first of them; nil: those of the group's
  /// first.
  let party: UInt64?
  /// Held ones that let it pass, and are not given back before it was answered.
  let yielders: Set<UInt64>
  private(set) var isHeld = false
  private var entries: [Place: AccessEntry] = [:]
  /// The places of `entries`, as they are gone through; and where that goes on.
  private(set) var places: [Place] = []
  private var cursor = 0
  private(set) var parked: Place?
  /// Names that were given on the way, because what had a claimed one was renamed.
  private var followed = 0

  init(_ id: UInt64, position: UInt64, party: UInt64?, yielders: Set<UInt64>) {
    self.id = id
    self.position = position
    self.party = party
    self.yielders = yielders
  }

  var isWaiting: Bool { !isHeld }

  func isOfParty(of other: OrderedIntent) -> Bool { position == other.position && party == other.party }

  /// Those of one group have one position: of its parties, the one that came first is first.
  func isBefore(_ other: OrderedIntent) -> Bool {
    (position, party ?? 0) < (other.position, other.party ?? 0)
  }

  func entry(at place: Place) -> AccessEntry? { entries[place] }

  func mode(at place: Place) -> AccessMode? { entries[place]?.mode }

  mutating func set(_ entry: AccessEntry, at place: Place) {
    if entries.updateValue(entry, forKey: place) == nil { places.append(place) }
  }

  mutating func hold() {
    isHeld = true
    parked = nil
  }

  /// - Parameter place: nil: it goes on.
  mutating func park(at place: Place?) { parked = place }

  // MARK: - Going on

  /// The places in turn, from where it goes on. - Parameter step: Below their number.
  func place(atStep step: Int) -> Place { places[(cursor + step) % places.count] }

  /// It goes on at that place, as `place(atStep:)` counts.
  mutating func goOn(atStep step: Int) { cursor = (cursor + step) % places.count }

  // MARK: - Renames

  /// What it holds has another name, too. - Returns: Whether it takes that up.
  mutating func follow() -> Bool {
    guard followed < Self.followedMax else { return false }
    followed += 1
    return true
  }
}
