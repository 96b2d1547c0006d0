internal import SystemPackage

/// The end of an attempt for its waiters: first all are recorded, some under each hold of the lock, then all are
/// answered. Used by the thread that ends the attempt.
final class AttemptEnding {
  let attempt: Attempt
  let end: AttemptEnd
  let result: WaitResult
  /// Whether names were looked up in a directory that is listed now: the records say what they are.
  let answersLookups: Bool
  /// The first 64 waits.
  private(set) var records: [Event.WaitRecord]
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
    waiters = attempt.takeWaiters()
    answersLookups =
      attempt.kind == .directory && end.outcome == .ok
      && waiters.contains { $0?.request.trigger == .lookup && $0?.request.name != nil }
  }

  /// The next waiter to be recorded; nil after the last.
  func nextWaiter() -> Waiter? {
    while next < waiters.count {
      next += 1
      if let waiter = waiters[next - 1] { return waiter }
    }
    return nil
  }

  /// Keeps the record of a wait for that of the end.
  func keep(_ record: Event.WaitRecord) {
    if records.count < Attempt.departedMax { records.append(record) }
  }

  func markRecorded() { isRecorded = true }

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
    // LIMIT: names that are made findable under one hold of the lock. The lookups that were waiting need them next.
    guard !ending.answersLookups || namespace.indexNames(of: attempt.node) else { return }
    for _ in 0..<Self.recordedAtOnce {
      guard let waiter = ending.nextWaiter() else {
        events.record(
          .materializationFinished(finishedRecord(attempt, ending.end, waits: ending.records, now: now)))
        ledger.countEnd(of: attempt.kind, ending.end.outcome)
        ending.markRecorded()
        return
      }
      attempts.forget(waiter.id, of: attempt.node)
      if waiter.request.isWait {
        var record = waiter.record(in: attempt.id, ending.end.outcome, now)
        if ending.answersLookups { record.lookup = answer(waiter.request, in: attempt.node) }
        events.record(.waitFinished(record))
        ending.keep(record)
      }
      if case .failed(let error) = ending.result { rememberFailure(attempt.node, waiter, error: error, now: now) }
    }
  }

  /// What a lookup finds in a directory whose names are indexed; nil for another request.
  private func answer(_ request: TriggerRequest, in directory: NodeIndex) -> Event.AnsweredLookup? {
    guard request.trigger == .lookup, let name = request.name, name.count <= Namespace.nameLengthMax else { return nil }
    guard !isDetached(directory), let found = name.withUnsafeBufferPointer({ namespace.find($0, in: directory) }) else {
      return Event.AnsweredLookup(name: name, found: .absent)
    }
    let record = namespace[namespace.record(of: found).node]
    let kind: Event.FoundName =
      switch record.kind {
      case .file: record.size > 0 ? .file : .emptyFile
      case .directory: .directory
      case .symlink: .symlink
      case .fifo, .characterDevice, .blockDevice, .socket: .special
      }
    return Event.AnsweredLookup(name: name, found: kind)
  }

  /// What the log says of an attempt's end. - Parameter waits: The first that were for it.
  private func finishedRecord(
    _ attempt: Attempt, _ end: AttemptEnd, waits: [Event.WaitRecord], now: MonotonicTime
  ) -> Event.MaterializationFinished {
    let times = attempt.times(at: now)
    return Event.MaterializationFinished(
      attempt: attempt.id.rawValue, path: attempt.path, kind: attempt.kind, bytes: attempt.brought,
      entries: end.entries, outcome: end.outcome, message: end.message, rule: end.rule,
      requestedDelay: attempt.plan.requestedDelay, delay: times.delayed,
      held: times.held, queued: times.queued, storeTime: end.storeTime,
      duration: now - attempt.startedAt, waiterCount: attempt.waiterCount, waiters: waits, time: now)
  }

  /// What failed may be asked for again by the kernel itself (see `RecentFailures`).
  mutating func rememberFailure(_ node: NodeIndex, _ waiter: Waiter, error: FSError, now: MonotonicTime) {
    failures.remember(
      waiter.request, of: namespace.id(of: node), size: namespace[node].size, error: error, now: now)
  }
}
