internal import SystemPackage

/// The calls on what is local that wait because a scenario delays them. Knows neither namespace nor clock: a call comes
/// with what the log tells of it, and goes once.
struct AccessDelays {
  /// A call that waits.
  private struct Call {
    var record: Event.AccessRecord
    var completion: @Sendable (FSError?) -> Void
    var timer: TimerToken?
  }

  /// What follows from the end of a call, after the lock is released.
  struct Ended {
    var record: Event.AccessRecord
    var timer: TimerToken?
    var completion: @Sendable (FSError?) -> Void
  }

  private var calls: [WaiterID: Call] = [:]
  private var lastNumber: UInt64 = 0
  private(set) var totals = AccessTotals()

  /// What was delayed so far was for something else.
  mutating func forgetTotals() { totals = AccessTotals() }

  /// How many calls wait now.
  var count: Int { calls.count }

  /// A number for a call about which is decided now, from 1: part of what chance is made of.
  mutating func takeNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// A call waits from now on.
  mutating func begin(
    _ record: Event.AccessRecord, _ waiter: WaiterID, completion: @escaping @Sendable (FSError?) -> Void
  ) {
    calls[waiter] = Call(record: record, completion: completion)
  }

  /// Keeps the timer that will end a call. - Returns: Whether the call has ended already: the timer is to be taken
  /// back.
  mutating func keep(_ timer: TimerToken, of waiter: WaiterID) -> Bool {
    guard calls[waiter] != nil else { return true }
    calls[waiter]?.timer = timer
    return false
  }

  /// A call waits no longer. - Returns: nil if it has ended before.
  mutating func end(_ waiter: WaiterID, outcome: Outcome, now: MonotonicTime) -> Ended? {
    guard let call = calls.removeValue(forKey: waiter) else { return nil }
    var record = call.record
    let blocked = now - record.time
    record.blocked = blocked
    record.outcome = outcome
    record.time = now
    totals.add(record.operation, blocked, isFailed: outcome != .ok)
    return Ended(record: record, timer: call.timer, completion: call.completion)
  }

  /// What is told of a call that waits; nil if it does not.
  func record(of waiter: WaiterID) -> Event.AccessRecord? { calls[waiter]?.record }

  /// Some of the calls that wait, at most so many, the oldest of these first.
  func snapshots(atMost limit: Int) -> [Event.AccessRecord] {
    calls.values.prefix(max(limit, 0)).map(\.record).sorted { $0.access < $1.access }
  }
}

/// What delays of accesses took, by operation, since the volume was mounted. Only calls that have ended count.
public struct AccessTotals: Sendable, Equatable {
  public struct Sum: Sendable, Equatable {
    public var calls: Int64 = 0
    /// Of `calls`, those that ended with an errno.
    public var failures: Int64 = 0
    public var blocked: Nanoseconds = 0
  }

  public private(set) var sums: [AccessOperation: Sum] = [:]

  mutating func add(_ operation: AccessOperation, _ blocked: Nanoseconds, isFailed: Bool) {
    var sum = sums[operation] ?? Sum()
    sum.calls += 1
    if isFailed { sum.failures += 1 }
    sum.blocked += blocked
    sums[operation] = sum
  }
}
