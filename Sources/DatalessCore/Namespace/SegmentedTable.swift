internal import Glibc

/// A growing table of plain records in fixed segments: growth never moves a record and never copies the table.
///
/// Memory of a segment that is not touched is not resident, so a small volume stays small. Not thread-safe; owned by
/// the namespace, which is only used under the engine's lock.
struct SegmentedTable<Record: BitwiseCopyable>: ~Copyable {
  private static var segmentBits: Int { 16 }
  private static var segmentSize: Int { 1 << segmentBits }

  private var segments: [UnsafeMutablePointer<Record>] = []
  private(set) var count = 0

  init() {}

  deinit {
    for segment in segments { free(segment) }
  }

  /// From the second segment on the table is large, and large pages cost an eighth of the time to be put in place (8 %
  /// of a walk). The first stays in small ones, so that a small volume stays small.
  private static func allocate(inLargePages: Bool) -> UnsafeMutablePointer<Record> {
    let pageSize = 2 << 20
    let length = segmentSize * MemoryLayout<Record>.stride
    var memory: UnsafeMutableRawPointer?
    let failure = posix_memalign(&memory, pageSize, length)
    guard failure == 0, let memory else { preconditionFailure("no memory for \(length) bytes of the namespace") }
    if inLargePages { madvise(memory, length, MADV_HUGEPAGE) }
    return memory.bindMemory(to: Record.self, capacity: segmentSize)
  }

  /// Records of the first segment that are given memory at once: some 100 KB, a whole number of pages.
  private static var stepSize: Int { 1024 }
  /// MADV_POPULATE_WRITE, Linux 5.14, which not every C library names.
  private static var populate: CInt { 23 }

  /// Puts the next small pages in place together, which costs half as much as a fault for each. A kernel that does not
  /// know it leaves them to the faults.
  private func prepare(_ index: Int) {
    let start = UnsafeMutableRawPointer(segments[0] + index)
    _ = madvise(start, Self.stepSize * MemoryLayout<Record>.stride, Self.populate)
  }

  /// Adds a record and returns its index.
  mutating func append(_ record: Record) -> Int {
    if count >> Self.segmentBits == segments.count {
      segments.append(Self.allocate(inLargePages: !segments.isEmpty))
    }
    let index = count
    if index < Self.segmentSize, index & (Self.stepSize - 1) == 0 { prepare(index) }
    count += 1
    (segments[index >> Self.segmentBits] + (index & (Self.segmentSize - 1))).initialize(to: record)
    return index
  }

  subscript(index: Int) -> Record {
    _read {
      precondition(index < count, "index \(index) out of range")
      yield segments[index >> Self.segmentBits][index & (Self.segmentSize - 1)]
    }
    _modify {
      precondition(index < count, "index \(index) out of range")
      yield &segments[index >> Self.segmentBits][index & (Self.segmentSize - 1)]
    }
  }
}

extension SegmentedTable where Record == NodeRecord {
  subscript(index: NodeIndex) -> Record {
    _read { yield self[Int(index.rawValue)] }
    _modify { yield &self[Int(index.rawValue)] }
  }
}

extension SegmentedTable where Record == NameRecord {
  subscript(index: NameIndex) -> Record {
    _read { yield self[Int(index.rawValue)] }
    _modify { yield &self[Int(index.rawValue)] }
  }
}
