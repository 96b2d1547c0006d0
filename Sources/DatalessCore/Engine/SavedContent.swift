internal import Synchronization

/// Where content lies that an earlier run has kept, and that the namespace does not know of because nobody has looked
/// there since the mount; and who looks there.
///
/// It is asked for once. What was reached is left from then on; what was missed is tried again by the next visit. What
/// is not where it was told lies elsewhere, or is gone: all is asked for anew then, once for each such place.
final class SavedContent: Sendable {
  private struct Visit {
    let began: MonotonicTime
    var completions: [@Sendable () -> Void]
  }

  private struct State {
    /// nil: not asked for yet.
    var places: SavedPlaces?
    /// Whether something lies elsewhere than was told.
    var isStale = false
    /// What was not where it was told, at least once.
    var absent: Set<[UInt8]> = []
    /// By the path that they are for.
    var visits: [[UInt8]: Visit] = [:]
    /// When all was tried last.
    var tried: MonotonicTime?
  }

  /// How long a sweep leaves places alone that were missed. Who asks for them has them tried at once.
  static let retry = Nanoseconds.seconds(10)

  private let state = Mutex(State())

  // MARK: - Places

  /// Places that nobody has reached yet, of an item and what is below it. - Parameter ask: As
  /// `SavedState.placesOfContent`; waits for the disk. nil: it cannot be told.
  func places(of path: [UInt8], ask: () -> [[UInt8]]?) -> [[UInt8]] {
    if state.withLock({ $0.places == nil || $0.isStale }) {
      // Sorted without the lock.
      let told = ask().map { SavedPlaces($0) }
      state.withLock { state in
        if told != nil || state.places == nil { state.places = told ?? SavedPlaces([]) }
        state.isStale = false
      }
    }
    return state.withLock { $0.places?.left(of: path) ?? [] }
  }

  /// What has become of a place.
  func note(_ place: [UInt8], _ outcome: SavedVisit.Outcome) {
    state.withLock { state in
      switch outcome {
      case .reached: state.places?.set(.settled, of: place)
      case .failed: state.places?.set(.missed, of: place)
      case .absent:
        let isNew = state.absent.insert(place).inserted
        state.places?.set(isNew ? .missed : .settled, of: place)
        if isNew { state.isStale = true }
      }
    }
  }

  /// Whether a sweep is to look everywhere.
  func isWorthVisiting(_ now: MonotonicTime) -> Bool {
    state.withLock { state in
      guard let places = state.places, !state.isStale, state.visits[[]] == nil, places.untried == 0 else { return true }
      return places.missed > 0 && state.tried.map { now >= $0 + Self.retry } ?? true
    }
  }

  // MARK: - Visits

  /// Since when somebody looks everywhere; nil: nobody does.
  var began: MonotonicTime? { state.withLock { $0.visits[[]]?.began } }

  /// Who wants to look where somebody looks already waits for that.
  ///
  /// - Parameter completion: Called once, when the visit has ended.
  /// - Returns: Whether the visit is to be begun; `endVisit` then.
  func joinVisit(of path: [UInt8], _ now: MonotonicTime, completion: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard state.visits[path] == nil else {
        state.visits[path]?.completions.append(completion)
        return false
      }
      state.visits[path] = Visit(began: now, completions: [completion])
      return true
    }
  }

  func endVisit(of path: [UInt8], _ now: MonotonicTime) {
    let ended = state.withLock { state in
      if path.isEmpty { state.tried = now }
      return state.visits.removeValue(forKey: path)
    }
    for completion in ended?.completions ?? [] { completion() }
  }
}
