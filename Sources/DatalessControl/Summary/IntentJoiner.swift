import DatalessCore

/// Joins the records of each intent: for whom it waited, and how long.
///
/// Of one that was never granted no record says how much of its time it waited for others. It did for all of it if one
/// of those that kept it from being granted was still there at its end; else nobody knows.
///
/// Memory: some 200 bytes for each intent that has not ended.
public struct IntentJoiner: Sendable {
  /// Somebody for whom an intent waits.
  public struct Holder: Sendable, Equatable {
    public var intent: UInt64
    /// nil when the log does not tell.
    public var path: [UInt8]?
    public var process: UInt32?
  }

  /// That an intent waited for others.
  public struct Wait: Sendable, Equatable {
    public var intent: UInt64
    public var path: [UInt8]
    public var reads: Int64
    public var writes: Int64
    public var process: UInt32?
    /// Empty: it did not wait for anybody.
    public var holders: [Holder]
    /// CLOCK_MONOTONIC, nanoseconds.
    public var start: Int64
    /// nil when the log does not tell.
    public var nanoseconds: Int64?
    /// `granted`, or why it was not; nil while it waits.
    public var outcome: String?
  }

  /// What one record says.
  public struct Step: Sendable, Equatable {
    /// Whether no record before has told of the intent.
    public var isFirst = false
    /// Whether it is granted, or was before its end; and whether this record is the first that says so.
    public var isGranted = false
    public var becomesGranted = false
    /// Of an end without a grant: whether its turn has certainly not come, so that it neither asked presenters nor
    /// waited for content.
    public var isBeforeItsTurn = false
    /// Of one that had to wait, when that is over.
    public var wait: Wait?
  }

  private struct Entry: Sendable {
    var wait: Wait
    var isGranted = false
    /// The volume's end has ended it, which lets nobody go on.
    var isOver = false
  }

  // LIMIT: the daemon has a quarter of so many at once. Of further ones is known only what their own records say.
  private static let intentsMax = 65_536
  private static let holdersMax = 8
  private static let volumeEnded = "coordination_volume_ended"
  /// Ends of intents whose turn has not come.
  private static let refusedAtOnce: Set<String> = [
    "coordination_deadlock", "coordination_busy", "coordination_outer_not_held", "coordination_bad_path",
    "coordination_too_many_paths", "coordination_bad_request", "coordination_not_allowed",
  ]

  private var entries: [UInt64: Entry] = [:]
  /// Those that are not in `entries` for their number.
  private var untracked: Int64 = 0

  public init() {}

  /// - Returns: nil for what is no record of an intent.
  public mutating func add(_ record: LogRecord) -> Step? {
    switch record.type {
    case .coordinationStarted, .coordinationGranted, .coordinationFinished: break
    default: return nil
    }
    guard let number = record.json.unsigned("intent") else { return nil }
    switch record.type {
    case .coordinationStarted: return started(number, record)
    case .coordinationGranted: return granted(number, record)
    default: return finished(number, record)
    }
  }

  /// Intents that have not ended, in the order of their numbers.
  ///
  /// - Parameter end: Up to when those count that wait; nil in a log that has its end, where records of theirs were
  ///   lost.
  public func unfinished(at end: Int64?) -> [Step] {
    entries.filter { !$0.value.isOver }.sorted { $0.key < $1.key }.map { _, entry in
      var step = Step(isGranted: entry.isGranted)
      guard !entry.isGranted, !entry.wait.holders.isEmpty else { return step }
      var wait = entry.wait
      if let end, isKept(wait) { wait.nanoseconds = max(0, end.minus(wait.start)) }
      step.wait = wait
      return step
    }
  }

  // MARK: - Records

  private mutating func started(_ number: UInt64, _ record: LogRecord) -> Step {
    guard entries[number] == nil else { return Step() }
    var wait = Self.wait(number, record)
    let others = record.json.integers("waits_for").compactMap { UInt64(exactly: $0) }
    wait.holders = others.prefix(Self.holdersMax).map { other in
      let entry = entries[other]
      return Holder(intent: other, path: entry?.wait.path, process: entry?.wait.process)
    }
    track(number, Entry(wait: wait))
    return Step(isFirst: true)
  }

  private mutating func granted(_ number: UInt64, _ record: LogRecord) -> Step {
    guard var entry = entries[number] else {
      let isFirst = untracked == 0
      // Its beginning was lost: whether it waited for others is not known.
      if isFirst { track(number, Entry(wait: Self.wait(number, record), isGranted: true)) }
      return Step(isFirst: isFirst, isGranted: true, becomesGranted: true)
    }
    guard !entry.isGranted, !entry.isOver else { return Step(isGranted: entry.isGranted) }
    entry.isGranted = true
    entries[number] = entry
    var step = Step(isGranted: true, becomesGranted: true)
    guard !entry.wait.holders.isEmpty else { return step }
    entry.wait.nanoseconds = record.json.integer("waited_ns").map { max(0, $0) }
    entry.wait.outcome = "granted"
    step.wait = entry.wait
    return step
  }

  private mutating func finished(_ number: UInt64, _ record: LogRecord) -> Step {
    let outcome = record.outcome ?? "ended"
    let wasHeld = record.json.integer("held_ns") != nil
    guard var entry = entries[number] else {
      let isFirst = untracked == 0
      if !isFirst { untracked -= 1 }
      return Step(
        isFirst: isFirst, isGranted: wasHeld, becomesGranted: wasHeld && isFirst,
        isBeforeItsTurn: !wasHeld && Self.refusedAtOnce.contains(outcome))
    }
    guard !entry.isOver else { return Step(isGranted: entry.isGranted) }
    let becomesGranted = wasHeld && !entry.isGranted
    var step = Step(isGranted: entry.isGranted || wasHeld, becomesGranted: becomesGranted)
    if !step.isGranted {
      let isKept = isKept(entry.wait)
      step.isBeforeItsTurn = isKept || Self.refusedAtOnce.contains(outcome)
      if isKept, let end = record.monotonicNanoseconds { entry.wait.nanoseconds = max(0, end.minus(entry.wait.start)) }
    }
    // Of one whose grant was lost it is not known.
    if !entry.isGranted, !entry.wait.holders.isEmpty {
      entry.wait.outcome = becomesGranted ? "granted" : outcome
      step.wait = entry.wait
    }
    entry.isOver = outcome == Self.volumeEnded
    entries[number] = entry.isOver ? entry : nil
    return step
  }

  /// Whether one of those that it waits for is there: nobody is granted anything before these have ended.
  private func isKept(_ wait: Wait) -> Bool { wait.holders.contains { entries[$0.intent] != nil } }

  private mutating func track(_ number: UInt64, _ entry: Entry) {
    guard entries.count < Self.intentsMax else {
      untracked += 1
      return
    }
    entries[number] = entry
  }

  private static func wait(_ number: UInt64, _ record: LogRecord) -> Wait {
    let json = record.json
    return Wait(
      intent: number, path: json.path ?? [], reads: json.integer("reads") ?? 0, writes: json.integer("writes") ?? 0,
      process: record.process, holders: [], start: record.monotonicNanoseconds ?? 0)
  }
}
