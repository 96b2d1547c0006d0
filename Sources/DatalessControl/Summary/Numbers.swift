extension Int64 {
  /// A log is a file that anybody may have written, and an answer what another user's program says: sums and
  /// differences of their numbers must not trap.
  public func plus(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// As `plus`, for a difference.
  public func minus(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}

/// FNV-1a, 64 bits: a key for a path that takes 8 bytes however long the path is.
enum PathHash {
  private static let start: UInt64 = 0xcbf2_9ce4_8422_2325

  static func of(_ path: some Sequence<UInt8>) -> UInt64 {
    var hash = start
    for byte in path { hash = next(hash, byte) }
    return hash
  }

  /// The hash of each directory on the way to a path, the root's first, and then its own.
  static func ofEach(on path: some Collection<UInt8>, _ body: (_ hash: UInt64, _ isWhole: Bool) -> Void) {
    var hash = start
    if !path.isEmpty { body(hash, false) }
    for byte in path {
      if byte == PathBytes.slash { body(hash, false) }
      hash = next(hash, byte)
    }
    body(hash, true)
  }

  /// The hash of each directory on the way to a path but the root's, and where the directory's name ends.
  static func ofEachDirectory(on path: [UInt8], _ body: (_ hash: UInt64, _ end: Int) -> Void) {
    var hash = start
    for (index, byte) in path.enumerated() {
      if byte == PathBytes.slash { body(hash, index) }
      hash = next(hash, byte)
    }
  }

  private static func next(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x0100_0000_01b3 }
}

/// The length of the union of time intervals that come in roughly by their ends, in bounded memory.
///
/// Only the most recent disjoint intervals are kept; an interval that reaches back behind them counts from there.
struct IntervalUnion: Sendable {
  private struct Interval {
    var start: Int64
    var end: Int64
  }

  private let limit: Int
  private var recent: [Interval] = []
  /// Length of what is not kept, and where it ends.
  private var past: Int64 = 0
  private var horizon = Int64.min

  init(limit: Int = 4_096) { self.limit = limit }

  var length: Int64 { recent.reduce(past) { $0.plus($1.end.minus($1.start)) } }

  mutating func insert(from start: Int64, to end: Int64) {
    var new = Interval(start: max(start, horizon), end: end)
    guard new.start < new.end else { return }
    // Those that end later, which is rare: the log's order is nearly that of the ends.
    var later: [Interval] = []
    while let last = recent.last, last.end >= new.start {
      recent.removeLast()
      if last.start > new.end {
        later.append(last)
      } else {
        new = Interval(start: min(new.start, last.start), end: max(new.end, last.end))
      }
    }
    recent.append(new)
    recent += later.reversed()
    if recent.count > limit { addUpOldest() }
  }

  private mutating func addUpOldest() {
    let count = recent.count / 2
    for interval in recent[..<count] { past = past.plus(interval.end.minus(interval.start)) }
    horizon = recent[count - 1].end
    recent.removeFirst(count)
  }
}
