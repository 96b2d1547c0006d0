/// A version of a file in 60 bytes, as nearly all fit: numbers of 32 bits, and read from the beginning on.
struct PackedVersion: Sendable {
  struct Flags: OptionSet, Sendable {
    var rawValue: UInt16

    static let isOpened = Flags(rawValue: 1 << 0)
    static let isMinimum = Flags(rawValue: 1 << 1)
    static let isReadAgain = Flags(rawValue: 1 << 2)
    static let isMappedExact = Flags(rawValue: 1 << 3)
    static let isUnseen = Flags(rawValue: 1 << 4)
    static let isPartial = Flags(rawValue: 1 << 5)
    static let hadWhole = Flags(rawValue: 1 << 6)
    static let wasWanted = Flags(rawValue: 1 << 7)
    static let isKept = Flags(rawValue: 1 << 8)
    static let isSuperseded = Flags(rawValue: 1 << 9)
    /// It does not fit: `size` is its place among those.
    static let isElsewhere = Flags(rawValue: 1 << 10)
    static let hasLater = Flags(rawValue: 1 << 11)
    static let areOlderUnseen = Flags(rawValue: 1 << 12)
  }

  var size: UInt32
  var local: UInt32 = 0
  var mostLocal: UInt32 = 0
  var fetched: UInt32 = 0
  var coverage = ReadCoverage.Short()
  var mappedMost: UInt32 = 0
  var mappedSum: UInt32 = 0
  /// -1: none.
  var group: Int32 = -1
  /// -1: none, -2: several.
  var reader: Int32 = -1
  /// -1: none.
  var predecessor: Int32 = -1
  var attempts: UInt16 = 0
  var materializations: UInt16 = 0
  var openHandles: UInt16 = 0
  var flags: Flags = []

  /// Where it is, if it does not fit.
  var place: Int? { flags.contains(.isElsewhere) ? Int(size) : nil }
}

/// The versions of all files: each in 60 bytes, and in 144 more where it does not fit.
///
/// Within limits those of long ago are in a file. What does not fit in 60 bytes stays in memory, as it has arrays: such
/// are files of 4 GiB and more, and those of which several pieces were read.
struct FileVersions: RandomAccessCollection, Sendable {
  private var packed: SpilledRows<PackedVersion>
  private var others = SegmentedRows<FileVersion>()

  init(limits: SpillLimits = .inMemory) { packed = SpilledRows(blank: PackedVersion(size: 0), limits: limits) }

  var startIndex: Int { 0 }
  var endIndex: Int { packed.count }

  subscript(row: Int) -> FileVersion {
    get { version(packed[row]) }
    _modify {
      let short = packed[row]
      if let place = short.place {
        yield &others[place]
      } else {
        var version = FileVersion(short)
        defer { put(version, at: row) }
        yield &version
      }
    }
  }

  private func version(_ short: PackedVersion) -> FileVersion { short.place.map { others[$0] } ?? FileVersion(short) }

  mutating func append(_ version: FileVersion) {
    packed.append(PackedVersion(size: 0))
    put(version, at: packed.count - 1)
  }

  /// What did not fit once stays where it is.
  private mutating func put(_ version: FileVersion, at row: Int) {
    if let short = version.packed {
      packed[row] = short
      return
    }
    packed[row] = PackedVersion(size: UInt32(others.count), flags: .isElsewhere)
    others.append(version)
  }

  /// All of them in their order, which is faster than each by its row.
  struct Iterator: IteratorProtocol {
    private let versions: FileVersions
    private var shorts: SpilledRows<PackedVersion>.Iterator

    fileprivate init(_ versions: FileVersions) { (self.versions, shorts) = (versions, versions.packed.makeIterator()) }

    mutating func next() -> FileVersion? { shorts.next().map { versions.version($0) } }
  }

  func makeIterator() -> Iterator { Iterator(self) }
}

/// The row of what has a path, by the hash of the path.
struct PathRows: Sendable {
  private var rows: SpilledNumbers

  init(limits: SpillLimits) { rows = SpilledNumbers(limits: limits) }

  subscript(hash: UInt64) -> Int? {
    get { rows[hash].map { Int($0) } }
    set { rows[hash] = newValue.map { UInt32($0) } }
  }

  mutating func remove(_ hash: UInt64) -> Int? { rows.removeValue(forKey: hash).map { Int($0) } }
}
