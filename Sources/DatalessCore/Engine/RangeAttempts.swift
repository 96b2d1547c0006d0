/// The attempts in flight for parts of one file, found by where they are: of thousands, in constant time.
struct RangeAttempts {
  /// By page, the attempt that reaches furthest of those that bring the page in.
  private var owners: [Int64: (id: AttemptID, end: Int64)] = [:]
  /// Attempts of so many pages that they are not entered under each.
  private var wide: [AttemptID: Range<Int64>] = [:]
  private var count = 0

  /// LIMIT: pages of an attempt that is entered under each; the kernel asks for 1 MiB at most.
  private static let pagesMax: Int64 = 512

  var isEmpty: Bool { count == 0 }

  private static func pages(_ range: Range<Int64>) -> ClosedRange<Int64> {
    range.lowerBound / EngineState.rangeUnit...max(range.lowerBound, range.upperBound - 1) / EngineState.rangeUnit
  }

  /// - Parameter range: Begins with a page.
  mutating func insert(_ id: AttemptID, _ range: Range<Int64>) {
    count += 1
    let pages = Self.pages(range)
    guard pages.upperBound - pages.lowerBound < Self.pagesMax else {
      wide[id] = range
      return
    }
    for page in pages where owners[page].map({ $0.end < range.upperBound }) ?? true {
      owners[page] = (id, range.upperBound)
    }
  }

  mutating func remove(_ id: AttemptID, _ range: Range<Int64>) {
    count -= 1
    guard wide.removeValue(forKey: id) == nil else { return }
    for page in Self.pages(range) where owners[page]?.id == id { owners[page] = nil }
  }

  /// An attempt that brings all of a range in. Of several that overlap one may be missed when another has ended: then a
  /// page is brought in twice.
  func attempt(with range: Range<Int64>) -> AttemptID? {
    if let owner = owners[range.lowerBound / EngineState.rangeUnit], owner.end >= range.upperBound { return owner.id }
    return wide.first { $0.value.contains(range) }?.key
  }
}

/// Who waits for which page of a file whose content comes in ranges: each for the last one that he misses, so that an arriving
/// piece looks at those alone whom it may serve.
struct PageWaiters {
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
    let pages = range.lowerBound / EngineState.rangeUnit...(range.upperBound - 1) / EngineState.rangeUnit
    guard pages.upperBound - pages.lowerBound > Int64(waiters.count) else {
      return pages.compactMap { waiters.removeValue(forKey: $0) }
    }
    return waiters.keys.filter { pages.contains($0) }.compactMap { waiters.removeValue(forKey: $0) }
  }
}
