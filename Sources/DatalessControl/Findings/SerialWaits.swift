/// Lists of files that one process waited for one after the other.
///
/// It is told of waits for the content of files in the order of the log. A wait is alone if at no moment of it the
/// process waited for another file, in whatever thread. Files that were waited for alone are a list as long as no other
/// wait comes between, and no pause.
///
/// Memory: some 100 bytes for each process that waited for a file, and 16 for each file of the list it is at; within
/// limits for the first 64 files, and those of all lists beyond are put aside.
struct SerialWaits: Sendable {
  /// Fewer files are no list.
  static let filesMin: Int64 = 3
  /// LIMIT: nanoseconds between two waits of one list. Who pauses for longer has let somebody look, and did not know
  /// what would be asked for next.
  static let pauseMax: Int64 = 1_000_000_000
  /// LIMIT: paths that are kept of a list.
  static let pathsMax = 8

  /// A wait that has ended.
  struct Wait: Sendable {
    var process: UInt32
    var path: [UInt8]
    /// By which its stack is found.
    var key: ViolationList.Wait?
    /// CLOCK_MONOTONIC, nanoseconds.
    var start: Int64
    var end: Int64
  }

  /// What a process waited for one after the other.
  struct List: Sendable, Equatable {
    let process: UInt32
    fileprivate(set) var files: Int64 = 0
    /// Time in which the process waited for them.
    fileprivate(set) var blocked: Int64 = 0
    /// For the file that it waited for longest.
    fileprivate(set) var longest: Int64 = 0
    /// How long SOURCE was read for all of them: that may take as long whenever it is asked for.
    fileprivate(set) var storeTime: Int64 = 0
    /// Whether a gate held one of them, or a queue.
    fileprivate(set) var wasHeld = false
    /// The first ones.
    fileprivate(set) var paths: [[UInt8]] = []
    fileprivate(set) var longestWait: ViolationList.Wait?
    fileprivate var longestWaitTime: Int64 = -1

    /// How long it would have waited for all of them at once: for the longest, and for all that SOURCE takes.
    var atOnce: Int64 { min(blocked, longest.plus(storeTime)) }

    fileprivate init(process: UInt32) { self.process = process }
  }

  private struct OpenList {
    var list: List
    /// What keys of the list in `LongLists` are made with.
    let salt: UInt64
    /// By the hash of the path: how long the process waited for it.
    private var times: [UInt64: UInt32] = [:]
    /// Where that is 4.3 s or more: of the millions that a list may have, few are.
    private var longTimes: [UInt64: Int64] = [:]

    init(list: List, salt: UInt64) { (self.list, self.salt) = (list, salt) }

    /// - Returns: How many files there are with this one; nil if it is none more.
    mutating func add(_ wait: Wait, _ path: UInt64, blocked: Int64, others: inout LongLists) -> Int64? {
      list.blocked = list.blocked.plus(blocked)
      let isHere = times.count < others.filesHere || times[path] != nil
      let short = times[path] ?? (times.count < others.filesHere ? nil : others.times[path ^ salt])
      let known = longTimes[path] ?? short.map { Int64($0) }
      let isNew = known == nil
      let time = (known ?? 0).plus(blocked)
      if longTimes[path] != nil || time >= Int64(SpilledNumbers.none) {
        longTimes[path] = time
      } else if isHere {
        times[path] = UInt32(time)
      } else {
        others.times[path ^ salt] = UInt32(time)
      }
      list.longest = max(list.longest, time)
      if blocked > list.longestWaitTime { (list.longestWaitTime, list.longestWait) = (blocked, wait.key) }
      guard isNew else { return nil }
      list.files += 1
      if list.paths.count < SerialWaits.pathsMax { list.paths.append(wait.path) }
      return list.files
    }

    mutating func worked(storeTime: Int64, wasHeld: Bool) {
      list.storeTime = list.storeTime.plus(max(0, storeTime))
      if wasHeld { list.wasHeld = true }
    }
  }

  /// The files of all lists that are too many for a list itself.
  private struct LongLists {
    /// As many as a list has itself.
    let filesHere: Int
    /// By the hash of the path, and the list's salt. What is of a list that is over stays, until none is open.
    var times: SpilledNumbers
    private var made: UInt64 = 0
    private var open = 0

