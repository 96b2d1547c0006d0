import DatalessCore
import DatalessStacks
import HeapModule

/// Which stacks are wanted, and how far each is. Pure: calls nobody.
///
/// The capture process reads the memory of one caller at a time; what it has read is named while it reads the next one.
struct StackRequests {
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

    /// Whether its turn has not come yet.
    var isWaiting: Bool {
      switch phase {
      case .delayed, .queued: true
      case .sent, .reading, .naming: false
      }
    }
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
  private struct Delay: Comparable {
    let time: MonotonicTime
    let number: UInt64

    static func < (left: Delay, right: Delay) -> Bool { left.time < right.time }
    static func == (left: Delay, right: Delay) -> Bool { left.time == right.time }
  }

  private var requests: [UInt64: Request] = [:]
  private var nextNumber: UInt64 = 1
  // All of them are looked at under the engine's lock, so none of it goes through all requests.
  /// Waits that are not wanted yet; some that have ended may be among them, but not in front.
  private var delays = Heap<Delay>()
  /// Whose turn it is next, by their numbers; what has ended, or was sent, may be among them.
  private var queue = Heap<UInt64>()
  /// The one that is `sent` or `reading`.
  private var atReader: UInt64?
  private var named: Set<UInt64> = []
  private var byWait: [WaitKey: UInt64] = [:]
  /// Whose first wait for an attempt has been seen.
  private var seen: [UInt64: Set<ProcessID>] = [:]
  /// Whose first delayed call on an item has been seen.
  private var called: Set<CallKey> = []

  /// What is over, and was told to nobody yet.
  private var undelivered = 0

  init(policy: StackPolicy) { self.policy = policy }

  /// Whether nothing is under way, and all that is over was told.
  var isIdle: Bool { requests.isEmpty && undelivered == 0 }

  /// What was over was told to whoever wants to know: each `Done` that a verb has returned counts until then.
  mutating func delivered(_ count: Int) { undelivered -= count }

  private mutating func over(_ subject: Subject, _ answer: CaptureAnswer) -> Done {
    undelivered += 1
    return Done(subject: subject, answer: answer)
  }

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
    if case .delayed = request.phase {
      requests[number]?.phase = .queued
      queue.insert(number)
      dropEndedDelays()
    }
    return nil
  }

  private mutating func add(_ wait: Wait, _ phase: Phase) -> Done? {
    guard wait.caller.threadID > 0, wait.caller.pid > 0 else {
      return over(.wait(wait), .failure(.unknownThread))
    }
    guard requests.count < Self.countMax else { return over(.wait(wait), .failure(.dropped)) }
    let number = add(.wait(wait), wait.caller.pid, threadID: wait.caller.threadID, phase: phase)
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
      dropEndedDelays()
      return nil
    case .queued:
      requests[number] = nil
      return over(request.subject, .failure(.threadRan))
    case .sent, .reading:
      requests[number]?.isAnswered = true
      return nil
    case .naming: return nil
    }
  }

  mutating func endAttempt(_ attempt: UInt64) { seen[attempt] = nil }

  mutating func ask(_ question: UInt64, processID: Int32, threadID: Int32) -> Done? {
    guard processID > 0, threadID > 0 else {
      return over(.question(question), .failure(.unknownThread))
    }
    guard requests.count < Self.countMax else {
      return over(.question(question), .failure(.dropped))
    }
    _ = add(.question(question), processID, threadID: threadID, phase: .queued)
    return nil
  }

  private mutating func add(_ subject: Subject, _ processID: Int32, threadID: Int32, phase: Phase) -> UInt64 {
    defer { nextNumber += 1 }
    requests[nextNumber] = Request(subject: subject, processID: processID, threadID: threadID, phase: phase)
    if case .delayed(let time) = phase {
      delays.insert(Delay(time: time, number: nextNumber))
    } else {
      queue.insert(nextNumber)
    }
    return nextNumber
  }

  private func isDelayed(_ number: UInt64) -> Bool {
    if case .delayed = requests[number]?.phase { true } else { false }
  }

  /// Those in front, and all when they are the greater part.
  private mutating func dropEndedDelays() {
    while let first = delays.min, !isDelayed(first.number) { _ = delays.removeMin() }
    guard delays.count > 2 * requests.count + Self.countMax else { return }
    delays = Heap(delays.unordered.filter { isDelayed($0.number) })
  }

  // MARK: - What is to be done

  /// The next capture, when none is being read.
  mutating func next(at now: MonotonicTime) -> Order? {
    guard atReader == nil, named.count < Self.namedAtOnceMax else { return nil }
    while let delay = delays.min, delay.time <= now {
      _ = delays.removeMin()
      if isDelayed(delay.number) { queue.insert(delay.number) }
    }
    dropEndedDelays()
    while let number = queue.popMin() {
      guard let request = requests[number], request.isWaiting else { continue }
      requests[number]?.phase = .sent(until: now + Self.namingTime)
      atReader = number
      return Order(number: number, processID: request.processID, threadID: request.threadID)
    }
    return nil
  }

  /// Whether there is something to do for who would look again at a time only; nil: not at all.
  func isLookWanted(before time: MonotonicTime?) -> Bool {
    guard atReader == nil else { return false }
    if !queue.isEmpty, named.count < Self.namedAtOnceMax { return true }
    guard let first = delays.min else { return false }
    return time.map { first.time < $0 } ?? true
  }

  /// Until when what the capture process has may take.
  private var limits: [MonotonicTime] {
    ([atReader].compactMap(\.self) + named).compactMap { number in
      switch requests[number]?.phase {
      case .sent(let time), .reading(let time), .naming(let time): time
      case .delayed, .queued, nil: nil
      }
    }
  }

  /// When `next` or `expire` have something to do if nothing else happens.
  var deadline: MonotonicTime? {
    let delay = atReader == nil ? delays.min?.time : nil
    return (limits + [delay].compactMap(\.self)).min()
  }

  /// Whether the capture process has had its time.
  func isExpired(at now: MonotonicTime) -> Bool { limits.contains { $0 <= now } }

  // MARK: - What the capture process says

  /// - Parameter answer: What the message has, if it is an answer: read before, as it can be long.
  /// - Returns: nil for what it must not say; then it has gone wrong.
  mutating func receive(_ message: StackMessage, answer: CaptureAnswer?, at now: MonotonicTime) -> [Done]? {
    guard let request = requests[message.number] else { return nil }
    switch (message.kind, request.phase) {
    case (.reading, .sent):
      requests[message.number]?.phase = .reading(until: now + Self.readingTime)
      return []
    case (.identifying, .reading):
      requests[message.number]?.phase = .sent(until: now + Self.namingTime)
      return []
    case (.read, .reading):
      requests[message.number]?.phase = .naming(until: now + Self.namingTime)
      atReader = nil
      named.insert(message.number)
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
    if atReader == number { atReader = nil }
    named.remove(number)
    if case .wait(let wait) = request.subject {
      let key = WaitKey(cause: wait.cause, threadID: wait.caller.threadID)
      if byWait[key] == number { byWait[key] = nil }
    }
    return over(request.subject, answer)
  }
}
