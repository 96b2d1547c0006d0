/// What goes first when room is short: what is temporary, then the caches of apps that do not run, of the app first
/// that was not used for longest; then content that can be fetched again.
///
/// An app is used when a file in one of its areas is. All files are looked at for that (`noteUse`) before any is
/// chosen.
struct PurgeOrder {
  /// What is done with a file for room.
  enum Stage: Equatable {
    /// The one with the lowest rank first.
    case purge(PurgeReason, rank: Int64)
    case evict
    case keep
  }

  /// The rank of what is evicted: behind all that is purged.
  static let evictionRank = Int64.max

  /// What is found while files are looked at.
  private var uses: [Areas.App: (order: Int64, place: Areas.Place)] = [:]
  /// The last use of each app, as far as it was found when files were looked at, in this run or an earlier one: of
  /// files that are gone, or were not met since the mount, too.
  private(set) var kept: [[UInt8]: UInt32] = [:]
  /// LIMIT: apps of which that is known; of others only what is here counts.
  private static let keptMax = 4096
  /// The use from which others are counted.
  private var origin: UInt32 = 0
  /// What was found when all had been looked at.
  private var ranks: [Areas.App: Int64] = [:]
  private var running: Set<Areas.App> = []

  /// All files are about to be looked at. - Parameter now: The number of the last use.
  mutating func begin(now: UInt32) {
    uses = [:]
    origin = now
  }

  /// Nothing is known any more but when apps were used: there are other areas.
  mutating func forget() {
    let kept = kept
    self = PurgeOrder()
    self.kept = kept
  }

  /// - Parameter apps: As `kept`, of an earlier run.
  mutating func restore(_ apps: [[UInt8]: UInt32]) {
    for (app, use) in apps where use != 0 && kept.count < Self.keptMax { kept[app] = use }
  }

  /// A file lies in a place. - Parameter use: The number of its last use; 0: none.
  mutating func noteUse(_ use: UInt32, at place: Areas.Place, in areas: Areas) {
    let owner = areas.owner(of: place)
    let order = order(of: use)
    if let known = uses[owner] {
      if known.order < order { uses[owner] = (order, known.place) }
    } else {
      uses[owner] = (max(order, kept[Self.key(of: owner, areas)].map { self.order(of: $0) } ?? .min), place)
    }
    keep(use, at: place, in: areas)
  }

  private func order(of use: UInt32) -> Int64 { use == 0 ? .min : Int64(Int32(bitPattern: use &- origin)) }

  /// A use of a file that lies in a place.
  mutating func keep(_ use: UInt32, at place: Areas.Place, in areas: Areas) {
    guard use != 0 else { return }
    let key = Self.key(of: areas.owner(of: place), areas)
    guard let known = kept[key] else {
      if kept.count < Self.keptMax { kept[key] = use }
      return
    }
    if Int32(bitPattern: use &- known) > 0 { kept[key] = use }
  }

  /// What outlives the areas, whose places in the list may change.
  private static func key(of app: Areas.App, _ areas: Areas) -> [UInt8] {
    switch app {
    case .named: [UInt8(ascii: "n")] + name(of: app, areas)
    case .area: [UInt8(ascii: "a")] + name(of: app, areas)
    }
  }

  /// All files have been looked at. - Parameter apps: Those that run now.
  mutating func end(_ apps: RunningApps, in areas: Areas) {
    var apps = apps
    let order = uses.sorted { left, right in
      left.value.order != right.value.order
        ? left.value.order < right.value.order
        : Self.name(of: left.key, areas).lexicographicallyPrecedes(
          Self.name(of: right.key, areas))
    }
    ranks = [:]
    running = []
    for (rank, entry) in order.enumerated() {
      ranks[entry.key] = Int64(rank) + 1
      if apps.runs(entry.value.place, in: areas) { running.insert(entry.key) }
    }
    uses = [:]
  }

  private static func name(of app: Areas.App, _ areas: Areas) -> [UInt8] {
    switch app {
    case .named(let name): name
    case .area(let index): Array(areas.list[index].name.utf8)
    }
  }

  /// What is done for room with files that lie in a place. - Parameter place: nil: in no area.
  func stage(of place: Areas.Place?, in areas: Areas) -> Stage {
    guard let place else { return .evict }
    let area = areas.area(place)
    if area.category == .offline { return .keep }
    guard area.isPurged else { return .evict }
    if area.category == .temporary { return .purge(.temporary, rank: 0) }
    let owner = areas.owner(of: place)
    // An app that has come since all were looked at may run.
    guard let rank = ranks[owner], !running.contains(owner) else { return .keep }
    return .purge(.cache, rank: rank)
  }
}
