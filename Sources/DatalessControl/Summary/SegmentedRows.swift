/// A table that grows without being moved: an array of millions of rows is there twice while it grows, and whole once
/// more in a copy of which one row changes.
struct SegmentedRows<Row: Sendable>: Sendable {
  private static var bits: Int { 12 }
  private static var segmentSize: Int { 1 << bits }

  private var segments: [[Row]] = []
  private(set) var count = 0

  init() {}

  mutating func append(_ row: Row) {
    let segment = count >> Self.bits
    if segment == segments.count {
      var rows: [Row] = []
      rows.reserveCapacity(Self.segmentSize)
      segments.append(rows)
    }
    segments[segment].append(row)
    count += 1
  }

  subscript(index: Int) -> Row {
    get { segments[index >> Self.bits][index & (Self.segmentSize - 1)] }
    _modify { yield &segments[index >> Self.bits][index & (Self.segmentSize - 1)] }
  }
}

/// Of any number of rows those that come first in an order, so many at most.
///
/// Memory: twice as many rows.
public struct FirstRows<Row> {
  private let limit: Int
  private let precedes: (Row, Row) -> Bool
  private var rows: [Row] = []
  /// The last of the first ones so far: what does not precede it is not among them. nil while there are few.
  public private(set) var last: Row?

  /// - Parameters:
  ///   - limit: At least 1.
  ///   - precedes: Whether a row comes before another one.
  public init(limit: Int, by precedes: @escaping (Row, Row) -> Bool) {
    (self.limit, self.precedes) = (max(1, limit), precedes)
  }

  public mutating func add(_ row: Row) {
    if let last, !precedes(row, last) { return }
    rows.append(row)
    guard rows.count >= 2 * limit else { return }
    rows = sorted
    last = rows.last
  }

  /// Those that come first, in order; of equal ones those that were added first.
  public var sorted: [Row] { Array(rows.sorted(by: precedes).prefix(limit)) }
}
