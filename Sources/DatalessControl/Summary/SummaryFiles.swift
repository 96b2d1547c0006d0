/// What happened to each item, in a few bytes per item, and in a few more per item and program that read it.
struct SummaryFiles: Sendable {
  /// What was seen being read.
  private struct Reads {
    var coverage = ReadCoverage()
    var mapped: Int64 = 0
    var isOpened = false
    /// Pages that were in the kernel's cache may have been used unseen.
    var isMinimum = false
    var isReadAgain = false

    mutating func add(_ handle: HandleRecord, _ reads: HandleRecord.Reads) {
      coverage.add(
        covered: reads.covered, isExact: reads.isExact, highWaterMark: reads.highWaterMark, ranges: reads.ranges)
      mapped = mapped.plus(reads.mapped)
      isOpened = true
      isMinimum = isMinimum || handle.isCachedBefore
    }
  }

  private struct Item {
    var size: Int64 = 0
    var reads = Reads()
    var attempts: UInt16 = 0
    var materializations: UInt16 = 0
    /// What is there of it since its last eviction, and what was fetched of it in all.
    var local: Int64 = 0
    var fetched: Int64 = 0
    /// The group of the program for which it was materialized last; nil: none, or a command of ours.
    var group: Int?
    /// It was opened such that the kernel served the reads alone.
    var isUnseen = false
    /// Watched handles that are open, through which more is being read.
    var openHandles: Int32 = 0
    /// What was materialized before was another version.
    var isNewVersion = false
    /// Some ranges of it are there, since its last eviction.
    var isPartial = false

    /// Whether more of it may have been read than is told.
    var mayHaveMore: Bool { isUnseen || openHandles > 0 }

    /// Materialized for a program, and at most 5 % of what came was read by anybody.
    var isNeedless: Bool {
      group != nil && materializations > 0 && reads.isOpened && !mayHaveMore && !reads.isMinimum
        && reads.coverage.bytesAtMost <= local / 20
    }
  }

  private struct UseKey: Hashable {
    var item: UInt64
    var group: Int
  }

  /// What one attempt was to its file.
  enum Share {
    case whole
    /// It had been materialized before, and evicted since.
    case again
    /// It brought in more of a file of which something was there.
    case more
  }

  private var items: [UInt64: Item] = [:]
  private var uses: [UseKey: Reads] = [:]
  private var chains: [UInt64: (length: Int64, durationNanoseconds: Int64)] = [:]
  private var details: FileDetails?
  private var openHandles: Set<UInt64> = []
  private(set) var repeated = SummaryReport.Repeated()
  private(set) var longestChain: SummaryReport.Chain?
  private(set) var distinctFiles: Int64 = 0
  private(set) var distinctBytes: Int64 = 0

  /// - Parameter keepsFiles: Whether `rows` are asked for, which takes a path per file.
  init(keepsFiles: Bool) { details = keepsFiles ? FileDetails() : nil }

  mutating func started(_ path: [UInt8], size: Int64, isFile: Bool, by process: FileSummary.Process?) {
    if isFile { details?.note(path, process) }
    let count = update(path) { item in
      item.size = max(item.size, size)
      item.attempts = item.attempts == .max ? .max : item.attempts + 1
      return item.attempts
    }
    if count == 2 { repeated.items += 1 }
    if count > 1, Int64(count) > repeated.attemptsMax {
      repeated.attemptsMax = Int64(count)
      repeated.path = Self.text(path)
    }
  }

  /// - Parameters:
  ///   - group: The program that it was for; nil if a command of ours asked for it.
  ///   - isPart: Whether the attempt brought in a range of the file.
  mutating func materializedFile(_ path: [UInt8], bytes: Int64, group: Int?, isPart: Bool) -> Share {
    let (isFirst, share) = update(path) { item in
      item.size = max(item.size, bytes)
      item.group = group ?? item.group
      item.fetched = item.fetched.plus(bytes)
      if item.isPartial, !item.isNewVersion {
        item.local = item.local.plus(bytes)
        return (false, Share.more)
      }
      item.local = bytes
      item.isPartial = isPart
      item.materializations = item.materializations == .max ? .max : item.materializations + 1
      let isAgain = group != nil && item.materializations > 1 && !item.isNewVersion
      item.isNewVersion = false
      if isAgain { item.reads.isReadAgain = true }
      return (item.materializations == 1, isAgain ? .again : .whole)
    }
    if isFirst { distinctFiles += 1 }
    if isFirst || share == .more { distinctBytes = distinctBytes.plus(bytes) }
    if share == .again, let group {
      uses[UseKey(item: PathHash.of(path), group: group), default: Reads()].isReadAgain = true
    }
    return share
  }

  mutating func evicted(_ path: [UInt8]) { update(path) { $0.isPartial = false } }

