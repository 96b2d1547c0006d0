internal import Synchronization
internal import SystemPackage

/// Delays of calls that need no materialization (`access`), as file systems have them whose content is not dataless and
/// slow all the same.
///
/// The delay of a call comes last: after the materialization that it caused, and before its answer. It is no part of
/// any attempt.
extension Engine {
  /// Whether the scenario delays calls of this kind at all: one look without a lock.
  public func delaysAccess(_ operation: AccessOperation) -> Bool {
    delayedOperations.contains(operation)
  }

  /// All the operations that it delays.
  public var delayedOperations: AccessOperations {
    AccessOperations(rawValue: delayedAccess.load(ordering: .relaxed))
  }

  /// Delays a call that could be answered now.
  ///
  /// - Parameters:
  ///   - waiter: As of `materialize`.
  ///   - completion: Called exactly once if and only if the call is delayed: on the timer's thread, or here; it must
  ///     not block. nil: the delay is over. EINTR: the caller has been killed. ETIMEDOUT or ECONNABORTED: the volume
  ///     ends.
  public func delay(
    _ access: Access, waiter: WaiterID, completion: @escaping @Sendable (FSError?) -> Void
  ) -> AccessAnswer {
    var verdict: AccessVerdict?
    while true {
      let (step, isInterrupted, actions): (AccessStep, Bool, [Action]) = state.withLock { state in
        let step = state.admit(access, verdict: verdict, now: timer.now)
        switch step {
        case .indexing, .undecided: return (step, false, [])
        case .passes, .missing: return (step, state.calls.receive(waiter), [])
        case .waits(let record):
          state.accesses.begin(record, waiter, completion: completion)
          state.calls.park(
            waiter, PendingCalls.Call(threadID: access.caller.threadID) { [self] in endAccess(waiter, $0) })
          state.events.record(.accessStarted(record))
          let actions = record.gate.map { state.gates.hold(waiter, at: $0) } ?? []
          return (step, state.calls.receive(waiter), actions)
        }
      }
      switch step {
      case .indexing: continue
      case .passes: return .passes
      case .missing: return .missing
      case .undecided(let facts, let rules):
        // Without the lock, as `materialize` asks them.
        let part = rules.decideAccess(access.operation, facts) { processes.lineage(of: access.caller.process) }
        if let part { rules.delayed(by: part.place) }
        let stack = rules.decideAccessStack(facts) { processes.lineage(of: access.caller.process) }
        verdict = AccessVerdict(part: part, takesStack: stack, number: UInt64(facts.attempt))
      case .waits(let record):
        if isInterrupted { interrupt(waiter) }
        perform(actions)
        guard record.gate == nil else { return .delayed }
        let token = timer.schedule(at: record.time + record.requestedDelay) { [self] in
          // Whoever takes the call out of these answers it.
          if state.withLock({ $0.calls.claim(waiter) != nil }) { endAccess(waiter, nil) }
        }
        if state.withLock({ $0.accesses.keep(token, of: waiter) }) { timer.cancel(token) }
        return .delayed
      }
    }
  }

  private func endAccess(_ waiter: WaiterID, _ error: FSError?) {
    let ended: AccessDelays.Ended? = state.withLock { state in
      let ended = state.accesses.end(waiter, outcome: error.map { .failed($0.errno) } ?? .ok, now: timer.now)
      if let ended {
        if let gate = ended.record.gate { state.gates.letGo(waiter, from: gate) }
        state.events.record(.accessFinished(ended.record))
      }
      return ended
    }
    guard let ended else { return }
    if let token = ended.timer { timer.cancel(token) }
    ended.completion(error)
  }

  // MARK: - At gates

  /// Which of the accesses at a gate a release means, oldest first.
  ///
  /// - Parameter attempts: How many attempts the release has taken before.
  func select(_ selection: GateSelection, of held: [WaiterID], besides attempts: Int) -> [WaiterID] {
    let held = held.sorted { $0.rawValue < $1.rawValue }
    switch selection {
    case .all: return held
    case .first(let count): return Array(held.prefix(max(count - attempts, 0)))
    case .attempt: return []
    case .path(let pattern):
      // The pattern is asked without the lock: it may take long.
      return held.filter { waiter in
        state.withLock { $0.accesses.record(of: waiter)?.path }.map { pattern.matches($0) } ?? false
      }
    }
  }

  /// Lets accesses go on, or fail. - Returns: How many were still held there.
  @discardableResult
  func letGo(_ chosen: [WaiterID], from gate: String, _ release: GateRelease) -> Int {
    var error: FSError?
    if case .fail(let reason) = release { error = reason }
    var count = 0
    for waiter in chosen {
      // Whoever takes the call out of these answers it.
      let isMine = state.withLock { state in
        state.accesses.record(of: waiter)?.gate == gate && state.calls.claim(waiter) != nil
      }
      guard isMine else { continue }
      count += 1
      endAccess(waiter, error)
    }
    return count
  }

  /// What is told of some accesses, oldest first.
  func records(of waiters: [WaiterID], atMost limit: Int) -> [Event.AccessRecord] {
    waiters.sorted { $0.rawValue < $1.rawValue }.prefix(limit).compactMap { waiter in
      state.withLock { $0.accesses.record(of: waiter) }
    }
  }

  /// What delays of accesses have taken since the start.
  public var accessTotals: AccessTotals { state.withLock { $0.accesses.totals } }

  /// How many accesses are delayed now, and some of them, oldest first.
  public func accessesUnderWay(atMost limit: Int = 64) -> (count: Int, some: [Event.AccessRecord]) {
    state.withLock { ($0.accesses.count, $0.accesses.snapshots(atMost: limit)) }
  }
}

