/// What happened to each file, in a few bytes per version of a file, and in a few more per version and program that
/// read it.
///
/// A file keeps its row when it is renamed, or a directory on the way to it is.
///
/// Memory: within limits that of the newest versions; the others, and what finds them by their paths, are in files
/// then. In memory stays what is kept of files that were read by several programs, or that came in pieces, what has
/// lost its path in the refresh under way, and directories (`DirectoryChains`).
struct SummaryFiles: Sendable {
  struct UseKey: Hashable {
    var row: Int
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

  /// A watched handle that is not closed yet.
  private struct OpenHandle {
    var row: Int
    /// The last that was told of it.
    var record: HandleRecord?
    var groups: [Int] = []
  }

  /// Ranges of a file that comes in parts: beyond, what was fetched twice is not known.
  private static let partsMax: UInt16 = 1_024

  private(set) var versions: FileVersions
  var directories: RenamedDirectories
  /// The row of what has a path now; these three by the key that the path has in `directories`.
  private var rowOfPath: PathRows
  private var former: FormerVersions
  /// Which of it is an older version of what will have the path.
  private var predecessors: PathRows
  /// What had a path until a renamed file took it, in the refresh under way, by the hash of that path: its own rename
  /// may be told later.
  private var displaced: [UInt64: Int] = [:]
  /// Of files that several groups read; and who read one again after its eviction.
  private(set) var uses: [UseKey: FileVersion.Reads] = [:]
  private(set) var parts: [Int: ReadCoverage] = [:]
  private var handles: [UInt64: OpenHandle] = [:]
  private(set) var chains = DirectoryChains()
  private(set) var details: FileDetails?
  private(set) var repeated = SummaryReport.Repeated()

  /// - Parameters:
  ///   - keepsFiles: Whether `table` is asked for, which takes a path per file.
  ///   - limits: Of what stays in memory. Default: nothing is put aside.
  init(keepsFiles: Bool, limits: SpillLimits = .inMemory) {
    details = keepsFiles ? FileDetails() : nil
    directories = RenamedDirectories(keepsNames: keepsFiles)
    versions = FileVersions(limits: limits)
    (rowOfPath, predecessors) = (PathRows(limits: limits), PathRows(limits: limits))
    former = FormerVersions(limits: limits)
  }

  // MARK: Materializations

  /// - Parameters:
  ///   - names: As in `row(of:names:)`.
  ///   - handle: The open file through which it was asked for.
  /// - Returns: The row of what is materialized.
  mutating func started(
    _ path: [UInt8], names: @autoclosure () -> [[UInt8]], size: Int64, isFile: Bool, handle: UInt64?,
    by process: FileSummary.Process?
  ) -> Int {
    let row = row(of: path, names: names())
    if isFile { details?.addProcess(row, path: directories.place(of: path), process: process) }
    if isFile, details != nil { details?.addNames(row, names()) }
    if let handle, Self.isWatched(handle), handles[handle] == nil { handles[handle] = OpenHandle(row: row) }
    versions[row].size = max(versions[row].size, size)
    let count = versions[row].attempts
    guard count < .max else { return row }
    versions[row].attempts = count + 1
    if count == 1 { repeated.items += 1 }
    if count > 0, Int64(count) + 1 > repeated.attemptsMax {
      repeated.attemptsMax = Int64(count) + 1
      (repeated.path, repeated.pathBase64) = SummaryReport.split(path)
    }
    return row
  }

  /// - Parameters:
  ///   - row: As `started` said; nil where the log does not say how it began.
  ///   - group: The program that it was for; nil if a command of ours asked for it.
  ///   - part: The range that it was to bring in; nil for all of the file.
  ///   - isDone: Whether it brought all of that, rather than `bytes` of it and then an end.
  mutating func materializedFile(
    _ path: [UInt8], row: Int?, bytes: Int64, group: Int?, part: Range<Int64>?, isDone: Bool
  ) -> Share {
    let row = row ?? self.row(of: path, names: [])
    let share = versions[row].materialized(bytes: bytes, group: group, isWhole: isDone && part == nil)
    if let before = versions[row].predecessor { versions.countElsewhere(before) }
    if !isDone {
      // Which bytes of the range these are is not told.
      parts[row, default: ReadCoverage(rangesMax: Self.partsMax)].add(
        covered: bytes, highWaterMark: part?.upperBound ?? .max, ranges: [])
    } else if let part {
      parts[row, default: ReadCoverage(rangesMax: Self.partsMax)].add(
        covered: part.upperBound - part.lowerBound, highWaterMark: part.upperBound, ranges: [part])
    }
    if share == .again, let group { uses[UseKey(row: row, group: group), default: .init()].isReadAgain = true }
    return share
  }

  mutating func materializedDirectory(_ path: [UInt8], durationNanoseconds: Int64) {
    chains.materialized(path, in: directories, durationNanoseconds: durationNanoseconds)
  }

  mutating func waited(_ row: Int, _ path: [UInt8], nanoseconds: Int64, isUnderWay: Bool) {
    details?.waited(row, path: directories.place(of: path), nanoseconds: nanoseconds, isUnderWay: isUnderWay)
  }

  // MARK: What becomes of files

  mutating func evicted(_ path: [UInt8]) {
    guard let row = rowOfPath[directories.key(of: path)] else { return }
    versions[row].isPartial = false
    if versions[row].isKept { supersede(path) }
  }

