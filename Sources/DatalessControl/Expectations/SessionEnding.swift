import DatalessCore

/// How a session of a log goes and ends: what the log lacks of it, and what its last records say.
struct SessionEnding: Sendable {
  private(set) var session: String?
  /// SOURCE of the volume; empty where the log does not tell it.
  private(set) var source = ""
  /// SOURCE and the mountpoint, as far as they are absolute paths, by what messages call them.
  private(set) var roots: [(name: String, path: [UInt8])] = []
  private(set) var earlierSessions: Int64 = 0
  /// The process whose descendants' doings count; nil without `dataless run`.
  private(set) var runRoot: Int32?
  /// What the daemon has counted for the run's command.
  private(set) var runFiles: Int64?
  private(set) var runBytes: Int64?
  private(set) var lastMonotonic: Int64 = 0
  private(set) var isUnmounted = false
  private(set) var hasEvictions = false
  /// Whether nobody has asked the volume for anything.
  private(set) var isUntouched = false
  private(set) var volume: Volume?
  private let isSessionGiven: Bool
  private var continuity = RecordContinuity()
  private var run: RunEnding?
  /// Whether more was under way for the run than was waited for, by what the daemon has said beside the log.
  private var isToldIncomplete = false
  private var dropped: Int64 = 0

  /// What the whole volume has, as its last counters say.
  struct Volume: Sendable {
    var files: Int64
    var directories: Int64
    var bytes: Int64
    /// Whether every directory is listed, so that there is no more.
    var isKnownWhole: Bool
  }

  /// - Parameter isSessionGiven: Whether the caller names the session, so that no later one can be meant.
  init(isSessionGiven: Bool) { self.isSessionGiven = isSessionGiven }

  /// For a session that begins behind another one in the same log.
  init(after earlier: SessionEnding) {
    isSessionGiven = earlier.isSessionGiven
    earlierSessions = earlier.earlierSessions + 1
    continuity = RecordContinuity(after: earlier.continuity)
  }

  mutating func addUnread(_ lines: UnreadLines) { continuity.addUnread(lines) }

  /// Whether a record is not to be counted, as it was told before.
  mutating func skips(_ record: LogRecord) -> Bool { continuity.skips(record) }

  /// - Returns: Whether it is to be judged, as of `RecordContinuity.note`.
  mutating func note(_ record: LogRecord) -> Bool {
    let json = record.json
    if session == nil { session = record.session }
    if let time = record.monotonicNanoseconds { lastMonotonic = max(lastMonotonic, time) }
    guard continuity.note(record) else { return false }
    switch record.type {
    case .volumeMounted:
      source = json.string("source") ?? ""
      let paths = [
        ("SOURCE", json.name("source", "source_b64")), ("the mountpoint", json.name("mountpoint", "mountpoint_b64")),
      ]
      roots = paths.compactMap { name, path in path?.first == UInt8(ascii: "/") ? path.map { (name, $0) } : nil }
    case .runStarted: runRoot = json.integer("pid").flatMap { Int32(exactly: $0) }
    case .runFinished:
      run = RunEnding(json)
      runFiles = json.object("budgets")?.integer("files") ?? runFiles
      runBytes = json.object("budgets")?.integer("bytes") ?? runBytes
    case .evictionFinished: hasEvictions = true
    case .volumeCounters, .volumeUnmounted:
      if record.type == .volumeUnmounted {
        isUnmounted = true
        isUntouched = json.object("requests_reaching_the_volume")?.keys.isEmpty == true
      }
      dropped = max(dropped, json.integer("log_dropped") ?? 0)
      if let items = json.object("items") {
        volume = Volume(
          files: items.integer("files") ?? 0, directories: items.integer("directories") ?? 0,
          bytes: items.integer("bytes") ?? 0,
          isKnownWhole: items.integer("directories_dataless") == 0 && (items.integer("files") ?? 0) > 0)
      }
    default: break
    }
    return true
  }

  /// What the daemon has counted for the run, as it has said itself: where the log could not take it.
  mutating func note(_ budget: BudgetStatus, isCutShort: Bool) {
    guard run == nil else { return }
    (runFiles, runBytes, isToldIncomplete) = (budget.files, budget.bytes, isCutShort || budget.inFlight > 0)
  }

  /// Why the run's command may have done less than it does when it is done; nil where nothing says so.
  var cutOff: String? { run?.cutOff }

  /// Whether anything before the last record is missing.
  var hasGap: Bool { continuity.lostRecords > 0 || continuity.malformedLines > 0 }

  /// Whether the daemon's own counts of the run are of all of it: no more was under way than was waited for, and no
  /// later session may be meant, which cannot be read.
  var isCountWhole: Bool {
    run?.gap == nil && !isToldIncomplete && (isSessionGiven || !continuity.isFollowedByAnotherVersion)
  }

  /// What the log has beside records, where none is missing; nil without.
  var strayLines: String? {
    let known = continuity.finished(hasEnd: isUnmounted, isSessionGiven: isSessionGiven)
    guard known.strayLines > 0, known.malformedLines == 0, max(known.lostRecords, dropped) == 0 else { return nil }
    return UnreadLines.harmless(known.strayLines)
  }

  /// Why the log does not tell all, one sentence each.
  func gaps(isMounted: Bool, lost: Int64) -> [String] {
    var gaps: [String] = []
    if session == nil { gaps.append("the log has no record of the session") }
    let known = continuity.finished(hasEnd: isUnmounted, isSessionGiven: isSessionGiven)
    let lost = max(known.lostRecords, dropped, lost)
    if lost > 0 { gaps.append("\(HumanText.count(lost, "record")) \(lost == 1 ? "is" : "are") missing") }
    if known.malformedLines > 0 {
      gaps.append(UnreadLines.unreadable(known.malformedLines, version: known.otherVersion))
    }
    if known.misplacedRecords > 0 { gaps.append(CompletenessText.misplaced(known.misplacedRecords)) }
    if runRoot != nil, run == nil, !isMounted { gaps.append("the run has no end in it") }
    if let gap = run?.gap { gaps.append(gap) }
    if !isUnmounted {
      gaps.append(
        isMounted ? "the volume is still mounted, and may have more to tell" : "it ends before the volume was unmounted"
      )
    }
    return gaps
  }
}
