/// A table that grows without being moved, of which the newest rows are in memory, and the others in a file.
///
/// Rows that are long past are rarely asked for one by one, so each such question is a system call; whoever wants all
/// of them goes through `makeIterator`, which reads a segment at a time.
///
/// A copy has its own rows, though it shares the file: that is written to only by the one owner that it has. Else a row
/// of the file that changes stays in memory. The file is opened when the first segment has to go.
struct SpilledRows<Row: BitwiseCopyable & Sendable>: Sendable {
  private let limits: SpillLimits
  /// What stands for a row that cannot be read: the place that the file belongs to has a failure then.
  private let blank: Row
  /// How many segments are in the file, and those behind them.
  private var spilled = 0
  private var kept: [[Row]] = []
  private var file: SpillFile?
  /// Rows of the file that have changed since they were written to it.
  private var changed: [Int: Row] = [:]
  /// Whether nothing more can be put aside.
  private var isFull = false
  private(set) var count = 0

  init(blank: Row, limits: SpillLimits) { (self.blank, self.limits) = (blank, limits) }

  mutating func append(_ row: Row) {
    if count & mask == 0 {
      spill()
      var rows: [Row] = []
      rows.reserveCapacity(mask + 1)
      kept.append(rows)
    }
    kept[kept.count - 1].append(row)
    count += 1
  }

  subscript(index: Int) -> Row {
    get {
      let segment = (index >> limits.segmentBits) - spilled
      if segment >= 0 { return kept[segment][index & mask] }
      if !changed.isEmpty, let row = changed[index] { return row }
      var row = blank
      let isRead = withUnsafeMutableBytes(of: &row) { file?.read($0, at: offset(index)) ?? false }
      return isRead ? row : blank
    }
    set {
      let segment = (index >> limits.segmentBits) - spilled
      if segment >= 0 { kept[segment][index & mask] = newValue } else { change(index, to: newValue) }
    }
  }

  private var mask: Int { (1 << limits.segmentBits) - 1 }

  private func offset(_ index: Int) -> Int { index * MemoryLayout<Row>.stride }

  private mutating func change(_ index: Int, to row: Row) {
    // What is here hides what is there.
    guard changed[index] == nil, isKnownUniquelyReferenced(&file) else {
      changed[index] = row
      return
    }
    // Where a write has failed nobody knows what of it is there.
    let isWritten = withUnsafeBytes(of: row) { file?.write($0, at: offset(index)) ?? false }
    if !isWritten { changed[index] = row }
  }

  /// Makes room for one more segment. All that are there are complete.
  private mutating func spill() {
    while !kept.isEmpty, kept.count >= limits.segments, !isFull, let place = limits.place {
      if file == nil {
        file = place.open()
        isFull = file == nil
      }
      // A copy may be going to put its own rows there.
      guard isKnownUniquelyReferenced(&file) else { return }
      isFull = !kept[0].withUnsafeBytes { file?.write($0, at: offset(spilled << limits.segmentBits)) ?? false }
      guard !isFull else { return }
      kept.removeFirst()
      spilled += 1
    }
  }
}

extension SpilledRows: Sequence {
  struct Iterator: IteratorProtocol {
    private let rows: SpilledRows
    private var segment: [Row] = []
    private var place = 0
    private var nextSegment = 0

    fileprivate init(_ rows: SpilledRows) { self.rows = rows }

    mutating func next() -> Row? {
      if place == segment.count {
        guard let next = rows.segment(nextSegment) else { return nil }
        (segment, place) = (next, 0)
        nextSegment += 1
      }
      defer { place += 1 }
      return segment[place]
    }
  }

  func makeIterator() -> Iterator { Iterator(self) }

  /// All rows of a segment; nil behind the last one.
  private func segment(_ number: Int) -> [Row]? {
    guard number < spilled else { return number - spilled < kept.count ? kept[number - spilled] : nil }
    let first = number << limits.segmentBits
    var rows = [Row](repeating: blank, count: mask + 1)
    let isRead = rows.withUnsafeMutableBytes { file?.read($0, at: offset(first)) ?? false }
    guard isRead else { return [Row](repeating: blank, count: mask + 1) }
    guard !changed.isEmpty else { return rows }
    for place in rows.indices { if let row = changed[first + place] { rows[place] = row } }
    return rows
  }
}