    init(limits: SpillLimits) {
      filesHere = limits.place == nil ? .max : SerialWaits.filesHere
      times = SpilledNumbers(limits: limits)
    }

    mutating func begin(of process: UInt32) -> OpenList {
      (made, open) = (made + 1, open + 1)
      return OpenList(list: List(process: process), salt: HashMix.of(made))
    }

    mutating func end() {
      open -= 1
      if open == 0 { times.removeAll() }
    }
  }

  private struct Process {
    /// By the hash of the path.
    var underWay: [UInt64: Int] = [:]
    /// Whether files were waited for at the same time, since nothing was.
    var isParallel = false
    /// When it began to wait for what is under way.
    var since: Int64 = 0
    var lastEnd: Int64?
    var open: OpenList?
  }

  /// Files of which a list keeps the times itself, where more are put aside.
  private static let filesHere = 64

  private var processes: [UInt32: Process] = [:]
  private var others: LongLists

  /// - Parameter limits: Of what stays in memory. Default: nothing is put aside.
  init(limits: SpillLimits = .inMemory) { others = LongLists(limits: limits) }

  /// A process waits for a file from now on. - Returns: The list that is over by this; nil for none.
  mutating func begin(_ path: UInt64, by process: UInt32, at time: Int64) -> List? {
    // In its place: a list may be long.
    let over = Self.begin(path, at: time, &processes[process, default: Process()])
    if over != nil { others.end() }
    return over.flatMap { $0.files >= Self.filesMin ? $0 : nil }
  }

  /// - Returns: The list that is over, however short.
  private static func begin(_ path: UInt64, at time: Int64, _ process: inout Process) -> List? {
    var isOver = false
    if process.underWay.isEmpty {
      process.isParallel = false
      process.since = time
      isOver = process.lastEnd.map { time.minus($0) > pauseMax } ?? false
    } else if process.underWay[path] == nil || process.underWay.count > 1 {
      process.isParallel = true
      isOver = true
    }
    process.underWay[path, default: 0] += 1
    guard isOver else { return nil }
    defer { process.open = nil }
    return process.open?.list
  }

  /// A wait has ended that `begin` was told of.
  ///
  /// - Returns: How many files the list has with this one, if that is new in it; nil for a file that it had already,
  ///   and for one that was not waited for alone.
  mutating func end(_ wait: Wait) -> Int64? {
    guard let place = processes.index(forKey: wait.process) else { return nil }
    return Self.end(wait, &processes.values[place], others: &others)
  }

  private static func end(_ wait: Wait, _ process: inout Process, others: inout LongLists) -> Int64? {
    let path = PathHash.of(wait.path)
    guard let count = process.underWay[path] else { return nil }
    process.underWay[path] = count > 1 ? count - 1 : nil
    // Several threads may wait for one file: their time counts once.
    let since = min(wait.start, process.since)
    let start = max(since, process.lastEnd ?? since)
    process.lastEnd = max(process.lastEnd ?? wait.end, wait.end)
    guard !process.isParallel else { return nil }
    if process.open == nil { process.open = others.begin(of: wait.process) }
    return process.open?.add(wait, path, blocked: max(0, wait.end.minus(start)), others: &others)
  }

  /// The process has waited for something else up to now, which is no pause.
  mutating func waited(by process: UInt32, until time: Int64) {
    guard let place = processes.index(forKey: process), let last = processes.values[place].lastEnd else { return }
    processes.values[place].lastEnd = max(last, time)
  }

  /// What the last file of a process's list took beside its wait.
  ///
  /// - Parameters:
  ///   - storeTime: How long SOURCE was read.
  ///   - wasHeld: Whether a gate held it, or a queue.
  mutating func worked(storeTime: Int64, wasHeld: Bool, for process: UInt32) {
    guard let place = processes.index(forKey: process), processes.values[place].open != nil else { return }
    processes.values[place].open?.worked(storeTime: storeTime, wasHeld: wasHeld)
  }

  /// The lists that are open, as far as they have come.
  var openLists: [List] {
    processes.values.compactMap { $0.open?.list }.filter { $0.files >= Self.filesMin }
      .sorted { $0.process < $1.process }
  }
}
