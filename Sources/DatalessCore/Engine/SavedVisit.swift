internal import Synchronization

/// Looks where an earlier run has kept what the volume is to know of by itself. The directories on the way are listed,
/// one at a time; no content is fetched.
///
/// A place that cannot be reached is left: who looks into its directory finds what is kept there.
final class SavedVisit: Sendable {
  private struct Left {
    var places: ArraySlice<[UInt8]>
    var isMissed = false
  }

  private let engine: Engine
  private let left: Mutex<Left>
  private let completion: @Sendable (_ reachesAll: Bool) -> Void

  /// - Parameter completion: Called once, on the metadata lane.
  init(_ engine: Engine, _ places: [[UInt8]], completion: @escaping @Sendable (_ reachesAll: Bool) -> Void) {
    self.engine = engine
    left = Mutex(Left(places: places[...]))
    self.completion = completion
  }

  /// Goes on until a directory has to be listed. Metadata lane.
  func step() {
    while !engine.isUnreachable, let place = left.withLock({ $0.places.first }) {
      let directory: NodeID
      switch engine.resolve(place) {
      case .found:
        leave(isReached: true)
        continue
      case .absent:
        leave(isReached: false)
        continue
      case .insideDataless(let dataless, _, _): directory = dataless
      }
      let request = TriggerRequest(trigger: .eager, caller: .nobody)
      let admission = engine.materialize(directory, request, waiter: engine.makeEagerWaiter()) { [self] result in
        if case .failed = result { leave(isReached: false) }
        engine.metadata.submit { [self] in step() }
      }
      switch admission {
      case .parked: return
      case .ready: continue
      case .failed: leave(isReached: false)
      }
    }
    completion(left.withLock { $0.places.isEmpty && !$0.isMissed })
  }

  private func leave(isReached: Bool) {
    left.withLock { left in
      left.places.removeFirst()
      if !isReached { left.isMissed = true }
    }
  }
}

/// Where content lies that an earlier run has kept, and that the namespace does not know of because nobody has looked
/// there since the mount.
final class SavedContent: Sendable {
  /// One for each directory, in order; nil: not asked for yet, or another place than what was told.
  private let places = Mutex<[[UInt8]]?>(nil)

  /// Places of an item and what is below it: also one of the directory that it is in, to which itself may belong.
  ///
  /// - Parameter ask: As `SavedState.placesOfContent`; waits for the disk.
  func places(of path: [UInt8], ask: () -> [[UInt8]]) -> [[UInt8]] {
    let known: [[UInt8]]
    if let told = places.withLock({ $0 }) {
      known = told
    } else {
      known = ask()
      places.withLock { $0 = known }
    }
    guard !path.isEmpty else { return known }
    let directory = Self.directory(of: path)
    return known.filter { place in
      Self.directory(of: place) == directory
        || (place.starts(with: path) && place.dropFirst(path.count).first == UInt8(ascii: "/"))
    }
  }

  private static func directory(of path: [UInt8]) -> ArraySlice<UInt8> {
    path.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] } ?? []
  }

  /// Somebody has looked there. - Parameter reachesAll: Whether all was found; else it is asked for anew.
  func visited(_ visited: [[UInt8]], reachesAll: Bool) {
    let visited = Set(visited)
    places.withLock { places in
      if reachesAll { places?.removeAll { visited.contains($0) } } else { places = nil }
    }
  }
}

/// Whether a visit is over, and who waits for that.
final class VisitEnd: Sendable {
  private let waiting = Mutex<[@Sendable () -> Void]?>([])

  func end() {
    let ended = waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting ?? []
    }
    for body in ended { body() }
  }

  func whenEnded(_ body: @escaping @Sendable () -> Void) {
    let isOver = waiting.withLock { waiting in
      waiting?.append(body)
      return waiting == nil
    }
    if isOver { body() }
  }
}

extension Engine {
  /// Looks for items that are pinned, whose fetches go on, and for items in conflict with the store, in the background.
  /// Once, when the volume serves.
  public func visitSaved() {
    guard let saved = configuration.savedState else { return }
    metadata.submit { [self] in
      // What cannot be read is met, and told of, by who looks into its directory.
      let places = (try? saved.placesToVisit()) ?? []
      let visit = SavedVisit(self, places) { [self] _ in
        fetchPinned()
        visited.end()
      }
      visit.step()
    }
  }

  /// Looks where an earlier run has kept content, so that it is known what takes room, and what can go. Where nobody
  /// has looked yet, directories are listed for it, one at a time, with what is simulated of that.
  ///
  /// - Parameters:
  ///   - path: Of the item that is meant with all below it; empty: everywhere.
  ///   - completion: Called once, on the metadata lane; at once on a volume without a state directory.
  public func visitSavedContent(of path: [UInt8], completion: @escaping @Sendable () -> Void) {
    guard let saved = configuration.savedState else { return completion() }
    metadata.submit { [self] in
      let places = savedContent.places(of: path) { (try? saved.placesOfContent()) ?? [] }
      let visit = SavedVisit(self, places) { [self] reachesAll in
        savedContent.visited(places, reachesAll: reachesAll)
        completion()
      }
      visit.step()
    }
  }

  /// Calls `body` once, perhaps before this returns, when `visitSaved` has done what it does; at once where there is
  /// nothing to look for.
  public func whenVisited(_ body: @escaping @Sendable () -> Void) {
    if configuration.savedState == nil { body() } else { visited.whenEnded(body) }
  }
}
