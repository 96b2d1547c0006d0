internal import SystemPackage

/// The stages of an attempt, from its first waiter to its end.
extension EngineState {
  /// A store that is offline, a fault that comes at once, a gate; else on to the slot.
  mutating func begin(_ attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    var actions: [Action] = []
    if attempt.plan.isOfVolume { return queue(attempt, now) }
    if let limit = simulation.giveUpAfter { actions.append(.giveUp(attempt: attempt.id, at: now + limit)) }
    if simulation.isOffline {
      let end = AttemptEnd(
        outcome: .failed(attempt.plan.errnos.offline), message: "the store is offline", rule: "offline")
      return actions + finish(attempt, end, now: now)
    }
    if let fault = attempt.plan.fault, fault.value.isImmediate {
      return actions + fail(attempt, fault: fault, now: now)
    }
    if let gate = attempt.plan.gate, gates.isClosed(gate.value) { return actions + hold(attempt, at: gate, now: now) }
    return actions.isEmpty ? queue(attempt, now) : actions + queue(attempt, now)
  }

  private mutating func hold(_ attempt: Attempt, at gate: Decision.Part<String>, now: MonotonicTime) -> [Action] {
    attempt.hold(now)
    events.record(
      .materializationHeld(
        Event.Hold(
          attempt: attempt.id.rawValue, path: attempt.path, gate: gate.value, rule: gate.rule, time: now)))
    return gates.hold(attempt.id, at: gate.value, callers: attempt.callerCount)
  }

  /// Books callers who came to, or left, an attempt that is held. - Returns: Actions that tell the watchers of its
  /// gate.
  mutating func bookCallers(_ change: Int, of attempt: Attempt) -> [Action] {
    attempt.gate.map { gates.addCallers(change, to: attempt.id, at: $0.value) } ?? []
  }

  /// An attempt that ends, or goes on, is no longer held.
  private mutating func leaveGate(_ attempt: Attempt) {
    if let gate = attempt.gate { gates.letGo(attempt.id, from: gate.value) }
  }

  /// Lets an attempt that a gate holds go on, or fail. - Parameter by: Who releases, for the log.
  mutating func release(
    _ attempt: Attempt, from gate: Decision.Part<String>, _ release: GateRelease, by: String, now: MonotonicTime
  ) -> [Action] {
    var errno: Errno?
    if case .fail(let error) = release { errno = error.errno }
    events.record(
      .materializationReleased(
        Event.Release(
          attempt: attempt.id.rawValue, path: attempt.path, gate: gate.value, by: by, errno: errno,
          held: now - attempt.stageSince, time: now)))
    switch release {
    case .proceed:
      leaveGate(attempt)
      return queue(attempt, now)
    case .fail(let error):
      return finish(
        attempt, AttemptEnd(outcome: .failed(error.errno), message: error.message, rule: gate.rule), now: now)
    }
  }

  /// Waits for a slot if there is a limit on files; directories need none.
  private mutating func queue(_ attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    attempt.queue(now)
    if attempt.kind == .file, let limit = simulation.concurrency {
      guard slots.request(attempt.id, limit: limit, isEager: attempt.isEager) else { return [] }
    }
    return delay(attempt, now)
  }

  private mutating func delay(_ attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    attempt.delay(now)
    let delay = attempt.plan.requestedDelay
    return delay > 0 ? [.delay(attempt: attempt.id, until: now + delay)] : fetch(attempt, now)
  }

  /// A fault before the first byte, or the fetch.
  mutating func fetch(_ attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    // Before anything else: the delay is over, however the attempt goes on.
    attempt.fetch(now)
    if let fault = attempt.plan.fault,
      attempt.kind == .directory || fault.value.failingOffset(size: attempt.size) == nil
    {
      return fail(attempt, fault: fault, now: now)
    }
    guard claimRoom(for: attempt, now) else {
      attempt.waitForRoom(now)
      return [.settleRoom]
    }
    return [.fetch(attempt.id)]
  }

  /// A planned failure without data.
  private mutating func fail(_ attempt: Attempt, fault: Decision.Part<Fault>, now: MonotonicTime) -> [Action] {
    guard let errno = fault.value.errno(attempt.plan.errnos) else {
      attempt.getStuck(now)
      return []
    }
    let end = AttemptEnd(outcome: .failed(errno), message: "a planned fault", rule: fault.rule)
    return finish(attempt, end, now: now)
  }

  /// Gives the slot of a finished attempt to the next in the queue.
  private mutating func passSlot(of attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    guard slots.giveBack(attempt.id) else { return [] }
    // An attempt that fails as soon as it has its slot: the loop that gave it goes on with the next.
    return slots.isFilling ? [] : fillSlots(now)
  }

