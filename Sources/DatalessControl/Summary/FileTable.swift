/// What only rows of files tell: path, who, and how long they waited.
///
/// Memory: 40 bytes for each version of a file, and its name. LIMIT: 4,294,967,295 waits for one are counted.
struct FileDetails: Sendable {
  private struct Row: Sendable {
    var place = PathStore.Place()
    /// The greatest number where there is no such row.
    var processes = UInt32.max
    var waits: UInt32 = 0
    var underWay: UInt32 = 0
    var sum: Int64 = 0
    var longest: Int64 = 0

    var isThere: Bool { processes != .max }
  }

  /// By the row in `SummaryFiles`.
  private var rows = SegmentedRows<Row>()
  private var paths = PathStore()
  private var lists = ProcessLists()
  /// Processes of a file that are not in its list, which is full.
  private var unlisted: [Int: Int64] = [:]
  /// Rows that are there.
  private(set) var count = 0
  /// The rows of files with several names, by the hashes of all of these.
  private(set) var named: [UInt64: UInt32] = [:]

  // LIMIT: names of files with several. What has others is known by its path alone.
  private static let namesMax = 1_000_000

  init() {}

  mutating func addNames(_ row: Int, _ names: [[UInt8]]) {
    guard names.count > 1, named.count < Self.namesMax else { return }
    for name in names { named[PathHash.of(name)] = UInt32(clamping: row) }
  }

  mutating func addProcess(_ row: Int, path: [UInt8], process: FileSummary.Process?) {
    add(row, path: path)
    guard let process else { return }
    if let list = lists.adding(process, to: rows[row].processes) {
      rows[row].processes = list
    } else {
      unlisted[row, default: 0] += 1
    }
  }

  mutating func waited(_ row: Int, path: [UInt8], nanoseconds: Int64, isUnderWay: Bool) {
    add(row, path: path)
    guard rows[row].waits < .max else { return }
    rows[row].waits += 1
    if isUnderWay { rows[row].underWay += 1 }
    rows[row].sum = rows[row].sum.plus(nanoseconds)
    rows[row].longest = max(rows[row].longest, nanoseconds)
  }

  mutating func rename(_ row: Int, to path: [UInt8]) {
    guard isThere(row) else { return }
    rows[row].place = paths.add(path)
  }

  /// Directories are called what they are called now.
  ///
  /// - Parameter names: As `RenamedDirectories.names`.
  /// - Returns: Rows of what was in those that others have replaced.
  mutating func callDirectories(_ names: [[UInt8]: (path: [UInt8], isLost: Bool)]) -> [Int] {
    let replaced = paths.callDirectories(names)
    guard !replaced.isEmpty else { return [] }
    return indices.filter { isThere($0) && replaced.contains(rows[$0].place.directory) }
  }

  private mutating func add(_ row: Int, path: [UInt8]) {
    while rows.count <= row { rows.append(Row()) }
    guard !rows[row].isThere else { return }
    rows[row].place = paths.add(path)
    rows[row].processes = ProcessLists.empty
    count += 1
  }

  // MARK: What is there

  /// All rows, with those that are not there.
  var indices: Range<Int> { 0..<rows.count }

  func isThere(_ row: Int) -> Bool { row < rows.count && rows[row].isThere }

  func path(_ row: Int) -> [UInt8] { paths.path(rows[row].place) }

  func directory(_ row: Int) -> Int { Int(rows[row].place.directory) }

  func directoryPath(_ directory: Int) -> [UInt8] { paths.directory(directory) }

  func blocked(_ row: Int) -> SummaryReport.Blocked {
    var blocked = SummaryReport.Blocked()
    (blocked.waits, blocked.underWay) = (Int64(rows[row].waits), Int64(rows[row].underWay))
    (blocked.sumNanoseconds, blocked.longestNanoseconds) = (rows[row].sum, rows[row].longest)
    blocked.wallNanoseconds = blocked.waits > 1 ? nil : blocked.sumNanoseconds
    return blocked
  }

