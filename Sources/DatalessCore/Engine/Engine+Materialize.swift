internal import Synchronization
internal import SystemPackage

extension Engine {
  /// Materializes a file's content or a directory's listing for one caller, starting an attempt or joining the one in
  /// flight.
  ///
  /// Stages of an attempt: slot, latency, fetch, commit, attributes invalidated, waiters answered.
  ///
  /// - Parameters:
  ///   - waiter: A number never used before while mounted; interrupts name the caller by it.
  ///   - mayFetch: Whether the calling thread may do a short fetch itself where store and cache are prompt: small files
  ///     and listings. A hand-over to a lane costs as much as such a fetch.
  ///   - completion: Called exactly once if and only if the answer is `.parked`: on another lane, or, with `mayFetch`, on
  ///     this thread before the answer is returned.
  public func materialize(
    _ node: NodeID, _ request: TriggerRequest, waiter: WaiterID, mayFetch: Bool = false,
    completion: @escaping @Sendable (WaitResult) -> Void
  ) -> Admission {
    let (admission, actions): (Admission, [Action]) = state.withLock { state in
      let now = timer.now
      return state.admit(
        node, Waiter(id: waiter, request: request, since: now, completion: completion), configuration, now)
    }
    perform(actions, mayFetch: mayFetch)
    return admission
  }

  /// The latency model's delay is over.
  func delayElapsed(_ id: UInt64) {
    let actions: [Action] = state.withLock { state in
      let now = timer.now
      guard var attempt = state.attempts[id], attempt.stage == .delayed else { return [] }
      attempt.delay = now - attempt.stageSince
      attempt.stage = .fetching
      attempt.stageSince = now
      state.attempts[id] = attempt
      return [.fetch(id)]
    }
    perform(actions)
  }

  /// A file up to this size may be fetched on a request thread: as much as lies in a slab, some tens of microseconds.
  private static let shortFetchSize: Int64 = 128 << 10

  /// Puts the attempt's job on its lane, or does it here.
  func startFetch(_ id: UInt64, onCaller: Bool) {
    let job: (lane: any BlockingLane, isShort: Bool, work: @Sendable () -> Void)? = state.withLock { state in
      guard let attempt = state.attempts[id] else { return nil }
      let item = StoreItem(path: attempt.path, attributes: state.catalog.attributes(at: attempt.node))
      switch attempt.kind {
      case .file:
        let job = FileFetch(engine: self, attempt: id, item: item)
        state.attempts[id]?.job = job
        return (blocking, attempt.size <= Self.shortFetchSize, { job.step() })
      case .directory:
        let job = DirectoryFetch(engine: self, attempt: id, node: attempt.node, item: item)
        state.attempts[id]?.job = job
        return (metadata, true, { job.run() })
      }
    }
    guard let job else { return }
    if onCaller, job.isShort, isPrompt, job.lane.runOnCaller(job.work) { return }
    job.lane.submit(job.work)
  }

  /// The content of a file is complete in the content store.
  ///
  /// - Returns: False when the attempt was given up meanwhile; the caller then drops the content.
  func fetched(_ id: UInt64, reference: ContentReference, storeNanoseconds: Int64) -> Bool {
    let actions: [Action]? = state.withLock { state in
      let now = timer.now
      guard let attempt = state.attempts[id] else { return nil }
      state.catalog.inodes[attempt.node].payload = reference.rawValue
      return state.finish(
        attempt, .ok, message: nil, bytes: attempt.size, entries: nil, store: storeNanoseconds, now)
    }
    guard let actions else { return false }
    perform(actions)
    return true
  }

  /// A directory's listing is complete in the catalog.
  func listed(_ id: UInt64, entries: Int, storeNanoseconds: Int64) {
    let actions: [Action] = state.withLock { state in
      let now = timer.now
      guard let attempt = state.attempts[id] else { return [] }
      return state.finish(
        attempt, .ok, message: nil, bytes: 0, entries: entries, store: storeNanoseconds, now)
    }
    perform(actions)
  }

  /// The attempt failed; its errno goes to every waiter.
  func failed(_ id: UInt64, _ error: FSError, storeNanoseconds: Int64) {
    let actions: [Action] = state.withLock { state in
      let now = timer.now
      guard let attempt = state.attempts[id] else { return [] }
      // A listing must not fail with ENOENT: readdir(3) takes that for the end of the directory, and a lookup for the
      // absence of the name, so that a vanished directory would look like an empty one.
      let isGone = attempt.kind == .directory && error.errno == .noSuchFileOrDirectory
      return state.finish(
        attempt, .failed(isGone ? .staleNFSFileHandle : error.errno), message: error.message, bytes: 0, entries: nil,
        store: storeNanoseconds,
        now)
    }
    perform(actions)
  }

