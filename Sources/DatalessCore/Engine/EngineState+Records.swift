internal import SystemPackage

/// What an attempt leaves behind: records, totals, budget, failures remembered for the kernel's repeats.
extension EngineState {
  func waitRecord(
    _ attempt: AttemptID, _ waiter: Waiter, _ outcome: Outcome?, _ now: MonotonicTime
  ) -> Event.WaitRecord {
    Event.WaitRecord(
      attempt: attempt.rawValue, caller: waiter.request.caller, trigger: waiter.request.trigger,
      offset: waiter.request.offset, length: waiter.request.length,
      blockedNanoseconds: outcome == nil ? nil : now - waiter.since, outcome: outcome, time: now)
  }

  func finishedEvent(
    _ attempt: Attempt, _ end: AttemptEnd, _ records: [Event.WaitRecord], _ now: MonotonicTime
  ) -> Event {
    var (held, queued, delay) = (attempt.held, attempt.queued, attempt.delay)
    // The stage in which it ended is not over by itself.
    switch attempt.stage {
    case .held: held += now - attempt.stageSince
    case .queued: queued = now - attempt.stageSince
    case .delayed: delay = now - attempt.stageSince
    case .starting, .fetching, .stuck: break
    }
    return .materializationFinished(
      Event.MaterializationFinished(
        attempt: attempt.id.rawValue, path: attempt.path, kind: attempt.kind, bytes: attempt.brought,
        entries: end.entries,
        outcome: end.outcome, message: end.message, rule: end.rule,
        requestedDelayNanoseconds: attempt.plan.requestedDelay, delayNanoseconds: delay, heldNanoseconds: held,
        queuedNanoseconds: queued, storeNanoseconds: end.storeNanoseconds,
        durationNanoseconds: now - attempt.startedAt, waiterCount: attempt.waiterCount, waiters: records, time: now))
  }

  /// A page-cache READ, or a call by path, that failed is asked for again by the kernel itself (see `RecentFailures`).
  mutating func noteFailure(_ node: NodeIndex, _ waiter: Waiter, _ error: FSError, _ now: MonotonicTime) {
    let request = waiter.request
    let id = namespace.id(of: node)
    if request.trigger == .open || request.trigger == .xattr, error.errno == .staleNFSFileHandle {
      return failures.notePath(node: id, threadID: request.caller.threadID, error: error, now: now)
    }
    guard request.io == .pageCache, let offset = request.offset, let length = request.length else { return }
    failures.note(
      RecentFailures.Key(node: id, threadID: request.caller.threadID, handle: request.handle ?? 0),
      range: offset..<max(offset, offset.addingReportingOverflow(length).partialValue), wait: request.pageWait,
      size: namespace[node].size, error: error, now: now)
  }
}
