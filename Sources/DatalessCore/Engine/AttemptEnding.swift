internal import SystemPackage

/// The end of an attempt for its waiters: first all are recorded, some under each hold of the lock, then all are answered.
/// Used by the thread that ends the attempt.
final class AttemptEnding {
  let attempt: Attempt
  let end: AttemptEnd
  let result: WaitResult
  /// The first 64 waits.
  var records: [Event.WaitRecord]
  /// Whether all is recorded, and the waiters are to be answered.
  private(set) var isRecorded = false
  private let waiters: [Waiter?]
  private var next = 0

  init(_ attempt: Attempt, _ end: AttemptEnd) {
    self.attempt = attempt
    self.end = end
    switch end.outcome {
    case .ok: result = .ready
    case .cancelled: result = .failed(FSError(.interrupted, "the attempt was cancelled"))
    case .failed(let errno): result = .failed(FSError(errno, end.message ?? "materialization failed"))
    }
    records = attempt.departed
    waiters = attempt.waiters.takeAll()
  }

  /// The next waiter to be recorded; nil after the last.
  func nextWaiter() -> Waiter? {
    while next < waiters.count {
      next += 1
      if let waiter = waiters[next - 1] { return waiter }
    }
    return nil
  }

  func noteRecorded() { isRecorded = true }

  /// Lookups before directory reads: a lookup's answer never waits for a readdir caller (docs/ARCHITECTURE.md, R4).
  func answer() {
    for isListing in [false, true] {
      for case let waiter? in waiters where (waiter.request.trigger == .readdir) == isListing {
        waiter.completion(result)
      }
    }
  }
}

extension EngineState {
  /// LIMIT: waiters recorded under one hold of the lock: about 100 us.
  private static let recordedAtOnce = 64

  /// Records some of the waits that an attempt's end ends; with the last of them the end itself, with totals.
  mutating func record(_ ending: AttemptEnding, _ now: MonotonicTime) {
    guard !ending.isRecorded else { return }
    let attempt = ending.attempt
    for _ in 0..<Self.recordedAtOnce {
      guard let waiter = ending.nextWaiter() else {
        events.record(finishedEvent(attempt, ending.end, ending.records, now))
        ledger.countEnd(of: attempt.kind, ending.end.outcome)
        ending.noteRecorded()
        return
      }
      removePlace(of: waiter.id, attempt.node)
      let record = waitRecord(attempt.id, waiter, ending.end.outcome, now)
      events.record(.waitFinished(record))
      if ending.records.count < 64 { ending.records.append(record) }
      if case .failed(let error) = ending.result { noteFailure(attempt.node, waiter, error, now) }
    }
  }

  /// A waiter waits no more.
  @discardableResult
  mutating func removePlace(of waiter: WaiterID, _ node: NodeIndex) -> WaiterPlace? {
    guard let place = attemptOfWaiter.removeValue(forKey: waiter) else { return nil }
    if let page = place.page { pageWaiters[node]?.remove(waiter, at: page) }
    return place
  }
}

/// Where a caller waits.
struct WaiterPlace {
  let attempt: AttemptID
  let slot: Int
  /// The page under which he is found when it arrives.
  var page: Int64?
}
