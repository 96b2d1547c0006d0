extension SummaryBuilder {
  /// Waits that have not ended are told one by one up to this number.
  private static let waitingMax = 64

  mutating func waitFinished(_ record: LogRecord) {
    waits.end(record)
    guard let blocked = record.json.integer("blocked_ns"), let end = record.monotonicNanoseconds else { return }
    count(
      CountedWait(
        attempt: record.attempt, process: record.process,
        threadID: record.json.integer("tid").flatMap { Int32(exactly: $0) },
        trigger: record.json.string("trigger") ?? "unknown",
        isMainThread: record.json.bool("main_thread"), start: end.minus(blocked), end: end, isUnderWay: false))
    if let id = record.attempt { update(attempt: id) { $0.waiting -= 1 } }
  }

  /// Counts waits that have not ended up to a time, or to the end of the attempt that was waited for.
  mutating func endWaits(at end: Int64) {
    let underWay = waits.underWay
    guard !underWay.isEmpty else { return }
    noteTime(end)
    for wait in underWay {
      let blocked = max(0, min(end, attempts[wait.attempt]?.finishedAt ?? end).minus(wait.start))
      let counted = CountedWait(
        attempt: wait.attempt, process: wait.process, threadID: wait.threadID, trigger: wait.trigger,
        isMainThread: wait.isMainThread, start: wait.start, end: wait.start.plus(blocked), isUnderWay: true)
      count(counted)
      guard !counted.isOfIntent, report.waiting.count < Self.waitingMax else { continue }
      let process = wait.process.flatMap { processes[$0] }
      let (path, base64) = SummaryReport.split(attempts[wait.attempt]?.path ?? [])
      report.waiting.append(
        SummaryReport.Waiting(
          attempt: wait.attempt, path: path, pathBase64: base64, trigger: wait.trigger, pid: process?.pid,
          tid: wait.threadID,
          comm: process?.comm.map { String(decoding: $0, as: UTF8.self) },
          script: process?.script.map { String(decoding: $0, as: UTF8.self) }, threadName: wait.threadName,
          blockedNanoseconds: blocked))
    }
  }

  private mutating func count(_ wait: CountedWait) {
    coordination.waited(wait)
    // The section on coordination has it: it is in no sum of what somebody was blocked for.
    guard !wait.isOfIntent else { return }
    let blocked = wait.blocked
    report.blocked.add(blocked, isUnderWay: wait.isUnderWay)
    wall.insert(from: wait.start, to: wait.end)
    groups.waited(wait, processes)
    let attempt = wait.attempt.flatMap { attempts[$0] }
    mainThread.add(wait, path: attempt?.path, processes)
    sections.current.blockedNanoseconds = sections.current.blockedNanoseconds.plus(blocked)
    guard let attempt else { return }
    topLevel[attempt.topLevel].blockedNanoseconds = topLevel[attempt.topLevel].blockedNanoseconds.plus(blocked)
    if attempt.isFile { files.waited(attempt.row, attempt.path, nanoseconds: blocked, isUnderWay: wait.isUnderWay) }
  }

  /// Changes an attempt, and forgets it when it and all its waits have ended.
  mutating func update(attempt id: UInt64, _ body: (inout Attempt) -> Void) {
    guard let place = attempts.index(forKey: id) else { return }
    body(&attempts.values[place])
    if attempts.values[place].isFinished, attempts.values[place].waiting <= 0 { attempts.remove(at: place) }
  }

  mutating func handleTold(_ record: LogRecord, isOpen: Bool) {
    guard let handle = HandleRecord(record) else { return }
    let groups = handle.readers.map { self.groups.index(of: $0.process, processes) }
    files.told(handle, isOpen: isOpen, groups: groups, by: handle.readers.map { process($0.process) })
  }

  func process(_ id: UInt32?) -> FileSummary.Process? { processes.short(id) }
}

/// The callers that a log says are blocked: waits that have begun and not ended.
struct SummaryWaits: Sendable {
  struct Wait: Sendable {
    var attempt: UInt64
    var process: UInt32?
    var threadID: Int32?
    /// At most 64 bytes.
    var threadName: String?
    var trigger: String
    /// nil where the log does not say.
    var isMainThread: Bool?
    var start: Int64
  }

  /// A thread waits for one thing at a time, but for its read-ahead.
  private struct Key: Hashable {
    var attempt: UInt64
    var process: UInt32?
    var threadID: Int64?
    var offset: Int64?

    /// Among those of one attempt.
    var order: (Int64, Int64, Int64) { (process.map { Int64($0) } ?? -1, threadID ?? -1, offset ?? -1) }

    init?(_ record: LogRecord) {
      guard let attempt = record.attempt else { return nil }
      self.attempt = attempt
      process = record.process
      threadID = record.json.integer("tid")
      offset = record.json.integer("offset")
    }
  }

  /// Waits with one key, the oldest first, of which those at the front have ended. A log may have a million of them.
  private struct Queue {
    var waits: [Wait] = []
    var ended = 0

    mutating func endFirst() {
      ended += 1
      guard ended > waits.count / 2 else { return }
      waits.removeFirst(ended)
      ended = 0
    }
  }

  private var queues: [Key: Queue] = [:]

  mutating func begin(_ record: LogRecord) {
    guard let key = Key(record), let start = record.monotonicNanoseconds else { return }
    queues[key, default: Queue()].waits.append(
      Wait(
        attempt: key.attempt, process: key.process, threadID: key.threadID.flatMap { Int32(exactly: $0) },
        threadName: record.json.string("thread_name").map { String($0.prefix(64)) },
        trigger: record.json.string("trigger") ?? "unknown", isMainThread: record.json.bool("main_thread"),
        start: start))
  }

  mutating func end(_ record: LogRecord) {
    guard let key = Key(record), let index = queues.index(forKey: key) else { return }
    queues.values[index].endFirst()
    if queues.values[index].waits.isEmpty { queues.remove(at: index) }
  }

  /// Longest first, and always in the same order.
  var underWay: [Wait] {
    let waits = queues.flatMap { key, queue in queue.waits.dropFirst(queue.ended).map { (key, $0) } }
    let sorted = waits.sorted { one, other in
      let (left, right) = ((one.1.start, one.0.attempt), (other.1.start, other.0.attempt))
      return left == right ? one.0.order < other.0.order : left < right
    }
    return sorted.map(\.1)
  }
}
