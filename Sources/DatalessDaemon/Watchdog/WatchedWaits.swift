import DatalessCore
import HeapModule
import SystemPackage

/// The main threads that wait, and how far the watchdog is with each. Pure: calls nobody, and knows no clock.
struct WatchedWaits {
  /// A main thread that is blocked.
  struct Wait: Sendable, Equatable {
    typealias Cause = StackRequests.Wait.Cause

    /// What it waits for.
    var cause: Cause
    var caller: Caller
    /// nil when the attempt began before the watchdog was on.
    var path: [UInt8]?
    var since: MonotonicTime
    /// In force when the wait began.
    var policy: WatchdogPolicy

    var key: Key { Key(cause: cause, threadID: caller.threadID) }
  }

  struct Key: Hashable {
    let cause: Wait.Cause
    let threadID: Int32
  }

  enum Step: Equatable {
    /// It has waited for as long as it may.
    case expired(Wait)
    /// Its stack is taken, or has had its time.
    case signal(Wait)
    /// It has ended before its signal, and gets none.
    case spared(Wait)
    /// It got its signal, and waits on, or has ended otherwise than by it.
    case survived(Wait)
  }

  private enum Phase {
    case waiting, expired, stacked, signalled, settled
  }

  private struct Watched {
    let wait: Wait
    var phase = Phase.waiting
    /// When it was sent its signal.
    var signalled: MonotonicTime?
  }

  private struct Entry: Comparable {
    let time: MonotonicTime
    let key: Key
    let phase: Phase

    static func < (left: Entry, right: Entry) -> Bool { left.time < right.time }
    static func == (left: Entry, right: Entry) -> Bool { left.time == right.time }
  }

  // LIMIT: what is looked at at once, so that the timer's thread is soon free for others.
  static let batch = 64
  // LIMIT: how long a stack may take before the signal goes without it. On an idle machine it takes 1 ms; beside a
  // build on all cores seconds, and a process that is ended without its stack is a finding without a culprit.
  static let stackTime = Nanoseconds.seconds(10)
  /// How long after its signal a process that waits on counts as kept alive by a handler.
  static let survivalTime = Nanoseconds.seconds(1)
  /// How long after its signal a wait has to end otherwise than by it to prove the same: a signal that ends its process
  /// is noticed 100 ms after it at the latest, and an answer may come in between.
  static let proofTime = Nanoseconds.milliseconds(250)
  /// Places of what ended that are kept in any case.
  private static let emptyPlacesMax = 1024

  private var policy: WatchdogPolicy?
  private var waits: [Key: Watched] = [:]
  private var paths: [UInt64: [UInt8]] = [:]
  private var times = Heap<Entry>()
  /// When the next look is planned; nil: not at all.
  private var planned: MonotonicTime?

  init(policy: WatchdogPolicy?) { self.policy = policy }

  /// Waits that go on, and places for looks at them.
  var counts: (waits: Int, places: Int) { (waits.count, times.count) }

  /// Holds for waits that begin from now on.
  mutating func setPolicy(_ policy: WatchdogPolicy?) {
    self.policy = policy
    if policy == nil { paths = [:] }
  }

  // MARK: - What happens on the volume

  mutating func beginAttempt(_ attempt: UInt64, path: [UInt8]) {
    if policy != nil { paths[attempt] = path }
  }

  mutating func endAttempt(_ attempt: UInt64) { paths[attempt] = nil }

  /// - Parameter path: Of a delayed call; of an attempt it is known already.
  /// - Returns: When to look, unless a look is planned that is not later.
  mutating func begin(
    _ cause: Wait.Cause, caller: Caller, path: [UInt8]? = nil, at now: MonotonicTime
  ) -> MonotonicTime? {
    guard let policy, caller.isMainThread, caller.pid > 0, caller.pid == caller.threadID else { return nil }
    var path = path
    if case .attempt(let attempt, let trigger) = cause {
      // `dataless materialize` waits for no program.
      guard trigger != .command, trigger != .eager else { return nil }
      path = paths[attempt]
    }
    let wait = Wait(cause: cause, caller: caller, path: path, since: now, policy: policy)
    waits[wait.key] = Watched(wait: wait)
    return plan(wait.key, .waiting, at: now + policy.mainThread)
  }

  /// It has its answer, or is about to have it.
  ///
  /// - Returns: What that says of a process that was to be ended.
  mutating func end(_ cause: Wait.Cause, threadID: Int32, outcome: Outcome?, at now: MonotonicTime) -> Step? {
    guard let ended = waits.removeValue(forKey: Key(cause: cause, threadID: threadID)) else { return nil }
    if times.count > 2 * waits.count + Self.emptyPlacesMax {
      let waits = waits
      times = Heap(times.unordered.filter { waits[$0.key]?.phase == $0.phase })
    }
    switch ended.phase {
    case .stacked: return .spared(ended.wait)
    case .signalled:
      guard let signalled = ended.signalled, now - signalled >= Self.proofTime else { return nil }
      return Self.mayBeBySignal(outcome) ? nil : .survived(ended.wait)
    case .waiting, .expired, .settled: return nil
    }
  }

  private static func mayBeBySignal(_ outcome: Outcome?) -> Bool {
    switch outcome {
    case .ok: false
    case .failed(let errno): errno == .interrupted
    case .cancelled, nil: true
    }
  }

  func isBlocked(_ key: Key) -> Bool { waits[key] != nil }

  // MARK: - What is to be done

  /// What is due, at most 64 steps, and when to look again.
  ///
  /// - Parameter time: For when the look was planned: where an earlier one was planned since, that one has planned all
  ///   that follow, and this one is none.
  mutating func look(planned time: MonotonicTime, at now: MonotonicTime) -> (steps: [Step], next: MonotonicTime?) {
    guard time == planned else { return ([], nil) }
    var steps: [Step] = []
    while steps.count < Self.batch, let first = times.min, first.time <= now {
      _ = times.removeMin()
      guard let watched = waits[first.key], watched.phase == first.phase else { continue }
      let wait = watched.wait
      switch watched.phase {
      case .waiting:
        waits[first.key]?.phase = .expired
        steps.append(.expired(wait))
      case .stacked:
        waits[first.key]?.phase = .settled
        steps.append(.signal(wait))
      case .signalled:
        waits[first.key]?.phase = .settled
        steps.append(.survived(wait))
      case .expired, .settled: break
      }
    }
    planned = times.min?.time
    return (steps, planned)
  }

  /// Its stack is being taken, and then it gets its signal. - Returns: As `begin`.
  mutating func awaitStack(_ key: Key, at now: MonotonicTime) -> MonotonicTime? {
    guard waits[key]?.phase == .expired else { return nil }
    waits[key]?.phase = .stacked
    return plan(key, .stacked, at: now + Self.stackTime)
  }

  /// - Returns: As `begin`.
  mutating func stackTaken(_ key: Key, at now: MonotonicTime) -> MonotonicTime? {
    guard waits[key]?.phase == .stacked else { return nil }
    return plan(key, .stacked, at: now)
  }

  /// It was sent its signal. - Returns: As `begin`.
  mutating func signalled(_ key: Key, at now: MonotonicTime) -> MonotonicTime? {
    guard waits[key] != nil else { return nil }
    waits[key]?.phase = .signalled
    waits[key]?.signalled = now
    return plan(key, .signalled, at: now + Self.survivalTime)
  }

  private mutating func plan(_ key: Key, _ phase: Phase, at time: MonotonicTime) -> MonotonicTime? {
    times.insert(Entry(time: time, key: key, phase: phase))
    if let planned, planned <= time { return nil }
    planned = time
    return time
  }
}