/// What one look at an access under the lock led to.
private enum AccessStep {
  /// Nothing to wait for.
  case passes
  /// It has to be materialized first.
  case missing
  /// More of a directory's names have to be indexed first: a bounded number under one lock.
  case indexing
  /// The rules have to be asked first, without the lock; then look again.
  case undecided(TriggerFacts, RuleSet)
  case waits(Event.AccessRecord)
}

/// What the rules said about an access, and its number.
private struct AccessVerdict {
  let part: Decision.Part<AccessEffect>?
  let takesStack: Bool?
  let number: UInt64
}

extension EngineState {
  /// Whether a call is delayed. Nothing is counted for it in the namespace.
  fileprivate mutating func admit(_ access: Access, verdict: AccessVerdict?, now: MonotonicTime) -> AccessStep {
    guard ending == nil, simulation.delayedAccess.contains(access.operation) else { return .passes }
    let node: NodeIndex
    switch find(access.target) {
    case .indexing: return .indexing
    case .missing: return .missing
    case .none: return .passes
    case .found(let found): node = found
    }
    let bytes: Int64
    switch answer(to: access, node) {
    case .nothing: return .passes
    case .missing: return .missing
    case .brings(let count): bytes = count
    }
    let record = namespace[node]
    let kind = record.materializationKind
    let path = namespace.path(of: node)
    if verdict == nil, simulation.rules.saidAccess.contains(access.operation) || simulation.rules.decidesStacks {
      return .undecided(
        TriggerFacts(
          path: path, names: namespace.paths(of: node), kind: kind, size: kind == .file ? record.size : 0,
          trigger: access.operation.trigger(of: kind), attempt: Int(accesses.takeNumber()), sinceLoaded: now - loadedAt,
          seed: simulation.seed), simulation.rules)
    }
    guard let effect = verdict?.part?.value ?? simulation.access.effect(on: access.operation), !effect.isNothing else {
      return .passes
    }
    let number = verdict?.number ?? accesses.takeNumber()
    var random = SeededRandom(
      seed: simulation.seed, .access, rule: verdict?.part?.rule ?? "", path: path, attempt: Int(number))
    var (delay, gate): (Nanoseconds, String?) = (0, nil)
    switch effect {
    case .delay(let model):
      delay = model.sample(&random, size: bytes, ordinal: number - 1)
      guard delay > 0 else { return .passes }
    case .gate(let name):
      guard gates.isClosed(name) else { return .passes }
      gate = name
    }
    let hasRange = kind == .file && (access.operation == .read || access.operation == .write)
    return .waits(
      Event.AccessRecord(
        access: number, operation: access.operation, path: path, names: namespace.paths(of: node), kind: kind,
        caller: access.caller, range: hasRange ? access.offset..<access.offset + bytes : nil,
        requestedDelay: delay, gate: gate, rule: verdict?.part?.rule, takesStack: verdict?.takesStack,
        time: now))
  }

  private enum FoundTarget {
    case none
    /// The directory has to be listed first.
    case missing
    case indexing
    case found(NodeIndex)
  }

  private mutating func find(_ target: Access.Target) -> FoundTarget {
    switch target {
    case .node(let node): return namespace.index(of: node).map { .found($0) } ?? .none
    case .name(let name, let parent):
      guard let directory = namespace.index(of: parent), namespace[directory].kind == .directory,
        name.count <= Namespace.nameLengthMax, !isDetached(directory)
      else { return .none }
      guard namespace[directory].state == .resident else { return .missing }
      guard namespace.indexNames(of: directory) else { return .indexing }
      guard let found = name.withUnsafeBufferPointer({ namespace.find($0, in: directory) }) else { return .none }
      return .found(namespace.record(of: found).node)
    }
  }

  private enum AccessedContent {
    /// An error, or no content, entry or attribute.
    case nothing
    case missing
    /// So many bytes of content; 0 for calls that bring none.
    case brings(Int64)
  }

  /// What a call brings that is answered now.
  private func answer(to access: Access, _ node: NodeIndex) -> AccessedContent {
    let record = namespace[node]
    switch (access.operation, record.kind) {
    case (.lookup, _), (.getattr, _): return .brings(0)
    case (.open, .directory):
      return record.state == .resident || !simulation.profile.directories.contains(.open) ? .brings(0) : .missing
    case (.open, .file):
      guard !record.isOrphan, !pageDrops.isUnderWay(of: namespace.id(of: node)) else { return .nothing }
      return !record.isDataless || !simulation.profile.files.contains(.open) ? .brings(0) : .missing
    case (.read, .file):
      let end = min(access.offset.addingReportingOverflow(access.length).partialValue, record.size)
      guard access.offset >= 0, access.offset < end else { return .nothing }
      let isLocal = record.state == .resident || contents.local(access.offset..<end, of: node) != nil
      return isLocal ? .brings(end - access.offset) : .missing
    case (.read, .directory):
      guard record.state == .resident else { return isDetached(node) ? .nothing : .missing }
      var hasMore = false
      _ = namespace.readDirectory(node, from: UInt64(bitPattern: access.offset)) { _ in
        hasMore = true
        return false
      }
      return hasMore ? .brings(0) : .nothing
    case (.write, .file):
      guard access.offset >= 0, access.length > 0, access.length <= .max - access.offset else { return .nothing }
      return record.isDataless ? .missing : .brings(access.length)
    case (.open, _), (.read, _), (.write, _): return .nothing
    }
  }
}
