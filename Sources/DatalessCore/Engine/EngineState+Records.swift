internal import SystemPackage

/// What an attempt leaves behind: records, totals, budget, failures remembered for the kernel's repeats.
extension EngineState {
  func waitRecord(
    _ attempt: UInt64, _ waiter: Waiter, _ outcome: Outcome?, _ now: MonotonicTime
  ) -> Event.WaitRecord {
    Event.WaitRecord(
      attempt: attempt, caller: waiter.request.caller, trigger: waiter.request.trigger,
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
        attempt: attempt.id, path: attempt.path, kind: attempt.kind, bytes: end.bytes, entries: end.entries,
        outcome: end.outcome, message: end.message, rule: end.rule,
        requestedDelayNanoseconds: attempt.plan.requestedDelay, delayNanoseconds: delay, heldNanoseconds: held,
        queuedNanoseconds: queued, storeNanoseconds: end.storeNanoseconds,
        durationNanoseconds: now - attempt.startedAt, waiterCount: attempt.waiterCount, waiters: records, time: now))
  }

  /// A page-cache READ, or a call by path, that failed is asked for again by the kernel itself (see `RecentFailures`).
  mutating func noteFailure(_ node: Int, _ waiter: Waiter, _ error: FSError, _ now: MonotonicTime) {
    let request = waiter.request
    if request.trigger == .open || request.trigger == .xattr, error.errno == .staleNFSFileHandle {
      return failures.notePath(node: node, threadID: request.caller.threadID, error: error, now: now)
    }
    guard request.io == .pageCache, let offset = request.offset, let length = request.length else { return }
    failures.note(
      RecentFailures.Key(node: node, threadID: request.caller.threadID, handle: request.handle ?? 0),
      range: offset..<max(offset, offset.addingReportingOverflow(length).partialValue), wait: request.pageWait,
      size: catalog.inodes[node].size, error: error, now: now)
  }

  /// Totals, and the budget of `dataless run`: exceeded once for each budget, by the attempt that crossed it.
  mutating func count(_ attempt: Attempt, _ end: AttemptEnd, _ culprit: Caller?, _ now: MonotonicTime) {
    switch end.outcome {
    case .failed: totals.failures += 1
    case .cancelled: totals.cancelled += 1
    case .ok:
      guard attempt.kind == .file else {
        totals.directories += 1
        return
      }
      // A file that comes in parts is one file, and each part's bytes count.
      if attempt.isFirst { totals.files += 1 }
      totals.bytes = totals.bytes.saturatingAdd(end.bytes)
      guard attempt.isBudgeted else { return }
      if attempt.isFirst { totals.budgetedFiles += 1 }
      totals.budgetedBytes = totals.budgetedBytes.saturatingAdd(end.bytes)
      if let culprit { checkBudget(attempt, culprit, now) }
    }
  }

  private mutating func checkBudget(_ attempt: Attempt, _ culprit: Caller, _ now: MonotonicTime) {
    for (name, limit, used) in [
      ("files", budget.maxFiles, totals.budgetedFiles),
      ("bytes", budget.maxBytes, totals.budgetedBytes),
    ] {
      guard let limit, used > limit, !totals.exceeded.contains(where: { $0.budget == name }) else { continue }
      let exceeded = Event.BudgetExceeded(
        budget: name, limit: limit, used: used, attempt: attempt.id, path: attempt.path, caller: culprit,
        time: now)
      totals.exceeded.append(exceeded)
      events.record(.budgetExceeded(exceeded))
    }
  }
}

extension Int64 {
  /// The sum of two numbers that are not negative, or the largest number: sizes may be absurd, sums must not trap or wrap.
  fileprivate func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
