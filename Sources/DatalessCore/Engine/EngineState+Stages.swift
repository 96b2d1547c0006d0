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
    if let gate = attempt.plan.gate, gates.isClosed(gate.value) { return actions + hold(attempt, gate, now) }
    return actions + enterQueue(attempt, now)
  }

  private mutating func hold(_ attempt: Attempt, _ gate: Decision.Part<String>, _ now: MonotonicTime) -> [Action] {
    attempt.stage = .held
    attempt.stageSince = now
    events.record(
      .materializationHeld(
        Event.Hold(
          attempt: attempt.id.rawValue, path: attempt.path, gate: gate.value, rule: gate.rule, time: now)))
    return gates.hold(attempt.id, at: gate.value, callers: attempt.waiters.count)
  }

  /// Books callers who came to, or left, an attempt that is held. - Returns: Actions that tell the watchers of its gate.
  mutating func bookCallers(_ change: Int, of attempt: Attempt) -> [Action] {
    attempt.gate.map { gates.addCallers(change, to: attempt.id, at: $0.value) } ?? []
  }

  /// An attempt that ends, or goes on, is no longer held.
  private mutating func leaveGate(_ attempt: Attempt) {
    if let gate = attempt.gate { gates.letGo(attempt.id, from: gate.value) }
  }

  /// Lets an attempt that a gate holds go on, or fail. - Parameter by: Who releases, for the log.
  mutating func release(
    _ attempt: Attempt, from gate: Decision.Part<String>, _ release: GateRelease, by: String, _ now: MonotonicTime
  ) -> [Action] {
    var errno: Errno?
    if case .fail(let error) = release { errno = error.errno }
    events.record(
      .materializationReleased(
        Event.Release(
          attempt: attempt.id.rawValue, path: attempt.path, gate: gate.value, by: by, errno: errno,
          heldNanoseconds: now - attempt.stageSince, time: now)))
    switch release {
    case .proceed:
      leaveGate(attempt)
      attempt.held += now - attempt.stageSince
      attempt.stage = .starting
      return enterQueue(attempt, now)
    case .fail(let error):
      return finish(attempt, AttemptEnd(outcome: .failed(error.errno), message: error.message, rule: gate.rule), now)
    }
  }

  /// Waits for a slot if there is a limit on files; directories need none.
  mutating func enterQueue(_ attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    attempt.stage = .queued
    attempt.stageSince = now
    if attempt.kind == .file, let limit = simulation.concurrency {
      guard slots.request(attempt.id, limit: limit) else { return [] }
    }
    return enterDelay(attempt, now)
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
    guard slots.giveBack(attempt.id) else { return [] }
    // An attempt that fails as soon as it has its slot: the loop that gave it goes on with the next.
    return slots.isFilling ? [] : fillSlots(now)
  }

  /// Starts queued attempts while there are slots: a piece of them, which may fail as soon as they have one. The last action is
  /// `fillSlots` if there are more.
  mutating func fillSlots(_ now: MonotonicTime) -> [Action] {
    // Those that wait are about to be ended.
    guard ending == nil else { return [] }
    slots.beginFilling()
    defer { slots.endFilling() }
    var actions: [Action] = []
    var size = 0
    while slots.hasNext(limit: simulation.concurrency) {
      guard size < Engine.pieceSize else { return actions + [.fillSlots] }
      size += 1
      guard let next = slots.next(), let attempt = attempts[next], attempt.stage == .queued else { continue }
      size += attempt.recordedWaiters
      slots.grant(next)
      actions += enterDelay(attempt, now)
    }
    return actions
  }

  /// Ends an attempt: state and slot. Records, totals, budget and answers follow by `AttemptEnding`: its waiters get the outcome.
  mutating func finish(_ attempt: Attempt, _ end: AttemptEnd, _ now: MonotonicTime) -> [Action] {
    leaveGate(attempt)
    attempts[attempt.id] = nil
    if attempt.budgeted != nil { ledger.endBudgeted() }
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
    _ = bookCallers(-1, of: attempt)
    if attempt.waiters.isEmpty, !attempt.hasServed {
      if let job = attempt.job { actions.append(.cancel(job)) }
      actions += finish(attempt, AttemptEnd(outcome: .cancelled, message: "every waiter has left"), now)
    }
    return actions
  }
}

// MARK: - What attempts bring

extension EngineState {
  /// Bytes of a file have become local.
  mutating func countArrival(_ attempt: Attempt, _ bytes: Int64, _ now: MonotonicTime) {
    attempt.brought = attempt.brought.saturatingAdd(bytes)
    // All of a file comes in one step, or in parts.
    let isNew = !attempt.isRanged || updateContent(of: attempt.node) { $0.countFile() }
    ledger.countArrival(bytes: bytes, isNew: isNew)
    charge(attempt, bytes, now)
  }

  /// A budgeted caller waits for an attempt.
  mutating func noteBudgeted(_ attempt: Attempt, _ caller: Caller, _ now: MonotonicTime) {
    guard attempt.kind == .file, attempt.budgeted == nil else { return }
    attempt.budgeted = caller
    ledger.beginBudgeted()
    if attempt.brought > 0 { charge(attempt, attempt.brought, now) }
  }

  /// Charges bytes of an attempt, and its file, to the budgets if a budgeted caller has waited for it.
  ///
  /// - Parameter bytes: 0 where another attempt has brought what this one was to bring: then the file alone counts.
  mutating func charge(_ attempt: Attempt, _ bytes: Int64, _ now: MonotonicTime) {
    guard let caller = attempt.budgeted else { return }
    let isNewFile = !attempt.isRanged || updateContent(of: attempt.node) { $0.chargeFile() }
    let charge = MaterializationLedger.Charge(bytes: bytes, isNewFile: isNewFile, caller: caller)
    for crossed in ledger.charge(charge, attempt: attempt.id, path: attempt.path, now) {
      events.record(.budgetExceeded(crossed))
    }
  }
}
