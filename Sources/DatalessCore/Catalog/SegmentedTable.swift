/// A growing table of plain records in fixed segments: growth never moves a record and never copies the table.
///
/// Memory of a segment that is not touched is not resident, so a small volume stays small. Not thread-safe; owned by the
/// catalog, which is only used under the engine's lock.
struct SegmentedTable<Record: BitwiseCopyable>: ~Copyable {
  private static var segmentBits: Int { 16 }
  private static var segmentSize: Int { 1 << segmentBits }

  private var segments: [UnsafeMutablePointer<Record>] = []
  private(set) var count = 0

  init() {}

  deinit {
    for segment in segments { segment.deallocate() }
  }

  /// Adds a record and returns its index.
  mutating func append(_ record: Record) -> Int {
    if count >> Self.segmentBits == segments.count {
      segments.append(.allocate(capacity: Self.segmentSize))
    }
    let index = count
    count += 1
    (segments[index >> Self.segmentBits] + (index & (Self.segmentSize - 1))).initialize(to: record)
    return index
  }

  subscript(index: Int) -> Record {
    _read {
      precondition(index < count, "catalog index \(index) out of range")
      yield segments[index >> Self.segmentBits][index & (Self.segmentSize - 1)]
    }
    _modify {
      precondition(index < count, "catalog index \(index) out of range")
      yield &segments[index >> Self.segmentBits][index & (Self.segmentSize - 1)]
    }
  }
}
