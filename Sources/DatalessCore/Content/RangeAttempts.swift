/// The attempts in flight for parts of one file, found by where they are: of thousands, in constant time.
struct RangeAttempts {
  /// By page, the attempt that reaches furthest of those that bring the page in.
  private var owners: [Int64: (id: AttemptID, end: Int64)] = [:]
  /// Attempts of so many pages that they are not entered under each.
  private var wide: [AttemptID: Range<Int64>] = [:]
  private var all: Set<AttemptID> = []

  /// LIMIT: pages of an attempt that is entered under each; the kernel asks for 1 MiB at most.
  private static let pagesMax: Int64 = 512

  var isEmpty: Bool { all.isEmpty }

  /// In no order.
  var ids: Set<AttemptID> { all }

  private static func pages(_ range: Range<Int64>) -> ClosedRange<Int64> {
    range.lowerBound / RangedContent.unit...max(range.lowerBound, range.upperBound - 1) / RangedContent.unit
  }

  /// - Parameter range: Begins with a page.
  mutating func insert(_ id: AttemptID, _ range: Range<Int64>) {
    all.insert(id)
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
    all.remove(id)
    guard wide.removeValue(forKey: id) == nil else { return }
    for page in Self.pages(range) where owners[page]?.id == id { owners[page] = nil }
  }

  /// An attempt that brings all of a range in. Of several that overlap one may be missed when another has ended: then a
  /// page is brought in twice.
  func attempt(with range: Range<Int64>) -> AttemptID? {
    if let owner = owners[range.lowerBound / RangedContent.unit], owner.end >= range.upperBound { return owner.id }
    return wide.first { $0.value.contains(range) }?.key
  }
}
