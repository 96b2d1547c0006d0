/// What happened to one version of one file, or to a directory, in a few bytes.
///
/// Another version in SOURCE is read as another file: what was read of the one says nothing about the other.
struct FileVersion: Sendable {
  /// What was seen being read.
  struct Reads: Sendable {
    var coverage = ReadCoverage()
    var isOpened = false
    /// Pages that were in the kernel's cache may have been used unseen.
    var isMinimum = false
    var isReadAgain = false
    /// What came by pages: the most through one handle, and the sum of all.
    fileprivate var mappedMost: Int64 = 0
    fileprivate var mappedSum: Int64 = 0
    fileprivate var isMappedExact = true

    mutating func add(_ reads: HandleRecord.Reads, isMinimum: Bool) {
      coverage.add(
        covered: reads.covered, isExact: reads.isExact, highWaterMark: reads.highWaterMark, ranges: reads.ranges)
      isOpened = true
      self.isMinimum = self.isMinimum || isMinimum
    }

    /// Takes the place of what another has counted of the same reads.
    mutating func take(_ other: Reads) {
      let wasReadAgain = isReadAgain
      self = other
      isReadAgain = wasReadAgain
    }

    mutating func addMapped(_ reads: HandleRecord.Reads) {
      mappedMost = max(mappedMost, reads.mapped)
      mappedSum = mappedSum.plus(max(0, reads.mapped))
      if reads.mapped > 0, !reads.isExact { isMappedExact = false }
    }

    /// Bytes that came by pages; nil where handles may have had the same ones, because the log does not say which they
    /// were.
    var mapped: Int64? {
      guard mappedSum > 0 else { return 0 }
      return mappedMost == mappedSum && isMappedExact ? min(mappedMost, coverage.bytesAtLeast) : nil
    }
  }

  /// Which group of processes read it: a file that one alone reads needs no other numbers than its own.
  enum Reader: Sendable, Equatable {
    case none
    case group(Int32)
    case several
  }

  var size: Int64 = 0
  var reads = Reads()
  var attempts: UInt16 = 0
  /// Times that it became local, or began to, after it was dataless.
  var materializations: UInt16 = 0
  /// What is there of it since its last eviction, the most that was there at once, and what was fetched of it in all.
  private(set) var local: Int64 = 0
  private(set) var mostLocal: Int64 = 0
  private(set) var fetched: Int64 = 0
  /// The group of the program for which it was materialized last; nil: none, or a command of ours.
  var group: Int? {
    get { groupIndex < 0 ? nil : Int(groupIndex) }
    set { groupIndex = newValue.flatMap { Int32(exactly: $0) } ?? -1 }
  }
  private var groupIndex: Int32 = -1
  /// Whose reads `reads` are.
  private(set) var reader = Reader.none
  /// It was opened such that the kernel served the reads alone.
  var isUnseen = false
  /// Watched handles that are open, through which more may be read.
  var openHandles: Int32 = 0
  /// Some ranges of it are there, since its last eviction.
  var isPartial = false
  /// All of it was fetched at least once, rather than ranges only.
  private(set) var hadWhole = false
  /// A program has materialized it, or was seen reading it.
  private(set) var wasWanted = false
  /// SOURCE has another version, which takes its place when this one is evicted.
  var isKept = false
  /// SOURCE has another version, or none.
  var isSuperseded = false
  /// A later version of the same file was materialized: the file is counted there.
  var hasLater = false
  /// Of what has no path any more: all that had left the path before it are known to have been read unseen.
  var areOlderUnseen = false
  /// The row of the version before this one.
  var predecessor: Int? {
    get { predecessorRow < 0 ? nil : Int(predecessorRow) }
    set { predecessorRow = newValue.flatMap { Int32(exactly: $0) } ?? -1 }
  }
  private var predecessorRow: Int32 = -1

  /// Whether more of it may have been read than is told.
  var mayHaveMore: Bool { isUnseen || openHandles > 0 }

  /// - Parameter isWhole: Whether all of the file is there, rather than a range of it, or what came before a failure.
  mutating func materialized(bytes: Int64, group: Int?, isWhole: Bool) -> SummaryFiles.Share {
    size = max(size, bytes)
    self.group = group ?? self.group
    fetched = fetched.plus(bytes)
    defer {
      if group != nil { wasWanted = true }
      if isWhole { hadWhole = true }
      mostLocal = max(mostLocal, local)
    }
    if isPartial {
      local = local.plus(bytes)
      return .more
    }
    local = bytes
    isPartial = !isWhole
    materializations = materializations == .max ? .max : materializations + 1
    // What a command of ours brought in before nobody had read.
    guard group != nil, materializations > 1, wasWanted else { return .whole }
    reads.isReadAgain = true
    return .again
  }

  /// Who reads it now. - Returns: The group whose reads `reads` were until now, if there is a second one by now.
  mutating func noteReaders(_ groups: [Int]) -> Int? {
    let first = groups.first.flatMap { Int32(exactly: $0) } ?? -1
    let isOne = first >= 0 && groups.allSatisfy { $0 == first }
    switch reader {
    case .none:
      reader = isOne ? .group(first) : .several
      return nil
    case .group(let known) where isOne && known == first: return nil
    case .group(let known):
      reader = .several
      return Int(known)
    case .several: return nil
    }
  }

  mutating func noteRead(_ handle: HandleRecord) {
    size = max(size, handle.size)
    for reader in handle.readers {
      reads.add(reader.reads, isMinimum: handle.isCachedBefore)
      if reader.reads.covered > 0 { wasWanted = true }
    }
    reads.addMapped(handle.all)
  }

