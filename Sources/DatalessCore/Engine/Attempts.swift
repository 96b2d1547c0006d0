/// The attempts in flight, and where each of their callers waits.
///
/// An attempt that has ended is not found here any more, while those who waited for it are, until their waits are
/// recorded.
struct Attempts {
  /// Where a caller waits.
  private struct Place {
    let attempt: AttemptID
    let slot: Int
    /// The page under which he is found when it arrives; nil: he waits for the end.
    var page: Int64?
  }

  private var running: [AttemptID: Attempt] = [:]
  /// Attempts so far, which is the number of the last.
  private(set) var startedCount: UInt64 = 0
  private var places: [WaiterID: Place] = [:]
  /// Callers who wait for content that comes in ranges.
  private var pages: [NodeIndex: PageWaiters] = [:]

  /// In flight.
  var count: Int { running.count }
  /// Callers whose waits are not recorded as over.
  var waiterCount: Int { places.count }
  /// Whether nothing is in flight, and nobody waits.
  var isIdle: Bool { running.isEmpty && places.isEmpty && pages.isEmpty }
  /// Of those in flight, in no order.
  var ids: [AttemptID] { Array(running.keys) }

  /// Nil when it has ended.
  subscript(id: AttemptID) -> Attempt? { running[id] }

  /// Puts an attempt in flight. - Parameter make: Called once, with the attempt's number.
  mutating func start(_ make: (AttemptID) -> Attempt) -> Attempt {
    startedCount += 1
    let attempt = make(AttemptID(rawValue: startedCount))
    running[attempt.id] = attempt
    return attempt
  }

  /// An attempt has ended. Its callers keep their places until each is forgotten.
  mutating func end(_ attempt: Attempt) { running[attempt.id] = nil }

  // MARK: - Callers

  /// The caller who waits under a number, while what he waits for is in flight.
  func waiter(_ id: WaiterID) -> Waiter? { find(id)?.waiter }

  private func find(_ id: WaiterID) -> (attempt: Attempt, slot: Int, waiter: Waiter)? {
    guard let place = places[id], let attempt = running[place.attempt],
      let waiter = attempt.waiter(at: place.slot), waiter.id == id
    else { return nil }
    return (attempt, place.slot, waiter)
  }

  /// Has a caller wait for an attempt.
  ///
  /// - Parameter missing: The last offset that he misses, if he may be answered when it arrives; nil: he waits for the
  ///   end.
  mutating func join(_ waiter: Waiter, _ attempt: Attempt, missing: Int64?) {
    places[waiter.id] = Place(attempt: attempt.id, slot: attempt.admit(waiter))
    if let missing { file(waiter.id, missing, of: attempt.node) }
  }

  /// Takes a caller out of his attempt. - Returns: nil when he does not wait (any more).
  mutating func leave(_ id: WaiterID) -> (attempt: Attempt, waiter: Waiter)? {
    guard let (attempt, slot, waiter) = find(id) else { return nil }
    attempt.dismiss(at: slot)
    forget(id, of: attempt.node)
    return (attempt, waiter)
  }

  /// A caller's wait is over.
  mutating func forget(_ waiter: WaiterID, of node: NodeIndex) {
    guard let page = places.removeValue(forKey: waiter)?.page else { return }
    pages[node]?.remove(waiter, at: page)
  }

  // MARK: - Content in ranges

  /// Files a caller under the page with an offset: he is looked at when it arrives.
  private mutating func file(_ waiter: WaiterID, _ offset: Int64, of node: NodeIndex) {
    let page = offset / RangedContent.unit
    places[waiter]?.page = page
    pages[node, default: PageWaiters()].insert(waiter, at: page)
  }

  /// Takes out who waits for a page of a range that has arrived: each is to be served, or is filed again.
  mutating func takeWaiters(for range: Range<Int64>, of node: NodeIndex) -> [Set<WaiterID>] {
    pages[node]?.take(range) ?? []
  }

  /// Takes a caller out of his attempt if what he asked for is there; else he is filed under the last page that he
  /// misses.
  mutating func serve(_ id: WaiterID, from content: RangedContent, of node: NodeIndex) -> (
    attempt: Attempt, waiter: Waiter
  )? {
    guard let (attempt, slot, waiter) = find(id) else { return nil }
    if let last = content.ranges.lastMissing(in: waiter.request.range(inSize: content.size)) {
      file(id, last, of: node)
      return nil
    }
    places[id] = nil
    attempt.serve(at: slot)
    return (attempt, waiter)
  }

  /// Nothing is in flight for an item any more: nobody waits for pages of it.
  mutating func forgetPages(of node: NodeIndex) { pages[node] = nil }

  /// Pages of an item for which somebody waits.
  func pageCount(of node: NodeIndex) -> Int { pages[node]?.pageCount ?? 0 }
}

/// Who waits for which page of a file whose content comes in ranges: each for the last one that he misses, so that an
/// arriving piece looks at those alone whom it may serve.
private struct PageWaiters {
  private var waiters: [Int64: Set<WaiterID>] = [:]

  var pageCount: Int { waiters.count }

  mutating func insert(_ waiter: WaiterID, at page: Int64) { waiters[page, default: []].insert(waiter) }

  mutating func remove(_ waiter: WaiterID, at page: Int64) {
    waiters[page]?.remove(waiter)
    if waiters[page]?.isEmpty == true { waiters[page] = nil }
  }

  /// Takes out who waits for a page of a range.
  mutating func take(_ range: Range<Int64>) -> [Set<WaiterID>] {
    guard !waiters.isEmpty, !range.isEmpty else { return [] }
    let pages = range.lowerBound / RangedContent.unit...(range.upperBound - 1) / RangedContent.unit
    guard pages.upperBound - pages.lowerBound > Int64(waiters.count) else {
      return pages.compactMap { waiters.removeValue(forKey: $0) }
    }
    return waiters.keys.filter { pages.contains($0) }.compactMap { waiters.removeValue(forKey: $0) }
  }
}
