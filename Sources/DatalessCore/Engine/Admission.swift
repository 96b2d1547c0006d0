internal import SystemPackage

/// What one look at a trigger under the lock led to.
enum AdmissionStep {
  case decided(Admission, [Action])
  /// The rules have to be asked first, without the lock; then look again.
  case undecided(TriggerFacts, RuleSet)
}

/// What the rules said about a trigger, and which attempt of the item they were asked about.
struct Verdict {
  let attempt: Int
  let decision: Decision
  let rules: RuleSet
}

extension EngineState {
  /// Admits one trigger: answers it, refuses it, joins it to the attempt in flight, or starts an attempt.
  mutating func admit(
    _ node: NodeID, _ waiter: Waiter, verdict: Verdict?, now: MonotonicTime
  ) -> AdmissionStep {
    guard let position = namespace.index(of: node) else {
      return .decided(.failed(FSError(.staleNFSFileHandle, "no such item on this volume")), [])
    }
    let record = namespace[position]
    guard record.canBeDataless, record.state != .resident else { return .decided(.ready, []) }
    if let ending { return .decided(.failed(ending), []) }
    let request = waiter.request
    // Who needs all of a file waits until it is resident: its last part comes before that.
    if record.kind == .file, request.namesRange,
      contents.local(request.range(inSize: record.size), of: position) != nil
    {
      return .decided(.ready, [])
    }
    let running = content(of: position).attempt(for: request.range(inSize: record.size)).flatMap { attempts[$0] }
    let own = request.caller.policy.thread ?? request.caller.policy.process
    // What is read from the volume's own state is no materialization to which anybody could object.
    if namespace.isListedWithoutStore(position) {
      return join(
        running ?? startAttempt(position, waiter, decision: Decision(), now: now), waiter, isNew: running == nil,
        at: now)
    }
    // Whoever joins is asked about policy alone, whatever attempt the rules were asked about.
    let needsRules = running == nil ? !simulation.rules.isEmpty : simulation.rules.decidesPolicy && own == nil
    let ordinal = Int(record.attempts) + 1
    if needsRules, verdict == nil || (running == nil && verdict?.attempt != ordinal) {
      return .undecided(facts(position, request, attempt: ordinal, now: now), simulation.rules)
    }
    var decision = verdict?.decision ?? Decision()
    // Who joins is no attempt: rules that count attempts say nothing about it.
    if running == nil { verdict?.rules.decideCounting(&decision) }
    if request.trigger != .command, request.trigger != .eager,
      let policy = refusal(own: own, decision: decision, of: request.caller)
    {
      if own == nil, let part = decision.materialize {
        verdict?.rules.refused(by: part.place, isAttempt: running == nil)
      }
      return .decided(refuse(position, waiter, decision: decision, policy: policy, now: now), [])
    }
    if running == nil { verdict?.rules.started(decision) }
    return join(
      running ?? startAttempt(position, waiter, decision: decision, now: now), waiter, isNew: running == nil, at: now)
  }

  private mutating func join(_ attempt: Attempt, _ waiter: Waiter, isNew: Bool, at now: MonotonicTime) -> AdmissionStep
  {
    let request = waiter.request
    let wasEager = attempt.isEager
    join(waiter, attempt)
    if wasEager, !attempt.isEager { prefer(attempt) }
    if request.caller.isBudgeted { budget(attempt, for: request.caller, now) }
    if request.isWait {
      var begun = waiter.record(in: attempt.id, nil, now)
      begun.takesStack = request.isAwaited ? attempt.plan.takesStacks : false
      events.record(.waitStarted(begun))
    }
    return .decided(.parked, isNew ? begin(attempt, now) : bookCallers(1, of: attempt))
  }

  private func facts(
    _ position: NodeIndex, _ request: TriggerRequest, attempt: Int, now: MonotonicTime
  ) -> TriggerFacts {
    let record = namespace[position]
    let kind = record.materializationKind
    return TriggerFacts(
      path: namespace.path(of: position), names: namespace.paths(of: position), kind: kind,
      size: kind == .file ? record.size : 0, trigger: request.trigger,
      attempt: attempt, sinceLoaded: now - loadedAt, seed: simulation.seed)
  }

  /// Who refuses: `thread`, `process`, the name of a rule, or `volume`; nil if the caller may materialize.
  ///
  /// The order is that of macOS: thread OFF, thread ON, process; only who has set nothing is judged by the volume.
  private func refusal(own: Bool?, decision: Decision, of caller: Caller) -> String? {
    if let own { return own ? nil : (caller.policy.thread != nil ? "thread" : "process") }
    if let part = decision.materialize { return part.value ? nil : "rule:" + part.rule }
    return simulation.materialize ? nil : "volume"
  }