  func summary(_ row: Int) -> FileSummary {
    var summary = FileSummary()
    (summary.path, summary.pathBase64) = WirePath.split(path(row))
    summary.blocked = blocked(row)
    summary.processes = lists[rows[row].processes]
    summary.processCount = Int64(summary.processes.count) + (unlisted[row] ?? 0)
    return summary
  }
}

/// Each version of a file that was tried or opened, in some 120 bytes; `FileSummary` is made of one when it is asked
/// for.
public struct FileTable: Sendable {
  private let versions: FileVersions
  private let details: FileDetails
  private let isAllTold: Bool

  /// No file.
  public init() { self.init(versions: FileVersions(), details: FileDetails(), isAllTold: false) }

  /// - Parameter isAllTold: As in `FileVersion.use`.
  init(versions: FileVersions, details: FileDetails, isAllTold: Bool) {
    (self.versions, self.details, self.isAllTold) = (versions, details, isAllTold)
  }

  public var count: Int { details.count }

  /// Calls with each row, in the order in which they were met.
  public func forEach(_ body: (_ row: Int) -> Void) {
    for row in details.indices where details.isThere(row) { body(row) }
  }

  public subscript(row: Int) -> FileSummary {
    var summary = details.summary(row)
    summary.set(versions[row], isAllTold: isAllTold)
    return summary
  }

  /// All of them.
  public func summaries(by order: FileSummary.Order) -> [FileSummary] {
    var files: [FileSummary] = []
    files.reserveCapacity(count)
    forEach { files.append(self[$0]) }
    FileSummary.sort(&files, by: order)
    return files
  }

  /// Rows of those that come first in an order, so many at most.
  public func first(_ limit: Int, by order: FileSummary.Order) -> [Int] {
    guard limit > 0 else { return [] }
    var first = FirstRows<(rank: FileSummary.Rank, row: Int)>(limit: limit) { $0.rank.precedes($1.rank) }
    forEach { row in
      // Of nearly all the numbers say enough.
      var file = FileSummary()
      file.blocked = details.blocked(row)
      file.set(versions[row], isAllTold: isAllTold)
      var rank = file.rank(by: order)
      if let last = first.last, rank.isBehindByNumbers(last.rank) { return }
      rank.path = WirePath.split(details.path(row)).text
      first.add((rank: rank, row: row))
    }
    return first.sorted.map { $0.row }
  }

  // MARK: Parts of a row

  /// What was fetched of a file, and how long was waited for it.
  public struct Numbers: Sendable, Equatable {
    public var materializations: Int64 = 0
    public var bytes: Int64 = 0
    /// Seen being read.
    public var read: Int64 = 0
    public var waits: Int64 = 0
    public var blocked: Int64 = 0

    public init() {}
  }

  public func numbers(_ row: Int) -> Numbers {
    let (version, blocked) = (versions[row], details.blocked(row))
    var numbers = Numbers()
    (numbers.materializations, numbers.bytes) = (Int64(version.materializations), version.fetched)
    numbers.read = version.reads.coverage.bytesAtLeast
    (numbers.waits, numbers.blocked) = (blocked.waits, blocked.sumNanoseconds)
    return numbers
  }

  public func path(_ row: Int) -> [UInt8] { details.path(row) }

  /// The number of the directory that a file is in.
  public func directory(_ row: Int) -> Int { details.directory(row) }

  /// Empty for the root.
  public func directoryPath(_ directory: Int) -> [UInt8] { details.directoryPath(directory) }

  /// The hashes of all names of files that have several, with the rows of these.
  public var named: [UInt64: UInt32] { details.named }

  /// As files are told apart: two paths have the same one in one of some 10^19 cases.
  public func pathHash(_ row: Int) -> UInt64 { PathHash.of(details.path(row)) }
}
