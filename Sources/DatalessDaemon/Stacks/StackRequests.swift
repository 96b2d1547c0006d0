import DatalessCore
import DatalessStacks

/// Which stacks are wanted, and how far each is. Pure: calls nobody.
///
/// The capture process reads the memory of one caller at a time; what it has read is named while it reads the next one.
struct StackRequests {
  /// A caller that is blocked.
  struct Wait: Sendable, Equatable {
    /// What it waits for.
    enum Cause: Sendable, Hashable {
      case attempt(UInt64, Trigger)
      /// A call on what is local, by its number.
      case access(UInt64, AccessOperation)
    }

    var cause: Cause
    var caller: Caller
    /// Of a delayed call; an attempt's stands in its own record.
    var path: [UInt8] = []
  }

  enum Subject: Sendable, Equatable {
    case wait(Wait)
    /// Of `dataless stack`, by its number.
    case question(UInt64)
  }

  struct Order: Equatable {
    let number: UInt64
    let processID: Int32
    let threadID: Int32
  }

  /// What came of a request.
  struct Done: Equatable {
    let subject: Subject
    let answer: CaptureAnswer
    /// nil for one that was not read.
    var times: Times?
  }

  /// What a stack took.
  struct Times: Sendable, Equatable {
    /// To read the caller's memory, for which it has to be blocked.
    let reading: Nanoseconds
    /// To unwind, and to find names and lines.
    let naming: Nanoseconds
  }

  // LIMIT: requests at once; more are dropped, and each says so.
  static let countMax = 1024
  // LIMIT: captures that are being named: each has 256 KiB in the capture process.
  static let namedAtOnceMax = 32
  // LIMIT: how long reading the memory of a caller may take before its reader is left behind.
  static let readingTime = Nanoseconds.milliseconds(250)
  // LIMIT: how long an answer may take.
  static let namingTime = Nanoseconds.seconds(15)

  private enum Phase: Equatable {
    case delayed(until: MonotonicTime)
    case queued
    /// Memory is not read yet.
    case sent(until: MonotonicTime)
    case reading(until: MonotonicTime)
    case naming(until: MonotonicTime)
  }

  private struct Request {
    let subject: Subject
    let processID: Int32
    let threadID: Int32
    var phase: Phase
    var isAnswered = false
    var readingTime: Nanoseconds?
    var readAt: MonotonicTime?
  }

  private struct WaitKey: Hashable {
    let cause: Wait.Cause
    let threadID: Int32
  }

  /// A process' calls on one item.
  private struct CallKey: Hashable {
    let process: ProcessID
    let path: [UInt8]
  }

  // LIMIT: items of delayed calls that are remembered for `first`; beyond, all are forgotten, and looked at again.
  static let calledMax = 16_384

  private var policy: StackPolicy
  private var requests: [UInt64: Request] = [:]
  private var nextNumber: UInt64 = 1
  private var byWait: [WaitKey: UInt64] = [:]
  /// Whose first wait for an attempt has been seen.
  private var seen: [UInt64: Set<ProcessID>] = [:]
  /// Whose first delayed call on an item has been seen.
  private var called: Set<CallKey> = []

  init(policy: StackPolicy) { self.policy = policy }

  var isIdle: Bool { requests.isEmpty }

  mutating func setPolicy(_ policy: StackPolicy) { self.policy = policy }

  // MARK: - What happens on the volume

  /// - Parameter wanted: What a rule says; nil: it is as the policy has it.
  /// - Returns: What is over at once.
  mutating func begin(_ wait: Wait, wanted: Bool?, at now: MonotonicTime) -> Done? {
    guard let phase = phase(of: wait, wanted: wanted, now) else { return nil }
    return add(wait, phase)
  }

  /// As `begin`, for a stack that is wanted now whatever the policy is. One that is under way will do.
  mutating func want(_ wait: Wait) -> Done? {
    guard let number = byWait[WaitKey(cause: wait.cause, threadID: wait.caller.threadID)],
      let request = requests[number]
    else { return add(wait, .queued) }
    if case .delayed = request.phase { requests[number]?.phase = .queued }
    return nil
  }

  private mutating func add(_ wait: Wait, _ phase: Phase) -> Done? {
    guard wait.caller.threadID > 0, wait.caller.pid > 0 else {
      return Done(subject: .wait(wait), answer: .failure(.unknownThread))
    }
    guard requests.count < Self.countMax else { return Done(subject: .wait(wait), answer: .failure(.dropped)) }
    let number = add(.wait(wait), wait.caller.pid, wait.caller.threadID, phase)
    byWait[WaitKey(cause: wait.cause, threadID: wait.caller.threadID)] = number
    return nil
  }

  /// How a wait begins whose stack is wanted; nil for another.
  private mutating func phase(of wait: Wait, wanted: Bool?, _ now: MonotonicTime) -> Phase? {
    if let wanted { return wanted ? .queued : nil }
    switch policy {
    case .off: return nil
    case .all: return .queued
    case .first: return isFirst(wait) ? .queued : nil
    case .over(let limit): return .delayed(until: now + limit)
    }
  }

  private mutating func isFirst(_ wait: Wait) -> Bool {
    switch wait.cause {
    case .attempt(let attempt, _): return seen[attempt, default: []].insert(wait.caller.process).inserted
    case .access:
      if called.count >= Self.calledMax { called.removeAll() }
      return called.insert(CallKey(process: wait.caller.process, path: wait.path)).inserted
    }
  }

