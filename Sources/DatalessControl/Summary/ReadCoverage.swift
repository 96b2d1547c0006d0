/// Which bytes of a file were read, as far as the log tells: the union over handles, in bounded memory.
struct ReadCoverage: Sendable {
  // LIMIT: of a file that is read at more places than that, the smallest ranges count only as "at most".
  private let rangesMax: UInt16
  /// Where what was read from the beginning on ends. Nearly all files are read so: they need no array.
  private var head: Int64 = 0
  /// The others: disjoint, in order, and none touches the beginning.
  private var others: [Range<Int64>] = []
  /// Of what was told as a number only: the greatest of these numbers, and their sum.
  private var greatest: Int64 = 0
  private var sum: Int64 = 0
  /// End of the furthest read.
  private(set) var highWaterMark: Int64 = 0

  init(rangesMax: UInt16 = Self.shortRangesMax) { self.rangesMax = rangesMax }

  /// All that is known: disjoint, in order.
  var ranges: [Range<Int64>] { head > 0 ? [0..<head] + others : others }

  private var known: Int64 { others.reduce(head) { $0 + ($1.upperBound - $1.lowerBound) } }

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
    if range.lowerBound <= head { growHead(to: range.upperBound) } else { insertBehindHead(range) }
    guard others.count + (head > 0 ? 1 : 0) > rangesMax else { return }
    let smallest = others.indices.min { others[$0].count < others[$1].count } ?? 0
    if head > 0, head <= Int64(others[smallest].count) {
      sum = sum.plus(head)
      head = 0
    } else {
      sum = sum.plus(Int64(others.remove(at: smallest).count))
    }
  }

  private mutating func growHead(to end: Int64) {
    head = max(head, end)
    let met = others.firstIndex { $0.lowerBound > head } ?? others.count
    guard met > 0 else { return }
    head = max(head, others[met - 1].upperBound)
    others.removeFirst(met)
  }

  private mutating func insertBehindHead(_ range: Range<Int64>) {
    let first = others.firstIndex { $0.upperBound >= range.lowerBound } ?? others.count
    var last = first
    var merged = range
    while last < others.count, others[last].lowerBound <= merged.upperBound {
      merged = min(merged.lowerBound, others[last].lowerBound)..<max(merged.upperBound, others[last].upperBound)
      last += 1
    }
    others.replaceSubrange(first..<last, with: CollectionOfOne(merged))
  }
}

// MARK: - In few bytes

extension ReadCoverage {
  /// That of a file that was read from its beginning on, or of which only numbers were told.
  struct Short: Sendable {
    fileprivate var head: UInt32 = 0
    fileprivate var greatest: UInt32 = 0
    fileprivate var sum: UInt32 = 0
    fileprivate var highWaterMark: UInt32 = 0

    init() {}
  }

  private static let shortRangesMax: UInt16 = 64

  init(_ short: Short) {
    self.init(rangesMax: Self.shortRangesMax)
    (head, greatest, sum) = (Int64(short.head), Int64(short.greatest), Int64(short.sum))
    highWaterMark = Int64(short.highWaterMark)
  }

  /// All of it; nil where it does not fit.
  var short: Short? {
    guard others.isEmpty, rangesMax == Self.shortRangesMax, let head = UInt32(exactly: self.head),
      let greatest = UInt32(exactly: self.greatest), let sum = UInt32(exactly: self.sum),
      let highWaterMark = UInt32(exactly: self.highWaterMark)
    else { return nil }
    var short = Short()
    (short.head, short.greatest) = (head, greatest)
    (short.sum, short.highWaterMark) = (sum, highWaterMark)
    return short
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
