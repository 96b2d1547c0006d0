/// A set of byte offsets kept as sorted, disjoint, non-adjacent half-open ranges.
///
/// The ranges lie in chunks of bounded size, so that none of a million moves when one is put between them: looking and
/// inserting take two binary searches and one move within a chunk. 16 bytes for each range.
struct ByteRangeSet {
  /// Sorted; none is empty.
  private var chunks: [[Range<Int64>]] = []
  private let chunkMax: Int

  /// Number of offsets in the set; kept, because there may be as many ranges as a large file has pages.
  private(set) var count: Int64 = 0
  private(set) var rangeCount = 0

  /// - Parameter chunkMax: Ranges in a chunk, 4 or more.
  init(chunkMax: Int = 512) { self.chunkMax = chunkMax }

  var isEmpty: Bool { chunks.isEmpty }

  /// Ranges in the largest chunk: as many as one change may have to move.
  var largestChunk: Int { chunks.map(\.count).max() ?? 0 }

  /// All ranges, in order.
  var ranges: [Range<Int64>] { Array(chunks.joined()) }

  /// The place of the first range that ends behind an offset; the chunk's index is that of the end when there is none.
  private func place(endingAfter offset: Int64) -> (chunk: Int, index: Int) {
    let chunk = chunks.partitioningIndex { $0[$0.count - 1].upperBound > offset }
    guard chunk < chunks.count else { return (chunk, 0) }
    return (chunk, chunks[chunk].partitioningIndex { $0.upperBound > offset })
  }

  /// Whether all of a range is in the set.
  func contains(_ range: Range<Int64>) -> Bool {
    guard !range.isEmpty else { return true }
    let (chunk, index) = place(endingAfter: range.lowerBound)
    return chunk < chunks.count && chunks[chunk][index].contains(range)
  }

  /// The parts of a range that are not in the set, in order; the first `limit` of them.
  func missing(in range: Range<Int64>, limit: Int = .max) -> [Range<Int64>] {
    var missing: [Range<Int64>] = []
    var start = range.lowerBound
    var (chunk, index) = place(endingAfter: start)
    while chunk < chunks.count, missing.count < limit {
      let next = chunks[chunk][index]
      guard next.lowerBound < range.upperBound else { break }
      if start < next.lowerBound { missing.append(start..<next.lowerBound) }
      start = next.upperBound
      index += 1
      if index == chunks[chunk].count { (chunk, index) = (chunk + 1, 0) }
    }
    if start < range.upperBound, missing.count < limit { missing.append(start..<range.upperBound) }
    return missing
  }

  /// The last offset of a range that is not in the set; nil when all of it is.
  func lastMissing(in range: Range<Int64>) -> Int64? {
    guard !range.isEmpty else { return nil }
    let last = range.upperBound - 1
    let (chunk, index) = place(endingAfter: last)
    guard chunk < chunks.count, chunks[chunk][index].lowerBound <= last else { return last }
    let before = chunks[chunk][index].lowerBound - 1
    return before >= range.lowerBound ? before : nil
  }

  /// Adds a range; ranges that it touches or overlaps become one.
  mutating func insert(_ range: Range<Int64>) {
    guard !range.isEmpty else { return }
    let end = chunks.count - 1
    guard end >= 0 else { return append(range) }
    let lastIndex = chunks[end].count - 1
    let last = chunks[end][lastIndex]
    if last.upperBound < range.lowerBound { return append(range) }
    if last.lowerBound <= range.lowerBound {
      // Sequential reading, by far the most frequent case.
      let upper = max(last.upperBound, range.upperBound)
      chunks[end][lastIndex] = last.lowerBound..<upper
      count += upper - last.upperBound
      return
    }
    absorb(range)
  }

  private mutating func append(_ range: Range<Int64>) {
    count += range.upperBound - range.lowerBound
    rangeCount += 1
    if let end = chunks.indices.last, chunks[end].count < chunkMax {
      chunks[end].append(range)
    } else {
      chunks.append([range])
    }
  }

  /// Puts a range in before the end, together with those that it touches.
  private mutating func absorb(_ range: Range<Int64>) {
    // One that ends where this one begins is touched, too.
    let first = place(endingAfter: range.lowerBound - 1)
    var (chunk, index) = first
    var merged = range
    while chunk < chunks.count, chunks[chunk][index].lowerBound <= merged.upperBound {
      let touched = chunks[chunk][index]
      merged = min(merged.lowerBound, touched.lowerBound)..<max(merged.upperBound, touched.upperBound)
      count -= touched.upperBound - touched.lowerBound
      rangeCount -= 1
      index += 1
      if index == chunks[chunk].count { (chunk, index) = (chunk + 1, 0) }
    }
    count += merged.upperBound - merged.lowerBound
    rangeCount += 1
    if chunk == first.chunk {
      chunks[chunk].replaceSubrange(first.index..<index, with: CollectionOfOne(merged))
    } else {
      chunks[first.chunk].replaceSubrange(first.index..., with: CollectionOfOne(merged))
      if index > 0 { chunks[chunk].removeSubrange(..<index) }
      chunks.removeSubrange(first.chunk + 1..<chunk)
    }
    balance(first.chunk)
  }

  /// Halves a chunk that is too large, and joins it with its neighbours when they are small together.
  private mutating func balance(_ chunk: Int) {
    if chunks[chunk].count > chunkMax {
      let half = chunks[chunk].count / 2
      let tail = Array(chunks[chunk][half...])
      chunks[chunk].removeSubrange(half...)
      chunks.insert(tail, at: chunk + 1)
      return
    }
    for left in [chunk, chunk - 1] where left >= 0 && left + 1 < chunks.count {
      guard chunks[left].count + chunks[left + 1].count <= chunkMax / 2 else { continue }
      chunks[left] += chunks[left + 1]
      chunks.remove(at: left + 1)
    }
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