  /// Occupies the shared line for a chunk; nil without a bandwidth limit. - Returns: When the chunk has arrived.
  func reserveBandwidth(_ bytes: Int64) -> MonotonicTime? {
    let now = timer.now
    return state.withLock { $0.link?.reserve(bytes, now: now) }
  }

  // MARK: - Leaving a wait

  /// A signal is pending for a waiting caller (FUSE_INTERRUPT). Ends its wait with EINTR if the interrupt mode says so;
  /// otherwise looks again every 100 ms until the reply, because the kernel does not ask a second time.
  ///
  /// Safe on any lane except a FUSE callback: it may answer the request. An interrupt may arrive before the caller is
  /// parked, so an unknown waiter is looked for once more.
  public func interrupt(_ waiter: WaiterID, isRepeat: Bool = false) {
    let threadID: Int32?? = state.withLock { state in
      if let place = state.attemptOfWaiter[waiter] {
        return state.attempts[place.attempt]?.waiters[place.slot]?.request.caller.threadID
      }
      return state.storeCalls[waiter].map { $0.threadID }
    }
    guard let found = threadID, let threadID = found else {
      if !isRepeat { interruptLater(waiter) }
      return
    }
    switch configuration.interruptMode {
    case .any: leave(waiter, FSError(.interrupted, "interrupted by a signal"))
    case .fatal:
      if signals.hasPendingFatalSignal(threadID: threadID) ?? true {
        leave(waiter, FSError(.interrupted, "interrupted by a fatal signal"))
      } else {
        interruptLater(waiter)
      }
    }
  }

  /// LIMIT: all looks together take at most a fifth of the timer's time: 20 us each, so 100 us apart on average.
  private func interruptLater(_ waiter: WaiterID) {
    let waiting = Int64(looksWaiting.add(1, ordering: .relaxed).newValue)
    timer.schedule(at: timer.now + max(100_000_000, waiting * 100_000)) { [self] in
      looksWaiting.subtract(1, ordering: .relaxed)
      interrupt(waiter, isRepeat: true)
    }
  }

  /// Ends one wait with an error. The attempt goes on while another waiter remains, else it is cancelled.
  public func leave(_ waiter: WaiterID, _ error: FSError) {
    let actions: [Action] = state.withLock { state in
      let now = timer.now
      if let call = state.storeCalls.removeValue(forKey: waiter) { return [.call({ call.fail(error) })] }
      return state.leave(waiter, error, now)
    }
    perform(actions)
  }

  /// Refuses everything from now on with `error`, and ends every wait with it. Calling it again ends what came between.
  public func end(_ error: FSError) {
    let actions: [Action] = state.withLock { state in
      let now = timer.now
      state.ending = error
      var actions: [Action] = []
      let calls = state.storeCalls.values.map { $0 }
      state.storeCalls = [:]
      actions += calls.map { call in .call({ call.fail(error) }) }
      for attempt in state.attempts.values.sorted(by: { $0.id < $1.id }) {
        if let job = attempt.job { actions.append(.cancel(job)) }
        actions += state.finish(
          attempt, .failed(error.errno), message: error.message, bytes: 0, entries: nil, store: 0, now)
      }
      return actions
    }
    perform(actions)
  }
}

extension EngineState {
  /// Admits one trigger: answers it, joins it to the attempt in flight, or starts an attempt.
  mutating func admit(
    _ node: NodeID, _ waiter: Waiter, _ configuration: EngineConfiguration, _ now: MonotonicTime
  ) -> (Admission, [Action]) {
    guard let position = catalog.position(of: node) else {
      return (.failed(FSError(.staleNFSFileHandle, "no such item on this volume")), [])
    }
    let record = catalog.inodes[position]
    guard record.canBeDataless, record.state != .resident else { return (.ready, []) }
    if let ending { return (.failed(ending), []) }
    var actions: [Action] = []
    let id: UInt64
    if let running = attemptOfNode[position] {
      id = running
    } else {
      id = startAttempt(position, waiter, configuration, now, &actions)
    }
    if let handle = waiter.request.handle { handles.noteTrigger(handle) }
    if let slot = attempts[id]?.waiters.append(waiter) { attemptOfWaiter[waiter.id] = (id, slot) }
    attempts[id]?.waiterCount += 1
    if waiter.request.caller.isBudgeted { attempts[id]?.isBudgeted = true }
    events.record(.waitStarted(waitRecord(id, waiter, nil, now)))
    return (.parked, actions)
  }

