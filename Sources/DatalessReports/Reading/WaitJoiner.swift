import DatalessControl
import DatalessCore

/// Makes waits of the records of one session: their beginning, end, item and stack stand in lines of their own.
///
/// Memory: what is under way, and the newest waits that may still get their stack, which is taken while the caller
/// waits and may be written after it went on.
struct WaitJoiner: Sendable {
  private struct Attempt {
    var path: [UInt8]
    var isFile: Bool
    var waiting = 0
    var isFinished = false
    /// CLOCK_MONOTONIC of its end: nobody waits for it any longer.
    var finishedAt: Int64?
  }

  private struct Key: Hashable {
    var kind: ReportWait.Kind
    var number: UInt64?
    var process: UInt32?
    var threadID: Int64?
    var offset: Int64?
  }

  private struct StackKey: Hashable {
    var attempt: UInt64
    var process: UInt32?
    var threadID: Int64?
  }

  // LIMIT: at most 1,024 stacks wait to be taken, so a stack is never further behind its wait than this.
  static let unresolvedMax = 16_384
  private static let earlyStacksMax = 65_536

  private let unresolvedMax: Int
  private(set) var lanes = ThreadLanes()
  private(set) var stacks = StackTable()
  private var attempts: [UInt64: Attempt] = [:]
  private var begun: [Key: FirstIn<ReportWait>] = [:]
  private var earlyStacks: [StackKey: FirstIn<ReportStack>] = [:]
  /// Ended waits without a stack, in the order of their ends; nil once one got it.
  private var unresolved: [ReportWait?] = []
  private var unresolvedOfKey: [StackKey: FirstIn<Int>] = [:]
  private var dropped = 0

  /// - Parameter unresolvedMax: How many waits at least may end before the stack of one comes. Default: its limit.
  init(unresolvedMax: Int = Self.unresolvedMax) { self.unresolvedMax = unresolvedMax }

  /// - Returns: Waits of which all is known now.
  mutating func add(_ record: LogRecord) -> [ReportWait] {
    // What an intent waits for blocks no thread: `IntentTimeline` has the lanes of intents.
    if record.type == .waitStarted || record.type == .waitFinished, record.isTriggeredByIntent { return [] }
    switch record.type {
    case .materializationStarted:
      guard let id = record.attempt else { return [] }
      attempts[id] = Attempt(path: record.json.path ?? [], isFile: record.json.string("kind") != "directory")
    case .materializationFinished:
      update(record.attempt) { attempt in
        attempt.isFinished = true
        attempt.finishedAt = record.monotonicNanoseconds
      }
    case .waitStarted:
      begin(record, .wait)
      record.attempt.map { attempts[$0]?.waiting += 1 }
    case .accessStarted: begin(record, .access)
    case .waitFinished, .accessFinished: return end(record, record.type == .waitFinished ? .wait : .access)
    case .waitStack: return attach(record)
    default: break
    }
    return []
  }

  /// - Parameter end: Up to when waits count that have not ended, unless their attempt ended before; nil leaves them
  ///   out: in a log that has its end they are records that were lost.
  mutating func finish(at end: Int64?) -> [ReportWait] {
    var result = unresolved.compactMap { $0 }
    unresolved = []
    unresolvedOfKey = [:]
    guard let end else { return result }
    for wait in begun.values.flatMap(\.elements).sorted(by: { ($0.start, $0.number ?? 0) < ($1.start, $1.number ?? 0) })
    {
      var wait = wait
      wait.end = max(wait.start, end)
      wait.isUnderWay = true
      wait.outcome = ""
      wait.lane = lanes.lane(of: wait)
      if wait.kind == .wait, let attempt = wait.number {
        wait.path = attempts[attempt]?.path
        if let last = attempts[attempt]?.finishedAt { wait.end = max(wait.start, min(end, last)) }
        wait.stack =
          takeEarlyStack(
            StackKey(attempt: attempt, process: wait.process, threadID: wait.threadID)) ?? .none
      }
      result.append(wait)
    }
    begun = [:]
    return result
  }

  // MARK: - Begin and end

