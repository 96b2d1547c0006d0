/// A set of byte offsets kept as sorted, disjoint, non-adjacent half-open ranges.
struct ByteRangeSet: Equatable {
  private(set) var ranges: [Range<Int64>] = []

  /// Number of offsets in the set; kept, because there may be as many ranges as a large file has pages.
  private(set) var count: Int64 = 0

  var isEmpty: Bool { ranges.isEmpty }

  /// Whether all of a range is in the set.
  func contains(_ range: Range<Int64>) -> Bool {
    guard !range.isEmpty else { return true }
    let index = ranges.partitioningIndex { $0.upperBound > range.lowerBound }
    return index < ranges.count && ranges[index].contains(range)
  }

  /// The parts of a range that are not in the set, in order.
  func missing(in range: Range<Int64>) -> [Range<Int64>] {
    var missing: [Range<Int64>] = []
    var start = range.lowerBound
    for index in ranges.partitioningIndex(where: { $0.upperBound > range.lowerBound })..<ranges.count {
      guard ranges[index].lowerBound < range.upperBound else { break }
      if start < ranges[index].lowerBound { missing.append(start..<ranges[index].lowerBound) }
      start = ranges[index].upperBound
    }
    if start < range.upperBound { missing.append(start..<range.upperBound) }
    return missing
  }

  /// Adds a range; ranges that it touches or overlaps become one.
  mutating func insert(_ range: Range<Int64>) {
    guard !range.isEmpty else { return }
    if let last = ranges.last, last.lowerBound <= range.lowerBound, range.lowerBound <= last.upperBound {
      // Sequential reading, by far the most frequent case.
      let end = max(last.upperBound, range.upperBound)
      ranges[ranges.count - 1] = last.lowerBound..<end
      count += end - last.upperBound
      return
    }
    let first = ranges.partitioningIndex { $0.upperBound >= range.lowerBound }
    var end = first
    var merged = range
    while end < ranges.count, ranges[end].lowerBound <= merged.upperBound {
      count -= ranges[end].upperBound - ranges[end].lowerBound
      merged = min(merged.lowerBound, ranges[end].lowerBound)..<max(merged.upperBound, ranges[end].upperBound)
      end += 1
    }
    count += merged.upperBound - merged.lowerBound
    ranges.replaceSubrange(first..<end, with: CollectionOfOne(merged))
  }
}

extension Array {
  /// The first index whose element satisfies a predicate that is false, then true along the array.
  fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if predicate(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
