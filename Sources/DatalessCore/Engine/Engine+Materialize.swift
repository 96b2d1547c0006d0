internal import Synchronization
internal import SystemPackage

extension Engine {
  /// Materializes a file's content or a directory's listing for one caller, starting an attempt or joining the one in
  /// flight.
  ///
  /// Stages of an attempt: policy, gate, slot, latency, fault before data, fetch at bandwidth, fault after n bytes,
  /// commit, attributes invalidated, waiters answered. A refusal by policy comes at once, before any of them, with the
  /// profile's errno.
  ///
  /// - Parameters:
  ///   - waiter: A number never used before while mounted; interrupts name the caller by it.
  ///   - mayFetch: Whether the calling thread may do a short fetch itself where store and cache are prompt: small files
  ///     and listings. A hand-over to a lane costs as much as such a fetch.
  ///   - completion: Called exactly once if and only if the answer is `.parked`: on another lane, or, for an attempt
  ///     that ends at once, on this thread before the answer is returned.
  public func materialize(
    _ node: NodeID, _ request: TriggerRequest, waiter: WaiterID, mayFetch: Bool = false,
    completion: @escaping @Sendable (WaitResult) -> Void
  ) -> Admission {
    var verdict: Verdict?
    while true {
      let (step, isInterrupted): (AdmissionStep, Bool) = state.withLock { state in
        let now = timer.now
        let step = state.admit(
          node, Waiter(id: waiter, request: request, since: now, completion: completion), verdict: verdict, now: now)
        guard case .decided = step else { return (step, false) }
        return (step, state.calls.receive(waiter))
      }
      switch step {
      case .decided(let admission, let actions):
        // Before anything is begun for it. What has been answered already is not found.
        if isInterrupted { interrupt(waiter) }
        perform(actions, mayFetch: mayFetch)
        return admission
      case .undecided(let facts, let rules):
        // Without the lock: there may be thousands of rules, and processes to be looked up.
        let decision = rules.decide(facts) { processes.lineage(of: request.caller.process) }
        verdict = Verdict(attempt: facts.attempt, decision: decision, rules: rules)
      }
    }
  }

  /// The latency model's delay is over.
  func delayElapsed(_ id: AttemptID) {
    let actions: [Action] = state.withLock { state in
      guard let attempt = state.attempts[id], attempt.stage == .delayed else { return [] }
      return state.fetch(attempt, timer.now)
    }
    perform(actions)
  }

  /// `give_up_after` has passed since the attempt started.
  func giveUp(_ id: AttemptID) {
    let actions: [Action] = state.withLock { state in
      guard let attempt = state.attempts[id] else { return [] }
      let end = AttemptEnd(
        outcome: .failed(attempt.plan.errnos.timeout), message: "given up after its time", rule: "give_up_after")
      return state.abort(attempt, end, now: timer.now)
    }
    perform(actions)
  }

  /// A file up to this size may be fetched on a request thread: as much as lies in a slab, some tens of microseconds.
  private static let shortFetchSize: Int64 = 128 << 10

  /// How an attempt's job begins.
  private struct FetchStart {
    /// nil: anywhere, at once. It begins a task.
    let lane: (any BlockingLane)?
    let isShort: Bool
    let work: @Sendable () -> Void
  }

  /// Puts the attempt's job on its lane, or does it here.
  func startFetch(_ id: AttemptID, onCaller: Bool) {
    let start: FetchStart? = state.withLock { state in
      guard let attempt = state.attempts[id] else { return nil }
      // What was made on the volume is never dataless; but its directory may be the volume's own by now.
      let isOwn = state.namespace[attempt.node].awaitsSaved && !state.namespace.isBound(attempt.node)
      guard let item = state.namespace.binding(of: attempt.node), !isOwn else {
        if state.namespace.isListedWithoutStore(attempt.node) {
          let job = DirectoryFetch(engine: self, attempt: id, node: attempt.node, item: nil)
          attempt.begin(job)
          return FetchStart(lane: metadata, isShort: false) { job.listSaved() }
        }
        let gone = FSError(.staleNFSFileHandle, "the store has no such item any more")
        return FetchStart(lane: nil, isShort: true) { [self] in failed(id, gone, storeTime: 0) }
      }
      switch attempt.kind {
      case .file:
        let pace = TransferPace(sharesLine: state.link != nil, ownRate: attempt.plan.transferBandwidth)
        let fault = attempt.plan.fault
        if attempt.isRanged {
          let fetch = RangeFetch(engine: self, attempt: id, item: item, fault: fault)
          let size = attempt.range.map { Int64($0.count) } ?? attempt.size
          return begin(fetch, of: item, pace: pace, for: attempt, isShort: size <= Self.shortFetchSize)
        }
        let fetch = FileFetch(engine: self, attempt: id, item: item, fault: fault)
        return begin(fetch, of: item, pace: pace, for: attempt, isShort: attempt.size <= Self.shortFetchSize)
      case .directory:
        let job = DirectoryFetch(engine: self, attempt: id, node: attempt.node, item: item)
        attempt.begin(job)
        switch store {
        case .blocking(let store): return FetchStart(lane: metadata, isShort: true) { job.list(from: store) }
        case .async(let store): return FetchStart(lane: nil, isShort: true) { job.beginList(from: store) }
        }
      }
    }
    guard let start else { return }
    guard let lane = start.lane else { return start.work() }
    if onCaller, start.isShort, isFastLocal, lane.runOnCaller(start.work) { return }
    lane.submit(start.work)
  }

