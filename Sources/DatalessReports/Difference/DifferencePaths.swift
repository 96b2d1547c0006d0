import DatalessControl

/// The files of one run of which content was fetched: by the hashes of their paths, so that two runs of millions of
/// files can be compared side by side.
///
/// Memory: 16 bytes for each version of a file, beside the table.
struct DifferencePaths: Sendable {
  private struct Entry: Sendable {
    var hash: UInt64
    var row: UInt32
  }

  private let table: FileTable
  /// In the order of the hashes; versions of one file in the order in which they were met.
  private var entries: [Entry] = []

  init(_ table: FileTable) {
    self.table = table
    entries.reserveCapacity(table.count)
    table.forEach { row in
      guard table.numbers(row).materializations > 0 else { return }
      entries.append(Entry(hash: table.pathHash(row), row: UInt32(row)))
    }
    entries.sort { ($0.hash, $0.row) < ($1.hash, $1.row) }
  }

  /// The same files by the hashes that another run has them by. Of a file with several names a run tells the path that
  /// it knew first: which that is goes by what was listed, and says nothing of what was fetched.
  private func known(as other: DifferencePaths) -> DifferencePaths {
    let (mine, theirs) = (table.named, other.table.named)
    guard !mine.isEmpty || !theirs.isEmpty else { return self }
    // By the rows of this run: what each is called there.
    var hashes: [UInt32: UInt64] = [:]
    for (hash, row) in mine {
      let known = other.contains(hash) ? hash : theirs[hash].map { other.table.pathHash(Int($0)) }
      // Which of several it is has to be the same each time.
      if let known { hashes[row] = min(known, hashes[row] ?? known) }
    }
    var result = self
    for index in entries.indices {
      let entry = entries[index]
      guard !other.contains(entry.hash) else { continue }
      let known = hashes[entry.row] ?? theirs[entry.hash].map { other.table.pathHash(Int($0)) }
      if let known { result.entries[index].hash = known }
    }
    result.entries.sort { ($0.hash, $0.row) < ($1.hash, $1.row) }
    return result
  }

  private func contains(_ hash: UInt64) -> Bool {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].hash < hash { low = middle + 1 } else { high = middle }
    }
    return self.hash(at: low) == hash
  }

  /// The hash of what stands at a place; nil behind the last one.
  private func hash(at place: Int) -> UInt64? { place < entries.count ? entries[place].hash : nil }

  /// Adds up all versions of the file at a place, and goes behind them.
  private func numbers(_ hash: UInt64, at place: inout Int) -> DifferenceSide.Numbers? {
    guard self.hash(at: place) == hash else { return nil }
    var sum = DifferenceSide.Numbers()
    while self.hash(at: place) == hash {
      let numbers = table.numbers(Int(entries[place].row))
      sum.add(
        files: numbers.materializations, bytes: numbers.bytes, waits: numbers.waits, blocked: numbers.blocked)
      place += 1
    }
    return sum
  }

  /// Of the file in front of a place. Escaped for a terminal.
  private func name(before place: Int) -> String { PathText.of(table.path(Int(entries[place - 1].row))) }

  // MARK: - Compared

  /// Files that differ.
  struct Compared {
    /// Those that differ in what was fetched of them, and then those that differ only in blocked time; each with the
    /// greatest difference of blocked time first.
    fileprivate(set) var rows: [RunDifference.Row] = []
    /// Further ones.
    fileprivate(set) var omitted: Int64 = 0
    /// How many were fetched only in the second run, whether they are among the rows or not, and the first of them.
    fileprivate(set) var newCount: Int64 = 0
    fileprivate(set) var firstNew: String?
  }

  /// - Parameters:
  ///   - rowsMax: How many rows there are at most.
  ///   - slowerMax: Of those that differ only in blocked time.
  static func compare(
    _ first: DifferencePaths, _ second: DifferencePaths, rowsMax: Int = RunDifference.rowsMax,
    slowerMax: Int = RunDifference.slowerMax
  ) -> Compared {
    let second = second.known(as: first)
    var fetched = FirstRows(limit: rowsMax, by: RunDifference.Row.precedes)
    var slower = FirstRows(limit: slowerMax, by: RunDifference.Row.precedes)
    var new = FirstRows(limit: 1, by: RunDifference.Row.precedes)
    var result = Compared()
    var count: Int64 = 0
    var (left, right) = (0, 0)
    while let hash = lesser(first.hash(at: left), second.hash(at: right)) {
      let old = first.numbers(hash, at: &left)
      let now = second.numbers(hash, at: &right)
      guard old != now else { continue }
      count += 1
      let isFetchedOtherwise = old?.files != now?.files || old?.bytes != now?.bytes
      if old == nil { result.newCount += 1 }
      let change = (now?.blocked ?? 0).minus(old?.blocked ?? 0).magnitude
      func isBehind(_ last: RunDifference.Row?) -> Bool { last.map { change < $0.blocked.change.magnitude } ?? false }
      // Names cost more than numbers, and nearly all rows come behind the last one.
      if isBehind(isFetchedOtherwise ? fetched.last : slower.last), old != nil || isBehind(new.last) { continue }
      let name = now == nil ? first.name(before: left) : second.name(before: right)
      let row = RunDifference.Row(name: name, before: old, after: now)
      if isFetchedOtherwise { fetched.add(row) } else { slower.add(row) }
      if old == nil { new.add(row) }
    }
    result.rows = fetched.sorted
    result.rows += slower.sorted.prefix(max(0, rowsMax - result.rows.count))
    result.omitted = count - Int64(result.rows.count)
    result.firstNew = new.sorted.first?.name
    return result
  }
}

/// The lesser of two numbers, or the one that is there.
private func lesser(_ first: UInt64?, _ second: UInt64?) -> UInt64? {
  guard let first, let second else { return first ?? second }
  return min(first, second)
}

extension RunDifference.Row {
  init(
    name: String, stack: DifferenceSide.Stack? = nil, before: DifferenceSide.Numbers?, after: DifferenceSide.Numbers?
  ) {
    let (was, now) = (before ?? DifferenceSide.Numbers(), after ?? DifferenceSide.Numbers())
    self.init(
      name: name, change: before == nil ? .new : after == nil ? .gone : .changed,
      files: RunDifference.Amount(before: was.files, after: now.files),
      bytes: RunDifference.Amount(before: was.bytes, after: now.bytes),
      waits: RunDifference.Amount(before: was.waits, after: now.waits),
      blocked: RunDifference.Amount(before: was.blocked, after: now.blocked), frames: stack?.frames,
      isUnrecorded: nil, shown: stack?.shown)
  }

  /// The greatest difference of blocked time first.
  static func precedes(_ left: RunDifference.Row, _ right: RunDifference.Row) -> Bool {
    (right.blocked.change.magnitude, left.name) < (left.blocked.change.magnitude, right.name)
  }
}
