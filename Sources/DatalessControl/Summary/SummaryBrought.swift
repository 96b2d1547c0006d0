import DatalessCore

/// What intents had brought here, how long they waited for it, and whether anybody read it afterwards.
///
/// A read is told to have needed nothing only if the log says so: the file was brought as a whole by an attempt that
/// nobody else waited for, its name has led to it ever since, and a handle has read it without a wait.
struct SummaryBrought: Sendable {
  private struct Attempt: Sendable {
    /// All of a file.
    var isWhole: Bool
    /// Whether others than intents waited for it.
    var isJoined = false
  }

  // LIMIT: files of which it is remembered; further ones are not known to have been read.
  private static let filesMax = 100_000

  private var sum = SummaryReport.Brought()
  private var wall = IntervalUnion(limit: 1_024)
  /// Those that intents have begun, until they end.
  private var attempts: [UInt64: Attempt] = [:]
  /// How many other callers wait for one, until their waits have ended: that may be after it.
  private var joined: [UInt64: Int] = [:]
  /// What bringing a file took, by the hash of its path, until it is read, or nobody knows any more what the path is.
  private var unread: [UInt64: Int64] = [:]
  /// Files that were ever in `unread`, and whether there were others of which nobody knows whether they are read.
  private var files: Int64 = 0
  private var hasOthers = false

  mutating func add(_ record: LogRecord) {
    let json = record.json
    switch record.type {
    case .materializationStarted: started(record)
    case .waitStarted:
      guard let attempt = record.attempt, attempts[attempt] != nil, !record.isTriggeredByIntent else { return }
      attempts[attempt]?.isJoined = true
      joined[attempt, default: 0] += 1
    case .materializationFinished: finished(record)
    case .handleClosed, .handleOpen: read(json)
    case .evictionFinished:
      // Nobody has read it before, as far as is told.
      if !json.has("kind", "directory") { unread[PathHash.of(json.path ?? [])] = nil }
    case .itemCreated, .itemRemoved, .itemPurged, .sourceChanged: forget(json.path)
    case .itemRenamed, .volumeReset:
      // With a directory all below it.
      if !unread.isEmpty { hasOthers = true }
      unread = [:]
    default: break
    }
  }

  /// A wait for an item has ended, or counts up to now.
  mutating func waited(_ wait: CountedWait) {
    if wait.isOfIntent {
      sum.waited.add(wait.blocked, isUnderWay: wait.isUnderWay)
      wall.insert(from: wait.start, to: wait.end)
      return
    }
    guard let attempt = wait.attempt, let waiting = joined[attempt] else { return }
    joined[attempt] = waiting > 1 ? waiting - 1 : nil
    sum.joinedWaits += 1
    sum.joinedNanoseconds = sum.joinedNanoseconds.plus(wait.blocked)
  }

  /// - Parameters:
  ///   - isAllWaited: Whether nothing is missing in `waited`, and nothing was given up before it came.
  ///   - isAllTold: Whether the log tells of every read.
  func report(isAllWaited: Bool, isAllTold: Bool) -> SummaryReport.Brought {
    var report = sum
    report.waited.wallNanoseconds = wall.length
    report.waited.setParallelism()
    // Not what each intent waited: a program may have asked for each item by an intent of its own.
    if isAllWaited, report.waited.underWay == 0 {
      report.sparedNanoseconds = max(0, report.waited.sumNanoseconds.minus(wall.length))
    }
    if isAllTold, !hasOthers { report.unreadFiles = files - report.readFiles }
    return report
  }

  // MARK: - Attempts

  private mutating func started(_ record: LogRecord) {
    let json = record.json
    guard record.isTriggeredByIntent else {
      // Whoever asked for it has it by a wait: it is nobody's surprise, whatever an intent has brought before.
      if !unread.isEmpty { forget(json.path) }
      return
    }
    sum.attempts += 1
    guard let attempt = record.attempt else { return }
    attempts[attempt] = Attempt(isWhole: !json.has("kind", "directory") && json.range("hydration") == nil)
  }

  private mutating func finished(_ record: LogRecord) {
    guard let id = record.attempt, let attempt = attempts.removeValue(forKey: id) else { return }
    let json = record.json
    guard record.outcome ?? "ok" == "ok" else { return }
    guard !json.has("kind", "directory") else {
      sum.directories += 1
      return
    }
    sum.files += 1
    sum.bytes = sum.bytes.plus(json.integer("bytes") ?? 0)
    // Somebody has read it, and was blocked.
    if attempt.isJoined { return }
    guard attempt.isWhole, unread.count < Self.filesMax, let path = json.path else {
      hasOthers = true
      return
    }
    files += 1
    unread[PathHash.of(path)] = max(0, json.integer("duration_ns") ?? 0)
  }

  // MARK: - Reads

  private mutating func read(_ json: JSONObject) {
    guard !unread.isEmpty, let path = json.path, (json.integer("covered_bytes") ?? 0) > 0 else { return }
    guard json.bool("triggered") == false, json.bool("superseded") != true else { return forget(path) }
    guard let took = unread.removeValue(forKey: PathHash.of(path)) else { return }
    sum.readFiles += 1
    sum.readNanoseconds = sum.readNanoseconds.plus(took)
  }

  /// The path may lead to something else from now on.
  private mutating func forget(_ path: [UInt8]?) {
    guard let path, unread.removeValue(forKey: PathHash.of(path)) != nil else { return }
    hasOthers = true
  }
}