  /// Makes the transfer of a file's content the attempt's job. - Returns: Its first step.
  private func begin(
    _ fetch: some Fetch, of item: StoreBinding, pace: TransferPace, for attempt: Attempt, isShort: Bool
  ) -> FetchStart {
    switch store {
    case .blocking(let store):
      let job = SteppedTransfer(BlockingFetch(fetch, of: item, from: store), engine: self, pace: pace)
      attempt.begin(job)
      return FetchStart(lane: blocking, isShort: isShort) { job.step() }
    case .async(let store):
      let job = SteppedTransfer(AsyncFetch(fetch, of: item, from: store), engine: self, pace: pace)
      attempt.begin(job)
      return FetchStart(lane: nil, isShort: isShort) { job.step() }
    }
  }

  /// The content of a file is complete in the content store.
  ///
  /// - Parameter generation: Of the item that was fetched.
  /// - Returns: False when the attempt was given up meanwhile; the caller then drops the content.
  func fetched(_ id: AttemptID, reference: ContentID, generation: UInt32, storeTime: Nanoseconds) -> Bool {
    let actions: [Action]? = state.withLock { state in
      guard let attempt = state.attempts[id] else { return nil }
      state.updateContent(of: attempt.node) { $0.commit(reference, generation: generation) }
      let now = timer.now
      state.countArrival(attempt, bytes: attempt.size, now: now)
      return state.finish(attempt, AttemptEnd(outcome: .ok, storeTime: storeTime), now: now)
    }
    guard let actions else { return false }
    perform(actions)
    return true
  }

  /// A directory's listing is complete in the namespace.
  func listed(_ id: AttemptID, entries: Int, generation: UInt32, storeTime: Nanoseconds) {
    let actions: [Action] = state.withLock { state in
      guard let attempt = state.attempts[id] else { return [] }
      state.updateContent(of: attempt.node) { $0.commit(ContentID.none, generation: generation) }
      let end = AttemptEnd(outcome: .ok, entries: entries, storeTime: storeTime)
      return state.finish(attempt, end, now: timer.now)
    }
    perform(actions)
  }

  /// The attempt failed; its errno goes to every waiter.
  ///
  /// - Parameter rule: The rule that staged the failure; nil for a real one.
  func failed(_ id: AttemptID, _ error: FSError, rule: String? = nil, storeTime: Nanoseconds) {
    let (actions, hasDoubted): ([Action], Bool) = state.withLock { state in
      guard let attempt = state.attempts[id] else { return ([], false) }
      // What a rule names stays as named, but for another version, for which the profile has an errno.
      let errnos = attempt.plan.errnos
      let planned = attempt.plan.fault?.value.kind == .superseded ? errnos.superseded : error.errno
      // A handle of a file that has no name any more has an old version, whatever became of the name.
      let isOld = attempt.kind == .file && state.namespace[attempt.node].isOrphan
      let isRace: [Errno] = [.noSuchFileOrDirectory, .notDirectory, .staleNFSFileHandle]
      if rule == nil, isRace.contains(error.errno) { state.namespace.restored.doubt(attempt.node) }
      let isGone = isOld && error.errno == .noSuchFileOrDirectory && rule == nil
      let end = AttemptEnd(
        outcome: .failed(rule == nil ? errnos.answer(to: isGone ? .staleNFSFileHandle : error.errno) : planned),
        message: error.message, rule: rule, storeTime: storeTime)
      return (state.finish(attempt, end, now: timer.now), state.namespace.restored.hasDoubted)
    }
    perform(actions)
    if hasDoubted { metadata.submit { [self] in lookAtDoubted() } }
  }

  /// The fetch came to the byte from which on nothing arrives any more.
  func stuck(_ id: AttemptID) {
    state.withLock { $0.attempts[id]?.getStuck(timer.now) }
  }

  /// Occupies the shared line for a chunk; nil without a bandwidth limit. - Returns: When the chunk has arrived.
  func reserveBandwidth(_ bytes: Int64) -> MonotonicTime? {
    state.withLock { $0.link?.reserve(bytes, now: timer.now) }
  }
}
