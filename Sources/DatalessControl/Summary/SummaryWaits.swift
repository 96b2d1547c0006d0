/// The callers that a log says are blocked: waits that have begun and not ended.
struct SummaryWaits: Sendable {
  struct Wait: Sendable {
    var attempt: UInt64
    var process: UInt32?
    var threadID: Int32?
    var trigger: String
    var start: Int64
  }

  /// A thread waits for one thing at a time, but for its read-ahead.
  private struct Key: Hashable {
    var attempt: UInt64
    var process: UInt32?
    var threadID: Int64?
    var offset: Int64?

    init?(_ record: LogRecord) {
      guard let attempt = record.attempt else { return nil }
      self.attempt = attempt
      process = record.process
      threadID = record.json.integer("tid")
      offset = record.json.integer("offset")
    }
  }

  private var waits: [Key: [Wait]] = [:]

  mutating func begin(_ record: LogRecord) {
    guard let key = Key(record), let start = record.monotonicNanoseconds else { return }
    waits[key, default: []].append(
      Wait(
        attempt: key.attempt, process: key.process, threadID: key.threadID.flatMap { Int32(exactly: $0) },
        trigger: record.json.string("trigger") ?? "unknown", start: start))
  }

  mutating func end(_ record: LogRecord) {
    guard let key = Key(record), var same = waits.removeValue(forKey: key) else { return }
    same.removeFirst()
    if !same.isEmpty { waits[key] = same }
  }

  /// Longest first.
  var underWay: [Wait] {
    waits.values.flatMap { $0 }.sorted { ($0.start, $0.attempt) < ($1.start, $1.attempt) }
  }
}
