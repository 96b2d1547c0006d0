import DatalessCore

/// Reads one session of a log for findings, record by record: of everybody who used the volume.
struct FindingReader: Sendable {
  /// One wait that is part of a finding.
  struct Wait: Sendable {
    /// The log's id; nil where it does not tell.
    var process: UInt32?
    /// By which its stack is found.
    var key: ViolationList.Wait?
    var path: [UInt8]
    var blocked: Int64
  }

  /// Something that was found.
  enum Found: Sendable {
    /// A main thread waited.
    case mainThread(Wait)
    case serial(SerialWaits.List)
    /// A main thread waited for a file that a listing had shown at least as long before.
    case prefetch(Wait, VisibleFiles.Listing, lead: Int64)
    /// A lookup that nothing followed; not known for certain where it is doubtful.
    case notNeeded(Wait, count: Int64, isDoubtful: Bool)
    /// A process wrote to a file that another one had open, and neither has locked or announced it.
    case together(WritesTogether.Write)
  }

  private struct Attempt {
    var path: [UInt8]
    var isFile: Bool
    /// The program's thread that started it, if it is the first one on its item since the mount, and until it has its
    /// answer.
    var starter: ViolationList.Wait?
    /// What it took beside the wait, once it has ended.
    var storeTime: Int64?
    var wasHeld = false
    /// Processes whose list has it, and are to be told what it took.
    var listed: [UInt32] = []
    var waiting = 0
  }

  /// LIMIT: processes that are told what one attempt took.
  private static let listedMax = 64

  private var attempts: [UInt64: Attempt] = [:]
  /// Processes that share their id with others, as they cannot be looked at.
  private var shared: Set<UInt32> = []
  private var serial: SerialWaits
  private var lookups = UnfollowedLookups<Wait>()
  private var visible = VisibleFiles()
  private var capacity = FetchCapacity()
  private var opens = WatchedOpens()
  /// Files that are written to while others have them open.
  private(set) var together = WritesTogether()
  /// Waits for files of callers that are not known, and waits of threads of which it is not known whether they are main
  /// ones.
  private(set) var unknownCallers: Int64 = 0
  private(set) var unknownThreads: Int64 = 0
  private(set) var unknownFileThreads: Int64 = 0

  /// - Parameter limits: Of what stays in memory. Default: nothing is put aside.
  init(limits: SpillLimits = .inMemory) { serial = SerialWaits(limits: limits) }

  /// Why the log does not tell how long something would have taken at once; nil if it tells.
  var limit: String? { capacity.limit }

  /// Whether every open of a file is in the log.
  var opensAreTold: Bool { opens.areAllTold }

  /// Lookups that the log does not tell enough of, and listings of which nothing was opened.
  var untoldLookups: Int64 { lookups.untold }
  /// Lookups of directories that nothing seems to follow.
  var directoriesLookedUp: Int64 { lookups.directoriesLeft }
  var listingsLeft: (count: Int64, blocked: Int64) { lookups.listingsLeft }

  mutating func add(_ record: LogRecord) -> [Found] {
    capacity.note(record)
    opens.note(record)
    visible.note(record)
    if let write = together.note(record) { return write.isKnown ? [.together(write)] : [] }
    let path = record.type == .waitStarted ? record.attempt.flatMap { attempts[$0]?.path } : nil
    lookups.note(record, path: path)
    switch record.type {
    case .processSeen:
      guard let id = record.process else { return [] }
      if record.json.integer("pid") == nil { shared.insert(id) } else { shared.remove(id) }
    case .materializationStarted: started(record)
    case .materializationFinished: finished(record)
    case .waitStarted: return waitStarted(record)
    case .waitFinished: return waitFinished(record)
    default: break
    }
    return []
  }

  /// What is found at the end. - Parameter isEnded: Whether the session is over, so that nothing more can follow.
  func finish(isEnded: Bool) -> [Found] {
    let left = lookups.left(opensAreTold: opens.areAllTold).map { lookup -> Found in
      var wait = lookup.asker
      wait.blocked = lookup.blocked
      return .notNeeded(wait, count: lookup.count, isDoubtful: lookup.isDoubtful || !isEnded)
    }
    return serial.openLists.map { Found.serial($0) } + left
  }

  // MARK: - Attempts

  private mutating func started(_ record: LogRecord) {
    let json = record.json
    guard let id = record.attempt, let path = json.path else { return }
    let isFirst = json.integer("file_attempt") == 1 && !record.isTriggeredByCommand
    attempts[id] = Attempt(
      path: path, isFile: json.has("kind", "file"), starter: isFirst ? ViolationList.Wait(json) : nil)
  }

