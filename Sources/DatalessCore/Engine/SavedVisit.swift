internal import Synchronization

/// Looks where an earlier run has kept what the volume is to know of by itself. The directories on the way are listed,
/// one at a time; no content is fetched.
///
/// A place that cannot be reached is left: who looks into its directory finds what is kept there.
final class SavedVisit: Sendable {
  /// What is next for a place.
  enum Step {
    case reached
    case absent
    case list(NodeID)
  }

  /// What has become of a place.
  enum Outcome {
    case reached
    /// A directory on the way cannot be listed.
    case failed
    /// There is nothing of that name.
    case absent
  }

  private let engine: Engine
  private let left: Mutex<ArraySlice<[UInt8]>>
  private let next: @Sendable (_ place: [UInt8]) -> Step
  private let note: @Sendable (_ place: [UInt8], _ outcome: Outcome) -> Void
  private let completion: @Sendable () -> Void

  /// - Parameters:
  ///   - places: Paths on the volume, or what `next` takes for a place.
  ///   - next: Asked of each place until it is reached or absent. Default: walks the path.
  ///   - note: Called for each place that was tried. Default: nothing.
  ///   - completion: Called once, on the metadata lane. Default: nothing.
  init(
    _ engine: Engine, _ places: [[UInt8]], next: (@Sendable (_ place: [UInt8]) -> Step)? = nil,
    note: @escaping @Sendable (_ place: [UInt8], _ outcome: Outcome) -> Void = { _, _ in },
    completion: @escaping @Sendable () -> Void = {}
  ) {
    self.engine = engine
    left = Mutex(places[...])
    self.next = next ?? { engine.step(on: $0) }
    self.note = note
    self.completion = completion
  }

  /// Goes on until a directory has to be listed. Metadata lane.
  func step() {
    while !engine.isUnreachable, let place = left.withLock({ $0.first }) {
      let directory: NodeID
      switch next(place) {
      case .reached:
        leave(.reached)
        continue
      case .absent:
        leave(.absent)
        continue
      case .list(let dataless): directory = dataless
      }
      let request = TriggerRequest(trigger: .eager, caller: .nobody)
      let admission = engine.materialize(directory, request, waiter: engine.makeEagerWaiter()) { [self] result in
        if case .failed = result { leave(.failed) }
        engine.metadata.submit { [self] in step() }
      }
      switch admission {
      case .parked: return
      case .ready: continue
      case .failed: leave(.failed)
      }
    }
    completion()
  }

  private func leave(_ outcome: Outcome) {
    if let place = left.withLock({ $0.popFirst() }) { note(place, outcome) }
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
  fileprivate func step(on path: [UInt8]) -> SavedVisit.Step {
    switch resolve(path) {
    case .found: .reached
    case .absent: .absent
    case .insideDataless(let directory, _, _): .list(directory)
    }
  }

  /// Looks into the directories of the store from which an earlier run has moved what may not be there any more: what
  /// is nowhere is known to be so then, and stands before nothing that there is. Metadata lane.
  func lookAtDoubted() {
    let keys = state.withLock { $0.namespace.restored.takeDoubted() }
    guard !keys.isEmpty else { return }
    let visit = SavedVisit(
      self, keys,
      next: { [self] key in
        let directory = state.withLock { state in
          let found = state.namespace.unlistedDirectory(onTheWayTo: key, listing: .root, isComplete: false)
          // By the name alone that it had before it was moved what is kept of it is put back, too.
          if let found, state.namespace.restored.isBare(found) { state.namespace.setAwaitsSaved(true, of: found) }
          return found.map { state.namespace.id(of: $0) }
        }
        return directory.map { .list($0) } ?? .reached
      })
    visit.step()
  }

  /// Looks for items that are pinned, whose fetches go on, and for items in conflict with the store, in the background.
  /// Once, when the volume serves.
  public func visitSaved() {
    guard let saved = configuration.savedState else { return }
    metadata.submit { [self] in
      // What cannot be read is met, and told of, by who looks into its directory.
      let places = (try? saved.placesToVisit()) ?? []
      visit(places) { [self] isAnyAbsent in
        // The store may have renamed a directory on the way, which is known now that the one above it was listed.
        let known = Set(places)
        let others = isAnyAbsent ? (try? saved.placesToVisit()) ?? [] : []
        visit(others.filter { !known.contains($0) }) { [self] _ in
          fetchPinned()
          visited.end()
        }
      }
    }
  }

  /// - Parameter completion: Called once, with whether there was nothing at any of the places.
  private func visit(_ places: [[UInt8]], completion: @escaping @Sendable (_ isAnyAbsent: Bool) -> Void) {
    let isAnyAbsent = Atomic(false)
    let visit = SavedVisit(
      self, places, note: { _, outcome in if outcome == .absent { isAnyAbsent.store(true, ordering: .relaxed) } },
      completion: { completion(isAnyAbsent.load(ordering: .relaxed)) })
    visit.step()
  }

  /// Looks where an earlier run has kept content, so that it is known what takes room, and what can go. Where nobody
  /// has looked yet, directories are listed for it, one at a time, with what is simulated of that.
  ///
  /// - Parameters:
  ///   - path: Of the item that is meant with all below it; empty: everywhere. Who wants to look where somebody looks
  ///     already waits for that.
  ///   - completion: Called once, on the metadata lane; at once on a volume without a state directory.
  public func visitSavedContent(of path: [UInt8], completion: @escaping @Sendable () -> Void) {
    guard let saved = configuration.savedState else { return completion() }
    guard savedContent.joinVisit(of: path, timer.now, completion: completion) else { return }
    metadata.submit { [self] in
      let places = savedContent.places(of: path) { try? saved.placesOfContent() }
      let visit = SavedVisit(
        self, places, note: { [self] place, outcome in savedContent.note(place, outcome) },
        completion: { [self] in savedContent.endVisit(of: path, timer.now) })
      visit.step()
    }
  }

  /// Calls `body` once, perhaps before this returns, when `visitSaved` has done what it does; at once where there is
  /// nothing to look for.
  public func whenVisited(_ body: @escaping @Sendable () -> Void) {
    if configuration.savedState == nil { body() } else { visited.whenEnded(body) }
  }
}
