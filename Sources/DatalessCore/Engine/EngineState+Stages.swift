internal import SystemPackage

/// The stages of an attempt, from its first waiter to its end.
extension EngineState {
  /// A store that is offline, a fault that comes at once, a gate; else on to the slot.
  mutating func begin(_ attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    var actions: [Action] = []
    if let limit = simulation.giveUpAfter { actions.append(.giveUp(attempt: attempt.id, at: now + limit)) }
    if simulation.isOffline {
      let end = AttemptEnd(
        outcome: .failed(attempt.plan.errnos.offline), message: "the store is offline", rule: "offline")
      return actions + finish(attempt, end, now)
    }
    if let fault = attempt.plan.fault, fault.value.isImmediate { return actions + fail(attempt, fault, now) }
    if let gate = attempt.plan.gate, holds(gate.value) { return actions + hold(attempt, gate, now) }
    return actions + enterQueue(attempt, now)
  }

  /// Waits for a slot if there is a limit on files; directories need none.
  mutating func enterQueue(_ attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    attempt.stage = .queued
    attempt.stageSince = now
    if attempt.kind == .file, let limit = simulation.concurrency {
      guard slotsInUse < limit else {
        queue.append(attempt.id)
        return []
      }
      takeSlot(attempt)
    }
    return enterDelay(attempt, now)
  }

  private mutating func takeSlot(_ attempt: Attempt) {
    slotsInUse += 1
    attempt.holdsSlot = true
  }

  private mutating func enterDelay(_ attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    attempt.queued = now - attempt.stageSince
    attempt.stageSince = now
    attempt.stage = .delayed
    let delay = attempt.plan.requestedDelay
    return delay > 0 ? [.delay(attempt: attempt.id, until: now + delay)] : leaveDelay(attempt, now)
  }

  /// A fault before the first byte, or the fetch.
  mutating func leaveDelay(_ attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    // Before anything else: the delay is over, however the attempt goes on.
    attempt.stage = .fetching
    attempt.stageSince = now
    if let fault = attempt.plan.fault,
      attempt.kind == .directory || fault.value.failingOffset(size: attempt.size) == nil
    {
      return fail(attempt, fault, now)
    }
    return [.fetch(attempt.id)]
  }

  /// A planned failure without data.
  private mutating func fail(_ attempt: Attempt, _ fault: Decision.Part<Fault>, _ now: MonotonicTime) -> [Action] {
    guard let errno = fault.value.errno(attempt.plan.errnos) else {
      attempt.stage = .stuck
      attempt.stageSince = now
      return []
    }
    let end = AttemptEnd(outcome: .failed(errno), message: "a planned fault", rule: fault.rule)
    return finish(attempt, end, now)
  }

  /// Gives the slot of a finished attempt to the next in the queue.
  private mutating func passSlot(of attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    guard attempt.holdsSlot else { return [] }
    slotsInUse -= 1
    // An attempt that fails as soon as it has its slot: the loop that gave it goes on with the next.
    return isFillingSlots ? [] : fillSlots(now)
  }

  /// Starts queued attempts while there are slots: a piece of them, which may fail as soon as they have one. The last action is
  /// `fillSlots` if there are more.
  mutating func fillSlots(_ now: MonotonicTime) -> [Action] {
    // Those that wait are about to be ended.
    guard ending == nil else { return [] }
    isFillingSlots = true
    defer { isFillingSlots = false }
    var actions: [Action] = []
    var size = 0
    while !queue.isEmpty, simulation.concurrency.map({ slotsInUse < $0 }) ?? true {
      guard size < Engine.pieceSize else { return actions + [.fillSlots] }
      let next = queue.removeFirst()
      size += 1
      guard let attempt = attempts[next], attempt.stage == .queued else { continue }
      size += attempt.recordedWaiters
      takeSlot(attempt)
      actions += enterDelay(attempt, now)
    }
    return actions
  }

  /// Ends an attempt: state and slot. Records, totals, budget and answers follow by `AttemptEnding`: its waiters get the outcome.
  mutating func finish(_ attempt: Attempt, _ end: AttemptEnd, _ now: MonotonicTime) -> [Action] {
    leaveGate(attempt)
    attempts[attempt.id] = nil
    if attempt.budgeted != nil { budgetedAttempts -= 1 }
    var actions = settle(attempt, end.outcome == .ok)
    actions += attempt.timers.map { .cancelTimer($0) }
    // A listing changes nothing of what a directory shows, and a walk would have to ask for each again.
    if attempt.kind == .file, end.outcome == .ok || attempt.isRanged {
      actions.append(.invalidateAttributes(namespace.id(of: attempt.node)))
    }
    if end.outcome == .ok, attempt.kind == .file, simulation.rules.decidesEviction {
      actions.append(.planEviction(namespace.id(of: attempt.node)))
    }
    // Of not very many waiters the records are made here: the order of the log is that of the changes.
    let ending = AttemptEnding(attempt, end)
    record(ending, now)
    // The rest of its waits is recorded under other holds of the lock.
    if !ending.isRecorded { reclamation.pin() }
    if attempt.kind == .directory { namespace.noteSweepable(attempt.node) }
    actions.append(.end(ending))
    actions += passSlot(of: attempt, now)
    if namespace[attempt.node].isOrphan { actions.append(.dispose(namespace.id(of: attempt.node))) }
    return actions
  }

  /// Takes one waiter out of its attempt, answering it with `error`; cancels the attempt when it was the last.
  mutating func leave(_ id: WaiterID, _ error: FSError, _ now: MonotonicTime) -> [Action] {
    guard let place = attemptOfWaiter[id], let attempt = attempts[place.attempt],
      let waiter = attempt.waiters.remove(at: place.slot)
    else { return [] }
    removePlace(of: id, attempt.node)
    let record = waitRecord(attempt.id, waiter, .failed(error.errno), now)
    if attempt.departed.count < 64 { attempt.departed.append(record) }
    events.record(.waitFinished(record))
    var actions: [Action] = [.complete(waiter, .failed(error))]
    _ = noteCallers(of: attempt, -1)
    if attempt.waiters.isEmpty, !attempt.hasServed {
      if let job = attempt.job { actions.append(.cancel(job)) }
      actions += finish(attempt, AttemptEnd(outcome: .cancelled, message: "every waiter has left"), now)
    }
    return actions
  }
}