  /// Starts queued attempts while there are slots: a piece of them, which may fail as soon as they have one. The last
  /// action is `fillSlots` if there are more.
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
      actions += delay(attempt, now)
    }
    return actions
  }

  /// Ends an attempt: state and slot. Records, totals, budget and answers follow by `AttemptEnding`: its waiters get
  /// the outcome.
  mutating func finish(_ attempt: Attempt, _ end: AttemptEnd, now: MonotonicTime) -> [Action] {
    leaveGate(attempt)
    attempts.end(attempt)
    if attempt.budgeted != nil { ledger.endBudgeted() }
    var actions = endContent(of: attempt, isOk: end.outcome == .ok)
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
    if attempt.kind == .directory {
      namespace.noteSweepable(attempt.node)
      if trash.noteListed(namespace.id(of: attempt.node)) { actions.append(.emptyTrash) }
    }
    actions.append(.end(ending))
    actions += passSlot(of: attempt, now)
    actions += endRoom(of: attempt, end)
    if namespace[attempt.node].isOrphan { actions.append(.dispose(namespace.id(of: attempt.node))) }
    return actions
  }

  /// Ends an attempt whose job may be under way, and tells the job to stop.
  mutating func abort(_ attempt: Attempt, _ end: AttemptEnd, now: MonotonicTime) -> [Action] {
    (attempt.job.map { [.cancel($0)] } ?? []) + finish(attempt, end, now: now)
  }

  /// The attempt has ended: what its item is in now, and what is to be removed.
  private mutating func endContent(of attempt: Attempt, isOk: Bool) -> [Action] {
    let (dropped, isBusy) = updateContent(of: attempt.node) { content in
      let dropped = content.end(attempt.id, range: attempt.range, isRanged: attempt.isRanged, isOk: isOk)
      return (dropped, content.isBusy)
    }
    if !isBusy { attempts.forgetPages(of: attempt.node) }
    guard let dropped, let reference = contents.giveUp(dropped).flatMap({ removable($0, of: attempt.node) }) else {
      return []
    }
    return [.remove(reference)]
  }

  /// Takes one waiter out of its attempt, answering it with `error`; cancels the attempt when it was the last.
  mutating func leave(_ id: WaiterID, _ error: FSError, now: MonotonicTime) -> [Action] {
    guard let (attempt, waiter) = attempts.leave(id) else { return [] }
    recordEnd(of: waiter, in: attempt, .failed(error.errno), now)
    var actions: [Action] = [.complete(waiter, .failed(error))]
    _ = bookCallers(-1, of: attempt)
    if attempt.isAbandoned {
      actions += abort(attempt, AttemptEnd(outcome: .cancelled, message: "every waiter has left"), now: now)
    }
    return actions
  }

  private func recordEnd(of waiter: Waiter, in attempt: Attempt, _ outcome: Outcome, _ now: MonotonicTime) {
    guard waiter.request.isWait else { return }
    let record = waiter.record(in: attempt.id, outcome, now)
    attempt.keep(record)
    events.record(.waitFinished(record))
  }

  /// Answers those of some waiters whose ranges are there; the others wait for the last page that they miss.
  mutating func serve(_ waiters: some Sequence<WaiterID>, of node: NodeIndex, _ now: MonotonicTime) -> [Action] {
    guard let content = contents.parts(of: node) else { return [] }
    var actions: [Action] = []
    for id in waiters {
      guard let (attempt, waiter) = attempts.serve(id, from: content, of: node) else { continue }
      actions += bookCallers(-1, of: attempt)
      if waiter.request.caller.isBudgeted { charge(attempt, bytes: 0, now) }
      recordEnd(of: waiter, in: attempt, .ok, now)
      actions.append(.complete(waiter, .ready))
      if attempt.isAbandoned {
        let end = AttemptEnd(outcome: .cancelled, message: "another attempt has brought what was asked for")
        actions += abort(attempt, end, now: now)
      }
    }
    return actions
  }
}

// MARK: - What attempts bring

extension EngineState {
  /// Bytes of a file have become local.
  mutating func countArrival(_ attempt: Attempt, bytes: Int64, now: MonotonicTime) {
    attempt.bring(bytes)
    // All of a file comes in one step, or in parts.
    let isNew = !attempt.isRanged || updateContent(of: attempt.node) { $0.countFile() }
    ledger.countArrival(bytes: bytes, isNew: isNew)
    charge(attempt, bytes: bytes, now)
  }

  /// A budgeted caller waits for an attempt.
  mutating func budget(_ attempt: Attempt, for caller: Caller, _ now: MonotonicTime) {
    guard attempt.kind == .file, attempt.beginBudgeted(caller) else { return }
    ledger.beginBudgeted()
    if attempt.brought > 0 { charge(attempt, bytes: attempt.brought, now) }
  }

  /// Charges bytes of an attempt, and its file, to the budgets if a budgeted caller has waited for it.
  ///
  /// - Parameter bytes: 0 where another attempt has brought what this one was to bring: then the file alone counts.
  mutating func charge(_ attempt: Attempt, bytes: Int64, _ now: MonotonicTime) {
    guard let caller = attempt.budgeted else { return }
    let isNewFile = !attempt.isRanged || updateContent(of: attempt.node) { $0.chargeFile() }
    let charge = MaterializationLedger.Charge(bytes: bytes, isNewFile: isNewFile, caller: caller)
    for crossed in ledger.charge(charge, attempt: attempt.id, path: attempt.path, now) {
      events.record(.budgetExceeded(crossed))
    }
  }
}