  /// Makes the attempt and takes it as far as it goes without waiting.
  private mutating func startAttempt(
    _ position: Int, _ waiter: Waiter, _ configuration: EngineConfiguration, _ now: MonotonicTime,
    _ actions: inout [Action]
  ) -> UInt64 {
    let id = nextAttempt
    nextAttempt += 1
    let record = catalog.inodes[position]
    if record.attempts < .max { catalog.inodes[position].attempts += 1 }
    catalog.setState(.materializing, of: position)
    let kind: MaterializationKind = record.kind == .directory ? .directory : .file
    let path = catalog.path(of: position)
    var attempt = Attempt(
      id: id, node: position, kind: kind, path: path, size: kind == .file ? record.size : 0, startedAt: now,
      stage: .queued, stageSince: now)
    attempt.requestedDelay =
      kind == .file ? configuration.latencyNanoseconds : configuration.directoryLatencyNanoseconds
    attempts[id] = attempt
    attemptOfNode[position] = id
    let request = waiter.request
    events.record(
      .materializationStarted(
        Event.MaterializationStarted(
          attempt: id, path: path, inode: record.inode, kind: kind, size: record.size, trigger: request.trigger,
          caller: request.caller, offset: request.offset, length: request.length, handle: request.handle,
          openFlags: request.openFlags ?? request.handle.flatMap { handles[$0]?.openFlags }, io: request.io,
          name: request.name, itemAttempt: Int(record.attempts) + 1, inFlight: attempts.count,
          priorOpens: Int(record.opens), priorStats: Int(record.stats), priorXattrCalls: Int(record.xattrCalls),
          time: now)))
    if kind == .file, let free = freeSlots {
      guard free > 0 else {
        queue.append(id)
        return id
      }
      freeSlots = free - 1
      attempts[id]?.holdsSlot = true
    }
    actions += enterDelay(id, now)
    return id
  }

  /// The attempt has its slot: delay it, or fetch at once.
  private mutating func enterDelay(_ id: UInt64, _ now: MonotonicTime) -> [Action] {
    guard var attempt = attempts[id] else { return [] }
    attempt.queued = now - attempt.stageSince
    attempt.stageSince = now
    attempt.stage = attempt.requestedDelay > 0 ? .delayed : .fetching
    attempts[id] = attempt
    return attempt.requestedDelay > 0
      ? [.delay(attempt: id, until: now + attempt.requestedDelay)] : [.fetch(id)]
  }

  /// Gives the slot of a finished attempt to the next in the queue.
  private mutating func passSlot(of attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    guard attempt.holdsSlot, let free = freeSlots else { return [] }
    while !queue.isEmpty {
      let next = queue.removeFirst()
      guard attempts[next] != nil else { continue }
      attempts[next]?.holdsSlot = true
      return enterDelay(next, now)
    }
    freeSlots = free + 1
    return []
  }

  /// Ends an attempt: state, totals, budget, records, slot, answers. Its waiters get the outcome.
  mutating func finish(
    _ attempt: Attempt, _ outcome: Outcome, message: String?, bytes: Int64, entries: Int?, store: Int64,
    _ now: MonotonicTime
  ) -> [Action] {
    attempts[attempt.id] = nil
    attemptOfNode[attempt.node] = nil
    catalog.setState(outcome == .ok ? .resident : .dataless, of: attempt.node)
    var actions: [Action] = []
    if outcome == .ok { actions.append(.invalidateAttributes(NodeID(rawValue: UInt64(attempt.node)))) }
    let result: WaitResult
    switch outcome {
    case .ok: result = .ready
    case .cancelled: result = .failed(FSError(.interrupted, "the attempt was cancelled"))
    case .failed(let errno): result = .failed(FSError(errno, message ?? "materialization failed"))
    }
    var records = attempt.departed
    let waiters = attempt.waiters.all
    for waiter in waiters {
      attemptOfWaiter[waiter.id] = nil
      let record = waitRecord(attempt.id, waiter, outcome, now)
      events.record(.waitFinished(record))
      if records.count < 64 { records.append(record) }
      if case .failed(let error) = result { noteFailure(attempt.node, waiter, error, now) }
    }
    events.record(finishedEvent(attempt, outcome, message, bytes, entries, store, records, now))
    count(attempt, outcome, bytes: bytes, now)
    // Lookups before directory reads: a lookup's answer never waits for a readdir caller (docs/ARCHITECTURE.md, R4).
    for waiter in waiters where waiter.request.trigger != .readdir { actions.append(.complete(waiter, result)) }
    for waiter in waiters where waiter.request.trigger == .readdir { actions.append(.complete(waiter, result)) }
    actions += passSlot(of: attempt, now)
    return actions
  }