  /// The source has another version: who reads that reads nothing again.
  mutating func changed(_ path: [UInt8]) { update(path) { $0.isNewVersion = $0.materializations > 0 } }

  mutating func materializedDirectory(_ path: [UInt8], durationNanoseconds: Int64) {
    var chain = (length: Int64(1), durationNanoseconds: durationNanoseconds)
    if !path.isEmpty {
      let parent = path.lastIndex(of: PathBytes.slash).map { path[..<$0] } ?? []
      if let above = chains[PathHash.of(parent)] {
        chain = (above.length + 1, above.durationNanoseconds.plus(durationNanoseconds))
      }
    }
    chains[PathHash.of(path)] = chain
    let longest = longestChain.map { ($0.length, $0.durationNanoseconds) } ?? (0, 0)
    if (chain.length, chain.durationNanoseconds) > longest {
      longestChain = SummaryReport.Chain(
        length: chain.length, path: Self.text(path), durationNanoseconds: chain.durationNanoseconds)
    }
  }

  /// Whether a handle was open at the last record of it: more may have been read since.
  mutating func note(_ handle: UInt64, of path: [UInt8], isOpen: Bool) {
    let wasOpen = isOpen ? !openHandles.insert(handle).inserted : openHandles.remove(handle) != nil
    if isOpen != wasOpen { update(path) { $0.openHandles += isOpen ? 1 : -1 } }
  }

  /// What was read through a watched handle. - Parameter groups: Of each who read, in the order of `handle.readers`.
  mutating func read(_ handle: HandleRecord, groups: [Int], by processes: [FileSummary.Process?]) {
    for process in processes { details?.note(handle.path, process) }
    update(handle.path) { item in
      item.size = max(item.size, handle.size)
      for reader in handle.readers { item.reads.add(handle, reader.reads) }
    }
    let hash = PathHash.of(handle.path)
    for (reader, group) in zip(handle.readers, groups) {
      uses[UseKey(item: hash, group: group), default: Reads()].add(handle, reader.reads)
    }
  }

  mutating func unseen(_ path: [UInt8], by process: FileSummary.Process?) {
    details?.note(path, process)
    update(path) { $0.isUnseen = true }
  }

  mutating func waited(_ path: [UInt8], nanoseconds: Int64, isUnderWay: Bool) {
    details?.waited(path, nanoseconds, isUnderWay)
  }

  /// Files by what was read of them.
  var use: SummaryReport.Use {
    var use = SummaryReport.Use()
    for item in items.values {
      if item.reads.isReadAgain { use.readAgainAfterEviction += 1 }
      guard item.reads.isOpened else { continue }
      use.count(Self.use(item, item.reads))
      if item.isNeedless { use.addNeedless(item.local) }
    }
    return use
  }

  /// The same by the group of the program that read; needless ones by the one that they were materialized for.
  var usesByGroup: [Int: SummaryReport.Use] {
    var result: [Int: SummaryReport.Use] = [:]
    for (key, reads) in uses {
      guard let item = items[key.item] else { continue }
      if reads.isReadAgain { result[key.group, default: .init()].readAgainAfterEviction += 1 }
      if reads.isOpened { result[key.group, default: .init()].count(Self.use(item, reads)) }
    }
    for item in items.values where item.isNeedless {
      if let group = item.group { result[group, default: .init()].addNeedless(item.local) }
    }
    return result
  }

  /// One row for each file that was tried or opened, if they are kept; in no order.
  var rows: [FileSummary]? {
    details?.rows.map { row in
      var row = row
      guard let item = items[PathHash.of(row.pathBytes)] else { return row }
      row.size = item.size
      row.bytes = item.fetched
      row.attempts = Int64(item.attempts)
      row.materializations = Int64(item.materializations)
      row.readBytes = item.reads.coverage.bytesAtLeast
      row.mappedBytes = min(item.reads.mapped, row.readBytes)
      row.isNeedless = item.isNeedless
      guard item.reads.isOpened else { return row }
      let use = Self.use(item, item.reads)
      row.use = use.rawValue
      // Three digits are all that is meant.
      if use != .unknown, item.size > 0, row.readBytes == item.reads.coverage.bytesAtMost {
        row.readShare = (Double(row.readBytes) * 1_000 / Double(item.size)).rounded() / 1_000
      }
      return row
    }
  }

  private static func use(_ item: Item, _ reads: Reads) -> FileUse {
    FileUse(size: item.size, coverage: reads.coverage, isUnseen: item.mayHaveMore || reads.isMinimum)
  }

  @discardableResult
  private mutating func update<Result>(_ path: [UInt8], _ body: (inout Item) -> Result) -> Result {
    body(&items[PathHash.of(path), default: Item()])
  }

  private static func text(_ path: [UInt8]) -> String { path.isEmpty ? "." : String(decoding: path, as: UTF8.self) }
}