  private mutating func finished(_ record: LogRecord) {
    guard let place = place(of: record) else { return }
    let json = record.json
    let storeTime = max(0, json.integer("store_ns") ?? 0)
    let wasHeld = (json.integer("held_ns") ?? 0) > 0 || (json.integer("queued_ns") ?? 0) > 0
    attempts.values[place].storeTime = storeTime
    attempts.values[place].wasHeld = wasHeld
    for process in attempts.values[place].listed {
      serial.worked(storeTime: storeTime, wasHeld: wasHeld, for: process)
    }
    attempts.values[place].listed = []
    if attempts.values[place].waiting <= 0 { attempts.remove(at: place) }
  }

  /// Where its attempt is: one search for all that is done with it.
  private func place(of record: LogRecord) -> Dictionary<UInt64, Attempt>.Index? {
    record.attempt.flatMap { attempts.index(forKey: $0) }
  }

  // MARK: - Waits

  /// Whether a program's thread waits: neither a command of ours does, nor an intent, whatever thread has asked for it.
  private func isOfThread(_ record: LogRecord) -> Bool { !record.isTriggeredByCommand && !record.isTriggeredByIntent }

  private mutating func waitStarted(_ record: LogRecord) -> [Found] {
    guard let place = place(of: record) else { return [] }
    attempts.values[place].waiting += 1
    guard attempts.values[place].isFile, isOfThread(record), let process = known(record),
      let time = record.monotonicNanoseconds
    else { return [] }
    let path = PathHash.of(attempts.values[place].path)
    return serial.begin(path, by: process, at: time).map { [Found.serial($0)] } ?? []
  }

  private mutating func waitFinished(_ record: LogRecord) -> [Found] {
    guard let place = place(of: record) else { return [] }
    defer { ended(at: place) }
    let json = record.json
    guard isOfThread(record), let blocked = json.integer("blocked_ns"), let end = record.monotonicNanoseconds
    else {
      return []
    }
    let wait = Wait(
      process: known(record), key: ViolationList.Wait(json), path: attempts.values[place].path,
      blocked: max(0, blocked))
    var found: [Found] = []
    let isMainThread = json.bool("main_thread")
    switch isMainThread {
    case true?: found.append(.mainThread(wait))
    case nil: unknownThreads += 1
    default: break
    }
    if attempts.values[place].isFile {
      waitedForFile(at: place, wait, end: end)
      if let early = prefetch(wait, at: place, record, isMainThread: isMainThread) { found.append(early) }
    } else {
      if let process = wait.process { serial.waited(by: process, until: end) }
      if json.has("outcome", "ok") { directoryListed(wait.path, wait, json: json, at: end) }
    }
    return found
  }

  private mutating func waitedForFile(at place: Dictionary<UInt64, Attempt>.Index, _ wait: Wait, end: Int64) {
    guard let process = wait.process else {
      unknownCallers += 1
      return
    }
    let isNew = serial.end(
      SerialWaits.Wait(
        process: process, path: wait.path, key: wait.key, start: end.minus(wait.blocked), end: end))
    guard isNew != nil else { return }
    if let storeTime = attempts.values[place].storeTime {
      serial.worked(storeTime: storeTime, wasHeld: attempts.values[place].wasHeld, for: process)
    } else if attempts.values[place].listed.count < Self.listedMax {
      attempts.values[place].listed.append(process)
    }
  }

  /// Of the one who started the first attempt on a file.
  private mutating func prefetch(
    _ wait: Wait, at place: Dictionary<UInt64, Attempt>.Index, _ record: LogRecord, isMainThread: Bool?
  ) -> Found? {
    guard let starter = attempts.values[place].starter, starter == wait.key, let end = record.monotonicNanoseconds
    else { return nil }
    attempts.values[place].starter = nil
    guard record.json.has("outcome", "ok"), let listing = visible.listing(with: wait.path) else { return nil }
    let lead = end.minus(wait.blocked).minus(listing.time)
    guard lead >= wait.blocked else { return nil }
    guard let isMainThread else {
      unknownFileThreads += 1
      return nil
    }
    return isMainThread ? .prefetch(wait, listing, lead: lead) : nil
  }

  private mutating func directoryListed(_ path: [UInt8], _ wait: Wait, json: JSONObject, at time: Int64) {
    switch json.string("trigger") {
    case "lookup":
      lookups.lookedUp(json, in: path, blocked: wait.blocked) { path in
        var wait = wait
        wait.path = path
        return wait
      }
    case "readdir":
      visible.listed(path, by: wait.process, at: time)
      lookups.listed(path, blocked: wait.blocked)
    default: break
    }
  }

  /// Forgets an attempt when it and all its waits have ended.
  private mutating func ended(at place: Dictionary<UInt64, Attempt>.Index) {
    attempts.values[place].waiting -= 1
    guard attempts.values[place].storeTime != nil, attempts.values[place].waiting <= 0 else { return }
    attempts.remove(at: place)
  }

  /// The process of a record, if it is one alone.
  private func known(_ record: LogRecord) -> UInt32? { record.process.flatMap { shared.contains($0) ? nil : $0 } }
}
