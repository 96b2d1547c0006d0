internal import Synchronization

/// Looks where an earlier run has kept what the volume is to know of by itself: items that are pinned, whose fetches go
/// on, and items in conflict with the store. The directories on the way are listed, one at a time; no content is
/// fetched but what is pinned.
///
/// A place that cannot be reached is left: who looks into its directory finds what is kept there.
final class SavedVisit: Sendable {
  private let engine: Engine
  private let places: Mutex<ArraySlice<[UInt8]>>

  init(_ engine: Engine, _ places: [[UInt8]]) {
    self.engine = engine
    self.places = Mutex(places[...])
  }

  /// Goes on until a directory has to be listed. Metadata lane.
  func step() {
    while !engine.isUnreachable, let place = places.withLock({ $0.first }) {
      guard case .insideDataless(let directory, _, _) = engine.resolve(place) else {
        leave()
        continue
      }
      let request = TriggerRequest(trigger: .eager, caller: .nobody)
      let admission = engine.materialize(directory, request, waiter: engine.makeEagerWaiter()) { [self] result in
        if case .failed = result { leave() }
        engine.metadata.submit { [self] in step() }
      }
      switch admission {
      case .parked: return
      case .ready: continue
      case .failed: leave()
      }
    }
    engine.fetchPinned()
    engine.visited.end()
  }

  private func leave() { places.withLock { _ = $0.popFirst() } }
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
  /// Looks for what an earlier run has kept and the volume is to know of by itself, in the background. Once, when the
  /// volume serves.
  public func visitSaved() {
    guard let saved = configuration.savedState else { return }
    metadata.submit { [self] in
      // What cannot be read is met, and told of, by who looks into its directory.
      SavedVisit(self, (try? saved.placesToVisit()) ?? []).step()
    }
  }

  /// Calls `body` once, perhaps before this returns, when `visitSaved` has done what it does; at once where there is
  /// nothing to look for.
  public func whenVisited(_ body: @escaping @Sendable () -> Void) {
    if configuration.savedState == nil { body() } else { visited.whenEnded(body) }
  }
}