  /// Content that was fetched, each byte counted once; nil when the log does not tell. - Parameter parts: The ranges
  /// that came.
  func distinctBytes(_ parts: ReadCoverage?) -> Int64? {
    if hadWhole || materializations <= 1 { return mostLocal }
    guard let parts, parts.bytesAtLeast == parts.bytesAtMost else { return nil }
    return max(mostLocal, min(parts.bytesAtLeast, fetched))
  }

  /// Files that a program materialized and that nobody is known to have opened.
  private var isUnopened: Bool { group != nil && materializations > 0 && !reads.isOpened && openHandles == 0 }

  /// What it was used for; nil for nothing.
  ///
  /// - Parameter isAllTold: Whether every open of a file has left a record.
  func use(_ reads: Reads, isAllTold: Bool) -> FileUse? {
    if isUnopened { return isAllTold ? nil : .unknown }
    guard reads.isOpened || openHandles > 0 else { return nil }
    return FileUse(size: size, coverage: reads.coverage, isUnseen: mayHaveMore || reads.isMinimum)
  }

  /// Materialized for a program, and at most 5 % of what came was read by anybody.
  func isNeedless(isAllTold: Bool) -> Bool {
    guard group != nil, materializations > 0 else { return false }
    if isUnopened { return isAllTold && !mayHaveMore }
    return reads.isOpened && !mayHaveMore && !reads.isMinimum && reads.coverage.bytesAtMost <= local / 20
  }
}

// MARK: - In few bytes

extension FileVersion {
  init(_ packed: PackedVersion) {
    self.init()
    (size, local, mostLocal) = (Int64(packed.size), Int64(packed.local), Int64(packed.mostLocal))
    fetched = Int64(packed.fetched)
    reads.coverage = ReadCoverage(packed.coverage)
    (reads.mappedMost, reads.mappedSum) = (Int64(packed.mappedMost), Int64(packed.mappedSum))
    (groupIndex, predecessorRow) = (packed.group, packed.predecessor)
    reader = packed.reader >= 0 ? .group(packed.reader) : packed.reader == -1 ? .none : .several
    (attempts, materializations) = (packed.attempts, packed.materializations)
    openHandles = Int32(packed.openHandles)
    let flags = packed.flags
    (reads.isOpened, reads.isMinimum) = (flags.contains(.isOpened), flags.contains(.isMinimum))
    (reads.isReadAgain, reads.isMappedExact) = (flags.contains(.isReadAgain), flags.contains(.isMappedExact))
    (isUnseen, isPartial) = (flags.contains(.isUnseen), flags.contains(.isPartial))
    (hadWhole, wasWanted) = (flags.contains(.hadWhole), flags.contains(.wasWanted))
    (isKept, isSuperseded) = (flags.contains(.isKept), flags.contains(.isSuperseded))
    (hasLater, areOlderUnseen) = (flags.contains(.hasLater), flags.contains(.areOlderUnseen))
  }

  /// All of it; nil where it does not fit.
  var packed: PackedVersion? {
    guard let size = UInt32(exactly: self.size), let local = UInt32(exactly: self.local),
      let mostLocal = UInt32(exactly: self.mostLocal), let fetched = UInt32(exactly: self.fetched),
      let coverage = reads.coverage.short, let mappedMost = UInt32(exactly: reads.mappedMost),
      let mappedSum = UInt32(exactly: reads.mappedSum), let handles = UInt16(exactly: self.openHandles)
    else { return nil }
    let reader: Int32 =
      switch self.reader {
      case .none: -1
      case .several: -2
      case .group(let group): group
      }
    return PackedVersion(
      size: size, local: local, mostLocal: mostLocal, fetched: fetched, coverage: coverage, mappedMost: mappedMost,
      mappedSum: mappedSum, group: groupIndex, reader: reader, predecessor: predecessorRow, attempts: attempts,
      materializations: materializations, openHandles: handles, flags: flags)
  }

  private var flags: PackedVersion.Flags {
    var flags: PackedVersion.Flags = []
    if reads.isOpened { flags.insert(.isOpened) }
    if reads.isMinimum { flags.insert(.isMinimum) }
    if reads.isReadAgain { flags.insert(.isReadAgain) }
    if reads.isMappedExact { flags.insert(.isMappedExact) }
    if isUnseen { flags.insert(.isUnseen) }
    if isPartial { flags.insert(.isPartial) }
    if hadWhole { flags.insert(.hadWhole) }
    if wasWanted { flags.insert(.wasWanted) }
    if isKept { flags.insert(.isKept) }
    if isSuperseded { flags.insert(.isSuperseded) }
    if hasLater { flags.insert(.hasLater) }
    if areOlderUnseen { flags.insert(.areOlderUnseen) }
    return flags
  }
}

extension FileSummary {
  mutating func set(_ version: FileVersion, isAllTold: Bool) {
    size = version.size
    bytes = version.fetched
    attempts = Int64(version.attempts)
    materializations = Int64(version.materializations)
    readBytes = version.reads.coverage.bytesAtLeast
    mappedBytes = version.reads.mapped
    isNeedless = version.isNeedless(isAllTold: isAllTold)
    isSuperseded = version.isSuperseded
    guard let use = version.use(version.reads, isAllTold: isAllTold) else { return }
    self.use = use.rawValue
    // Three digits are all that is meant.
    if use != .unknown, size > 0, readBytes == version.reads.coverage.bytesAtMost {
      readShare = (Double(readBytes) * 1_000 / Double(size)).rounded() / 1_000
    }
  }
}