  private func wait(_ record: LogRecord, _ kind: ReportWait.Kind) -> (Key, ReportWait)? {
    guard let time = record.monotonicNanoseconds else { return nil }
    let json = record.json
    let isWait = kind == .wait
    let wait = ReportWait(
      kind: kind, number: isWait ? record.attempt : json.unsigned("access"), path: isWait ? nil : json.path,
      isFile: json.string("kind") != "directory",
      trigger: json.string(isWait ? "trigger" : "operation") ?? "unknown", process: record.process,
      threadID: json.integer("tid"), isMainThread: json.bool("main_thread"),
      threadName: json.name("thread_name", "thread_name_b64").map { Array($0.prefix(64)) }, start: time, end: time,
      outcome: record.outcome ?? "")
    return (
      Key(
        kind: kind, number: wait.number, process: wait.process, threadID: wait.threadID,
        offset: isWait ? json.integer("offset") : nil), wait
    )
  }

  private mutating func begin(_ record: LogRecord, _ kind: ReportWait.Kind) {
    guard let (key, wait) = wait(record, kind), wait.number != nil else { return }
    begun[key, default: FirstIn()].append(wait)
  }

  private mutating func end(_ record: LogRecord, _ kind: ReportWait.Kind) -> [ReportWait] {
    guard let (key, begun) = wait(record, kind) else { return [] }
    var wait = begun
    if let index = self.begun.index(forKey: key) {
      _ = self.begun.values[index].takeFirst()
      if self.begun.values[index].isEmpty { self.begun.remove(at: index) }
    }
    guard let blocked = record.json.integer("blocked_ns") else { return [] }
    wait.start = wait.end.minus(max(0, blocked))
    wait.lane = lanes.lane(of: wait)
    guard kind == .wait, let attempt = wait.number else { return [wait] }
    wait.path = attempts[attempt]?.path
    wait.isFile = attempts[attempt]?.isFile ?? true
    update(attempt) { $0.waiting -= 1 }
    let stackKey = StackKey(attempt: attempt, process: wait.process, threadID: wait.threadID)
    if let stack = takeEarlyStack(stackKey) {
      wait.stack = stack
      return [wait]
    }
    unresolvedOfKey[stackKey, default: FirstIn()].append(dropped + unresolved.count)
    unresolved.append(wait)
    return overflow()
  }

  /// Changes an attempt, and forgets it when it and all its waits have ended.
  private mutating func update(_ id: UInt64?, _ change: (inout Attempt) -> Void) {
    guard let id, var attempt = attempts[id] else { return }
    change(&attempt)
    attempts[id] = attempt.isFinished && attempt.waiting <= 0 ? nil : attempt
  }

  // MARK: - Stacks

  private mutating func attach(_ record: LogRecord) -> [ReportWait] {
    // Of a delayed call, too: a wait with the same stack refers to the first record that has it.
    let stack = stacks.stack(of: record)
    guard let attempt = record.attempt else { return [] }
    let key = StackKey(attempt: attempt, process: record.process, threadID: record.json.integer("tid"))
    if let index = unresolvedOfKey.index(forKey: key), let number = unresolvedOfKey.values[index].takeFirst() {
      if unresolvedOfKey.values[index].isEmpty { unresolvedOfKey.remove(at: index) }
      guard var wait = unresolved[number - dropped] else { return [] }
      unresolved[number - dropped] = nil
      wait.stack = stack
      return [wait]
    }
    if earlyStacks.count < Self.earlyStacksMax { earlyStacks[key, default: FirstIn()].append(stack) }
    return []
  }

  private mutating func takeEarlyStack(_ key: StackKey) -> ReportStack? {
    guard let index = earlyStacks.index(forKey: key) else { return nil }
    let stack = earlyStacks.values[index].takeFirst()
    if earlyStacks.values[index].isEmpty { earlyStacks.remove(at: index) }
    return stack
  }

  /// The oldest waits when there are too many: their stack would have come by now. In pieces, so that the array is
  /// not moved for each.
  private mutating func overflow() -> [ReportWait] {
    guard unresolved.count >= 2 * unresolvedMax else { return [] }
    let old = unresolved.prefix(unresolvedMax).compactMap { $0 }
    unresolved.removeFirst(unresolvedMax)
    dropped += unresolvedMax
    for wait in old {
      guard let attempt = wait.number else { continue }
      let key = StackKey(attempt: attempt, process: wait.process, threadID: wait.threadID)
      guard let index = unresolvedOfKey.index(forKey: key) else { continue }
      while let first = unresolvedOfKey.values[index].first, first < dropped {
        _ = unresolvedOfKey.values[index].takeFirst()
      }
      if unresolvedOfKey.values[index].isEmpty { unresolvedOfKey.remove(at: index) }
    }
    return old
  }
}
