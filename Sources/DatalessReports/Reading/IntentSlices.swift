import DatalessControl
import DatalessCore

/// The time of intents in pieces, for a trace: from when each was asked for until it was granted, or given up, and from
/// its grant until its end.
///
/// Memory: some 200 bytes for each intent that has not ended.
struct IntentSlices: Sendable {
  struct Slice: Sendable {
    var intent: UInt64
    /// In the log's numbers; nil when it does not tell.
    var process: UInt32?
    var path: [UInt8]
    /// The first eight, where it has several.
    var names: [[UInt8]]
    var reads: Int64
    var writes: Int64
    var options: [String]
    var within: UInt64?
    /// Whether it is granted by then; else it is asked for.
    var isGranted = false
    /// CLOCK_MONOTONIC, nanoseconds.
    var start: Int64
    var end: Int64
    /// How the piece ended: `granted`, or as the record of the intent's end has it; nil for what is under way, or when
    /// the log does not tell.
    var outcome: String?
    /// Of what is asked for: what of it was for others, for presenters and for content, where the log tells.
    var waited: Int64?
    var asking: Int64?
    var materializing: Int64?
  }

  /// That a presenter has answered, or has not.
  struct Answer: Sendable {
    var presenter: UInt64
    var intent: UInt64?
    var process: UInt32?
    var path: [UInt8]
    var what: String
    var took: Int64
    var outcome: String
    var time: Int64

    /// - Returns: nil for another record.
    init?(_ record: LogRecord) {
      let json = record.json
      guard record.type == .presenterAnswered, let presenter = json.unsigned("presenter"),
        let time = record.monotonicNanoseconds
      else { return nil }
      (self.presenter, intent, process) = (presenter, json.unsigned("intent"), record.process)
      (path, what) = (json.path ?? [], json.string("what") ?? "")
      (took, outcome) = (max(0, json.integer("took_ns") ?? 0), record.outcome ?? "")
      self.time = time
    }
  }

  // LIMIT: as `IntentJoiner`. Of further ones is known only what their own records say.
  private static let intentsMax = 65_536
  // LIMIT: the daemon writes no more names, and there are fewer options.
  private static let namesMax = 8

  private var entries: [UInt64: Slice] = [:]
  /// Those that are not in `entries` for their number.
  private var untracked: Int64 = 0

  /// - Returns: What has ended with the record, the earlier first.
  mutating func add(_ record: LogRecord) -> [Slice] {
    switch record.type {
    case .coordinationStarted, .coordinationGranted, .coordinationFinished: break
    default: return []
    }
    guard let number = record.json.unsigned("intent"), let time = record.monotonicNanoseconds else { return [] }
    switch record.type {
    case .coordinationGranted: return granted(number, record, at: time)
    case .coordinationFinished: return finished(number, record, at: time)
    default:
      if entries[number] == nil { track(Self.slice(number, record, at: time)) }
      return []
    }
  }

  /// What has not ended, in the order of the intents.
  ///
  /// - Parameter end: Up to when it counts; nil in a log that has its end, where records were lost: then nobody knows.
  func unfinished(at end: Int64?) -> [Slice] {
    entries.values.sorted { $0.intent < $1.intent }.map { slice in
      var slice = slice
      slice.end = max(slice.start, end ?? slice.start)
      return slice
    }
  }

  private mutating func granted(_ number: UInt64, _ record: LogRecord, at time: Int64) -> [Slice] {
    let json = record.json
    var slice = entries[number] ?? Self.slice(number, record, at: time)
    guard !slice.isGranted else { return [] }
    (slice.waited, slice.asking) = (json.integer("waited_ns"), json.integer("asking_ns"))
    slice.materializing = json.integer("materializing_ns")
    if entries[number] == nil {
      // Its beginning was lost: it is known by what it took.
      let took: Int64 = [slice.waited, slice.asking, slice.materializing].reduce(0) { $0.plus(max(0, $1 ?? 0)) }
      slice.start = time.minus(took)
    }
    (slice.end, slice.outcome) = (max(slice.start, time), "granted")
    var held = Self.slice(number, record, at: time)
    held.isGranted = true
    if entries[number] != nil || untracked == 0 { track(held) }
    return [slice]
  }

  private mutating func finished(_ number: UInt64, _ record: LogRecord, at time: Int64) -> [Slice] {
    let outcome = record.outcome ?? "ended"
    let held = record.json.integer("held_ns").map { max(0, $0) }
    let known = entries.removeValue(forKey: number)
    let isUntracked = known == nil && untracked > 0
    if isUntracked { untracked -= 1 }
    var slice = known ?? Self.slice(number, record, at: time.minus(held ?? 0))
    if slice.isGranted || held == nil {
      (slice.end, slice.outcome) = (max(slice.start, time), outcome)
      return [slice]
    }
    // Its grant was lost, or it is not tracked, and its grant was told.
    (slice.end, slice.outcome) = (max(slice.start, time.minus(held ?? 0)), "granted")
    var last = slice
    (last.isGranted, last.start, last.end, last.outcome) = (true, slice.end, max(slice.end, time), outcome)
    return isUntracked ? [last] : [slice, last]
  }

  private mutating func track(_ slice: Slice) {
    guard entries.count < Self.intentsMax || entries[slice.intent] != nil else {
      untracked += 1
      return
    }
    entries[slice.intent] = slice
  }

  private static func slice(_ number: UInt64, _ record: LogRecord, at time: Int64) -> Slice {
    let json = record.json
    return Slice(
      intent: number, process: record.process, path: json.path ?? [], names: Array(json.names.prefix(namesMax)),
      reads: json.integer("reads") ?? 0, writes: json.integer("writes") ?? 0,
      options: Array(json.strings("options").prefix(namesMax)), within: json.unsigned("within"), start: time, end: time)
  }
}