  /// Takes one waiter out of its attempt, answering it with `error`; cancels the attempt when it was the last.
  mutating func leave(
    _ id: WaiterID, _ error: FSError, _ now: MonotonicTime
  ) -> [Action] {
    guard let (attemptID, slot) = attemptOfWaiter.removeValue(forKey: id),
      let waiter = attempts[attemptID]?.waiters.remove(at: slot)
    else { return [] }
    let record = waitRecord(attemptID, waiter, .failed(error.errno), now)
    if attempts[attemptID]?.departed.count ?? 0 < 64 { attempts[attemptID]?.departed.append(record) }
    events.record(.waitFinished(record))
    var actions: [Action] = [.complete(waiter, .failed(error))]
    if let attempt = attempts[attemptID], attempt.waiters.isEmpty {
      if let job = attempt.job { actions.append(.cancel(job)) }
      actions += finish(
        attempt, .cancelled, message: "every waiter has left", bytes: 0, entries: nil, store: 0, now)
    }
    return actions
  }

  private func waitRecord(
    _ attempt: UInt64, _ waiter: Waiter, _ outcome: Outcome?, _ now: MonotonicTime
  ) -> Event.WaitRecord {
    Event.WaitRecord(
      attempt: attempt, caller: waiter.request.caller, trigger: waiter.request.trigger,
      offset: waiter.request.offset, length: waiter.request.length,
      blockedNanoseconds: outcome == nil ? nil : now - waiter.since, outcome: outcome, time: now)
  }

  private func finishedEvent(
    _ attempt: Attempt, _ outcome: Outcome, _ message: String?, _ bytes: Int64, _ entries: Int?, _ store: Int64,
    _ records: [Event.WaitRecord], _ now: MonotonicTime
  ) -> Event {
    var delay = attempt.delay
    var queued = attempt.queued
    if attempt.stage == .delayed { delay = now - attempt.stageSince }
    if attempt.stage == .queued { queued = now - attempt.stageSince }
    return .materializationFinished(
      Event.MaterializationFinished(
        attempt: attempt.id, path: attempt.path, kind: attempt.kind, bytes: bytes, entries: entries,
        outcome: outcome, message: message, rule: nil, requestedDelayNanoseconds: attempt.requestedDelay,
        delayNanoseconds: delay, heldNanoseconds: 0, queuedNanoseconds: queued, storeNanoseconds: store,
        durationNanoseconds: now - attempt.startedAt, waiterCount: attempt.waiterCount, waiters: records, time: now))
  }

  /// A page-cache READ that failed is asked for again by the kernel itself (see `RecentFailures`).
  private mutating func noteFailure(_ node: Int, _ waiter: Waiter, _ error: FSError, _ now: MonotonicTime) {
    let request = waiter.request
    guard request.io == .pageCache, let offset = request.offset, let length = request.length else { return }
    failures.note(
      node: node, threadID: request.caller.threadID,
      range: offset..<max(offset, offset.addingReportingOverflow(length).partialValue), error: error, now: now,
      repeats: request.isPageFault ? RecentFailures.repeatsOfFault : RecentFailures.repeatsOfCall)
  }

  /// Totals, and the budget of `dataless run`: exceeded once for each budget, by the attempt that crossed it.
  private mutating func count(
    _ attempt: Attempt, _ outcome: Outcome, bytes: Int64, _ now: MonotonicTime
  ) {
    switch outcome {
    case .failed: totals.failures += 1
    case .cancelled: totals.cancelled += 1
    case .ok:
      guard attempt.kind == .file else {
        totals.directories += 1
        return
      }
      totals.files += 1
      totals.bytes = totals.bytes.saturatingAdd(bytes)
      guard attempt.isBudgeted else { return }
      totals.budgetedFiles += 1
      totals.budgetedBytes = totals.budgetedBytes.saturatingAdd(bytes)
      let culprit =
        attempt.waiters.all.first { $0.request.caller.isBudgeted }?.request.caller
        ?? attempt.departed.first { $0.caller.isBudgeted }?.caller
      guard let culprit else { return }
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
}

extension Int64 {
  /// The sum of two numbers that are not negative, or the largest number: sizes may be absurd, sums must not trap or wrap.
  fileprivate func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