  private mutating func refuse(
    _ position: NodeIndex, _ waiter: Waiter, decision: Decision, policy: String, now: MonotonicTime
  ) -> Admission {
    ledger.countRefusal()
    let kind = namespace[position].materializationKind
    let errno = simulation.profile.errnos(of: kind).refused
    let error = FSError(errno, "the caller may not materialize (policy: \(policy))")
    var record = started(position, waiter, path: namespace.path(of: position), attempt: nil, now: now)
    record.requestedDelay =
      plan(position, path: record.path, decision: decision, attempt: record.itemAttempt).requestedDelay
    events.record(.materializationRefused(Event.Refusal(trigger: record, errno: error.errno, policy: policy)))
    rememberFailure(position, waiter, error: error, now: now)
    return .failed(error)
  }

  /// What is decided about an attempt.
  private func plan(_ position: NodeIndex, path: [UInt8], decision: Decision, attempt: Int) -> AttemptPlan {
    let record = namespace[position]
    let isFile = record.kind == .file
    if namespace.isListedWithoutStore(position) {
      var plan = AttemptPlan()
      plan.errnos = simulation.profile.errnos(of: .directory)
      plan.isOfVolume = true
      return plan
    }
    let model = decision.latency?.value ?? (isFile ? simulation.latency : simulation.directoryLatency)
    var random = SeededRandom(
      seed: simulation.seed, .latency, rule: decision.latency?.rule ?? "", path: path, attempt: attempt)
    return AttemptPlan(
      requestedDelay: model.isZero
        ? 0 : model.sample(&random, size: isFile ? record.size : 0, ordinal: attempts.startedCount),
      transferBandwidth: decision.transferBandwidth?.value ?? simulation.transferBandwidth,
      hydration: isFile ? decision.hydration?.value ?? simulation.hydration : .full, fault: decision.fault,
      gate: decision.gate, takesStacks: decision.stack?.value,
      errnos: simulation.profile.errnos(of: isFile ? .file : .directory), rules: decision.rules)
  }

  /// Makes the attempt; its stages begin when its first waiter is in.
  private mutating func startAttempt(
    _ position: NodeIndex, _ waiter: Waiter, decision: Decision, now: MonotonicTime
  ) -> Attempt {
    let record = namespace[position]
    let kind = record.materializationKind
    let path = namespace.path(of: position)
    let plan = plan(position, path: path, decision: decision, attempt: Int(record.attempts) + 1)
    var reach = AttemptReach()
    if kind == .file {
      let wanted = waiter.request.range(inSize: record.size)
      let aligned = wanted.aligned(inSize: record.size)
      reach.firstOffset = aligned.lowerBound
      if plan.hydration == .partial, wanted != 0..<record.size { reach.range = aligned }
      reach.isRanged = plan.hydration != .full || content(of: position).isInRanges
    }
    let attempt = attempts.start { id in
      Attempt(
        id: id, node: position, kind: kind, path: path, size: kind == .file ? record.size : 0, startedAt: now,
        plan: plan, reach: reach)
    }
    updateContent(of: position) { $0.begin(attempt.id, range: reach.range) }
    var event = started(position, waiter, path: path, attempt: attempt.id, now: now)
    event.rules = plan.rules
    if kind == .file, plan.hydration != .full {
      event.hydration = plan.hydration
      event.range = reach.range
    }
    events.record(.materializationStarted(event))
    namespace.count(.attempt, of: position)
    return attempt
  }

  /// Puts a caller into an attempt, and under the page that he waits for, if he may be answered before its end.
  private mutating func join(_ waiter: Waiter, _ attempt: Attempt) {
    if let handle = waiter.request.handle { openFiles.noteTrigger(handle) }
    guard attempt.plan.hydration != .full, waiter.request.namesRange else {
      return attempts.join(waiter, attempt, missing: nil)
    }
    let wanted = waiter.request.range(inSize: attempt.size)
    let missing = contents.parts(of: attempt.node).map { $0.ranges.lastMissing(in: wanted) } ?? wanted.upperBound - 1
    attempts.join(waiter, attempt, missing: missing)
  }

  /// A trigger as the log shows it, before it has changed anything. - Parameter attempt: nil for a refused one.
  private func started(
    _ position: NodeIndex, _ waiter: Waiter, path: [UInt8], attempt: AttemptID?, now: MonotonicTime
  ) -> Event.MaterializationStarted {
    let record = namespace[position]
    let request = waiter.request
    var event = Event.MaterializationStarted(
      attempt: attempt?.rawValue ?? 0, path: path, inode: record.inode,
      kind: record.kind == .directory ? .directory : .file, size: record.size, trigger: request.trigger,
      caller: request.caller, offset: request.offset, length: request.length, handle: request.handle,
      openFlags: request.openFlags ?? request.handle.flatMap { openFiles[$0]?.openFlags }, io: request.io,
      name: request.name, itemAttempt: Int(record.attempts) + 1, inFlight: attempts.count,
      priorOpens: Int(record.opens), priorStats: Int(record.stats), priorXattrCalls: Int(record.xattrCalls),
      time: now)
    event.names = namespace.paths(of: position)
    event.callerPath = request.callerPath.flatMap { event.names.contains($0) ? $0 : nil }
    return event
  }
}