  /// SOURCE is not what the volume knew.
  mutating func changed(_ record: LogRecord) {
    let json = record.json
    guard let path = json.path else { return }
    switch json.string("change") {
    // Other owners and modes make no other version.
    case "changed" where json.bool("metadata_only") == true: break
    case "changed": supersede(path)
    case "added", "gone": leave(path)
    case "renamed":
      guard let old = json.name("old_path", "old_path_b64") else { break }
      rename(old, to: path)
      if json.has("kind", "directory") { directories.renameInSource(old, to: path) }
    case "kept": rowOfPath[directories.key(of: path)].map { versions[$0].isKept = true }
    default: break
    }
  }

  private mutating func supersede(_ path: [UInt8]) {
    if let row = leave(path) { predecessors[directories.key(of: path)] = row }
  }

  /// What has the path from now on is another file. - Returns: The row of what had it.
  @discardableResult
  mutating func leave(_ path: [UInt8]) -> Int? {
    let hash = directories.key(of: path)
    predecessors[hash] = nil
    guard let row = rowOfPath.remove(hash) else { return nil }
    (versions[row].isSuperseded, versions[row].areOlderUnseen) = (true, false)
    former.add(row, of: hash)
    return row
  }

  /// The changes of one refresh happened at once: two files may have changed names.
  mutating func rename(_ old: [UInt8], to new: [UInt8]) {
    let (from, to) = (directories.key(of: old), directories.key(of: new))
    if let row = leave(new) { displaced[PathHash.of(new)] = row }
    chains.rename(from: from, to: to)
    let row: Int
    if let known = displaced.removeValue(forKey: PathHash.of(old)) {
      row = known
      versions[row].isSuperseded = false
      former.remove(row, of: from)
    } else if let known = rowOfPath.remove(from) {
      row = known
    } else {
      return
    }
    rowOfPath[to] = row
    details?.rename(row, to: directories.place(of: new))
  }

  mutating func refreshEnded() {
    displaced = [:]
    directories.refreshEnded()
  }

  /// Two paths have each other's files from now on.
  mutating func exchange(_ old: [UInt8], _ new: [UInt8]) {
    let (from, to) = (directories.key(of: old), directories.key(of: new))
    (predecessors[from], predecessors[to]) = (nil, nil)
    chains.exchange(from, to)
    let (there, here) = (rowOfPath.remove(from), rowOfPath.remove(to))
    if let there { give(new, to: there) }
    if let here { give(old, to: here) }
  }

  private mutating func give(_ path: [UInt8], to row: Int) {
    rowOfPath[directories.key(of: path)] = row
    details?.rename(row, to: directories.place(of: path))
  }

  // MARK: Reads

  /// What was read through a watched handle: all of it, or so far.
  ///
  /// - Parameter groups: Of each who read, in the order of `handle.readers`.
  mutating func told(_ handle: HandleRecord, isOpen: Bool, groups: [Int], by processes: [FileSummary.Process?]) {
    let known = handle.number.flatMap { isOpen ? handles[$0] : handles.removeValue(forKey: $0) }
    guard let row = known?.row ?? row(of: handle) else { return }
    for process in processes {
      details?.addProcess(row, path: directories.place(of: handle.path), process: process)
    }
    guard isOpen, let number = handle.number else { return read(handle, row: row, groups: groups) }
    // It will be told again, with all that was read until then: once is enough.
    handles[number] = OpenHandle(row: row, record: handle, groups: groups)
  }

  private mutating func read(_ handle: HandleRecord, row: Int, groups: [Int]) {
    if let first = versions[row].noteReaders(groups) {
      uses[UseKey(row: row, group: first), default: .init()].take(versions[row].reads)
    }
    versions[row].noteRead(handle)
    guard versions[row].reader == .several else { return }
    for (reader, group) in zip(handle.readers, groups) {
      uses[UseKey(row: row, group: group), default: .init()].add(reader.reads, isMinimum: handle.isCachedBefore)
    }
  }

  mutating func unseen(_ path: [UInt8], names: @autoclosure () -> [[UInt8]], by process: FileSummary.Process?) {
    let row = row(of: path, names: names())
    details?.addProcess(row, path: directories.place(of: path), process: process)
    versions[row].isUnseen = true
  }

  /// Counts what was read through handles that are open.
  mutating func endHandles() {
    for (_, handle) in handles.sorted(by: { $0.key < $1.key }) {
      versions[handle.row].openHandles += 1
      if let record = handle.record { read(record, row: handle.row, groups: handle.groups) }
    }
    handles = [:]
  }

  /// Handles of resident files that nobody watches share two numbers.
  private static func isWatched(_ handle: UInt64) -> Bool { handle != 0 && handle != .max }

  // MARK: Rows

  /// - Parameter names: All paths of a file that has several names: what was told of it under one of them is of it,
  ///   too.
  private mutating func row(of path: [UInt8], names: @autoclosure () -> [[UInt8]]) -> Int {
    let hash = directories.key(of: path)
    if let row = rowOfPath[hash] { return row }
    for name in names() { if let row = rowOfPath[directories.key(of: name)] { return row } }
    let row = versions.count
    rowOfPath[hash] = row
    versions.append(FileVersion())
    versions[row].predecessor = predecessors.remove(hash)
    return row
  }

  /// The version that a handle is of; nil if it may be any of several that had the path, whose use is not known then.
  private mutating func row(of handle: HandleRecord) -> Int? {
    let hash = directories.key(of: handle.path)
    guard handle.isSuperseded, let newest = former.newest(of: hash) else {
      return row(of: handle.path, names: handle.names)
    }
    guard former.older(than: newest) != nil else { return newest }
    versions.noteUnseen(newest, former)
    return nil
  }
}