  /// The caller has its answer, and runs: nothing that is read from now on is its stack of that wait.
  mutating func end(_ cause: Wait.Cause, threadID: Int32) -> Done? {
    guard let number = byWait.removeValue(forKey: WaitKey(cause: cause, threadID: threadID)),
      let request = requests[number]
    else { return nil }
    switch request.phase {
    case .delayed:
      requests[number] = nil
      return nil
    case .queued:
      requests[number] = nil
      return Done(subject: request.subject, answer: .failure(.threadRan))
    case .sent, .reading:
      requests[number]?.isAnswered = true
      return nil
    case .naming: return nil
    }
  }

  mutating func endAttempt(_ attempt: UInt64) { seen[attempt] = nil }

  mutating func ask(_ question: UInt64, processID: Int32, threadID: Int32) -> Done? {
    guard processID > 0, threadID > 0 else {
      return Done(subject: .question(question), answer: .failure(.unknownThread))
    }
    guard requests.count < Self.countMax else {
      return Done(subject: .question(question), answer: .failure(.dropped))
    }
    _ = add(.question(question), processID, threadID, .queued)
    return nil
  }

  private mutating func add(_ subject: Subject, _ processID: Int32, _ threadID: Int32, _ phase: Phase) -> UInt64 {
    defer { nextNumber += 1 }
    requests[nextNumber] = Request(subject: subject, processID: processID, threadID: threadID, phase: phase)
    return nextNumber
  }

  // MARK: - What is to be done

  /// The next capture, when none is being read.
  mutating func next(at now: MonotonicTime) -> Order? {
    var naming = 0
    var first: UInt64?
    for (number, request) in requests {
      switch request.phase {
      case .sent, .reading: return nil
      case .naming: naming += 1
      case .delayed(let time) where time > now: break
      case .delayed, .queued: first = min(first ?? number, number)
      }
    }
    guard naming < Self.namedAtOnceMax, let number = first, let request = requests[number] else { return nil }
    requests[number]?.phase = .sent(until: now + Self.namingTime)
    return Order(number: number, processID: request.processID, threadID: request.threadID)
  }

  /// When `next` or `expire` have something to do if nothing else happens.
  var deadline: MonotonicTime? {
    let isReading = requests.values.contains {
      switch $0.phase {
      case .sent, .reading: true
      case .delayed, .queued, .naming: false
      }
    }
    return requests.values.compactMap { request -> MonotonicTime? in
      switch request.phase {
      case .delayed(let time): isReading ? nil : time
      case .sent(let time), .reading(let time), .naming(let time): time
      case .queued: nil
      }
    }.min()
  }

  /// Whether the capture process has had its time.
  func isExpired(at now: MonotonicTime) -> Bool {
    requests.values.contains {
      switch $0.phase {
      case .sent(let time), .reading(let time), .naming(let time): time <= now
      case .delayed, .queued: false
      }
    }
  }

  // MARK: - What the capture process says

  /// - Parameter answer: What the message has, if it is an answer: read before, as it can be long.
  /// - Returns: nil for what it must not say; then it has gone wrong.
  mutating func receive(_ message: StackMessage, answer: CaptureAnswer?, at now: MonotonicTime) -> [Done]? {
    guard let request = requests[message.number] else { return nil }
    switch (message.kind, request.phase) {
    case (.reading, .sent):
      requests[message.number]?.phase = .reading(until: now + Self.readingTime)
      return []
    case (.read, .reading):
      requests[message.number]?.phase = .naming(until: now + Self.namingTime)
      requests[message.number]?.readingTime = message.readingTime.map { Nanoseconds($0) }
      requests[message.number]?.readAt = now
      return []
    case (.answer, .sent), (.answer, .naming):
      guard let answer else { return nil }
      var done = finish(message.number, request.isAnswered ? .failure(.threadRan) : answer)
      if let reading = request.readingTime, let readAt = request.readAt {
        done?.times = Times(reading: reading, naming: now - readAt)
      }
      return [done].compactMap(\.self)
    default: return nil
    }
  }

  /// The capture process is gone, or was left behind: all that it had is lost.
  mutating func lose() -> [Done] {
    requests.keys.sorted().compactMap { number in
      switch requests[number]?.phase {
      case .sent, .reading: finish(number, .failure(.abandoned))
      case .naming: finish(number, .failure(.symbolsUnavailable))
      case .delayed, .queued, nil: nil
      }
    }
  }

  /// There is no capture process to be had.
  mutating func refuse(_ number: UInt64) -> Done? { finish(number, .failure(.noHelper)) }

  /// The volume ends: what has not begun never does.
  mutating func dropWaiting() -> [Done] {
    requests.keys.sorted().compactMap { number in
      switch requests[number]?.phase {
      case .delayed, .queued: finish(number, .failure(.dropped))
      case .sent, .reading, .naming, nil: nil
      }
    }
  }

  private mutating func finish(_ number: UInt64, _ answer: CaptureAnswer) -> Done? {
    guard let request = requests.removeValue(forKey: number) else { return nil }
    if case .wait(let wait) = request.subject {
      let key = WaitKey(cause: wait.cause, threadID: wait.caller.threadID)
      if byWait[key] == number { byWait[key] = nil }
    }
    return Done(subject: request.subject, answer: answer)
  }
}
