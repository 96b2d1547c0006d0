/// Which bytes of a file were read, as far as the log tells: the union over handles, in bounded memory.
struct ReadCoverage: Sendable {
  // LIMIT: of a file that is read at more places than that, the smallest ranges count only as "at most".
  private let rangesMax: Int

  /// Disjoint, in order.
  private(set) var ranges: [Range<Int64>] = []
  /// Of what was told as a number only: the greatest of these numbers, and their sum.
  private var greatest: Int64 = 0
  private var sum: Int64 = 0
  /// End of the furthest read.
  private(set) var highWaterMark: Int64 = 0

  init(rangesMax: Int = 64) { self.rangesMax = rangesMax }

  private var known: Int64 { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

  /// What was read lies between these: they differ only where the log does not name the ranges.
  var bytesAtLeast: Int64 { max(known, greatest) }
  var bytesAtMost: Int64 { min(highWaterMark, known.plus(sum)) }

  /// What one process read through one handle.
  ///
  /// - Parameter isExact: Whether `covered` is a number of bytes, not the most that it can be.
  mutating func add(covered: Int64, isExact: Bool = true, highWaterMark end: Int64, ranges told: [Range<Int64>]) {
    guard covered > 0, end > 0 else { return }
    highWaterMark = max(highWaterMark, end)
    if !isExact {
      sum = sum.plus(covered)
    } else if covered >= end {
      insert(0..<end)
    } else if !told.isEmpty {
      for range in told { insert(range) }
    } else {
      greatest = max(greatest, covered)
      sum = sum.plus(covered)
    }
  }

  private mutating func insert(_ range: Range<Int64>) {
    guard !range.isEmpty else { return }
    let first = ranges.firstIndex { $0.upperBound >= range.lowerBound } ?? ranges.count
    var last = first
    var merged = range
    while last < ranges.count, ranges[last].lowerBound <= merged.upperBound {
      merged = min(merged.lowerBound, ranges[last].lowerBound)..<max(merged.upperBound, ranges[last].upperBound)
      last += 1
    }
    ranges.replaceSubrange(first..<last, with: CollectionOfOne(merged))
    guard ranges.count > rangesMax else { return }
    let smallest = ranges.indices.min { ranges[$0].count < ranges[$1].count } ?? 0
    sum = sum.plus(Int64(ranges.remove(at: smallest).count))
  }
}

extension JSONObject {
  /// `[[begin, end], ...]`; elements that are no range are left out.
  func byteRanges(_ key: StaticString) -> [Range<Int64>] {
    guard let range = range(key) else { return [] }
    var result: [Range<Int64>] = []
    bytes.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer, range.lowerBound)
      _ = scanner.array { element in
        var numbers: [Int64] = []
        var inner = JSONScanner(buffer, element.lowerBound)
        _ = inner.array { numbers.append(Self.integer(bytes[$0]) ?? -1) }
        if numbers.count == 2, 0 <= numbers[0], numbers[0] < numbers[1] { result.append(numbers[0]..<numbers[1]) }
      }
    }
    return result
  }
}
