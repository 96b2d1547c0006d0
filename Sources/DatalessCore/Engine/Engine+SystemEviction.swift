internal import Synchronization
internal import SystemPackage

/// Rules that evict (`evict:`): files become dataless without anybody's asking, as on macOS.
///
/// A file is decided about when it becomes resident, and when the rules change. What is decided is kept in
/// `PlannedEvictions`; the timer lane calls for the next one that is due. Nothing of this runs without such a rule.
extension Engine {
  /// A file has become resident. Rules are asked without the lock.
  func planEviction(_ id: NodeID, isRenewed: Bool = false) {
    let asked: (facts: TriggerFacts, rules: RuleSet, generation: UInt64)? = state.withLock { state in
      guard let node = state.namespace.index(of: id), let facts = state.evictionFacts(of: node, timer.now) else {
        return nil
      }
      return (facts, state.simulation.rules, state.planned.generation)
    }
    guard let asked else { return }
    let part = asked.rules.decideEviction(asked.facts)
    let next: MonotonicTime? = state.withLock { state in
      // Evicted meanwhile, or decided by other rules in the meantime.
      guard state.planned.generation == asked.generation, let node = state.namespace.index(of: id),
        state.evictionFacts(of: node, timer.now) != nil
      else { return nil }
      if let part {
        let isNew = state.planned.plan(node, part.value, rule: part.rule, isRenewed: isRenewed, now: timer.now)
        if isNew { asked.rules.planned(by: part.place) }
      } else {
        state.planned.drop(node)
      }
      return state.planned.nextCall()
    }
    callForEvictions(at: next)
  }

  func callForEvictions(at deadline: MonotonicTime?) {
    guard let deadline else { return }
    timer.schedule(at: deadline) { [self] in evictDue(deadline) }
  }

  /// LIMIT: evictions begun by one call of the timer lane; others wait for the next call, which follows at once.
  private static let dueMax = 64

  private func evictDue(_ deadline: MonotonicTime) {
    let (due, next): ([(node: NodeID, rule: String)], MonotonicTime?) = state.withLock { state in
      state.planned.called(at: deadline)
      guard state.ending == nil else { return ([], nil) }
      let open = state.openFiles.nodesInUse
      let due = state.planned.removeDue(timer.now, limit: Self.dueMax) { open.contains($0) }
      return (due.map { (state.namespace.id(of: $0.node), $0.rule) }, state.planned.nextCall())
    }
    evict(due)
    callForEvictions(at: next)
  }

  /// Evicts what is due; what somebody presents, when he has answered. Nobody waits for these evictions.
  private func evict(_ due: [(node: NodeID, rule: String)]) {
    guard let presenters, presenters.areThere else {
      for (node, rule) in due { evictBySystem(node, by: rule) {} }
      return
    }
    var nodes: [NodeID] = []
    var paths: [[UInt8]] = []
    var others: [(node: NodeID, rule: String)] = []
    state.withLock { state in
      for item in due {
        // Of what would be refused nobody is asked.
        guard let node = state.namespace.index(of: item.node), state.mayGo(node) else {
          others.append(item)
          continue
        }
        state.planned.beginAsking(node)
        nodes.append(item.node)
        paths.append(state.namespace.path(of: node))
      }
    }
    for (node, rule) in others { evictBySystem(node, by: rule) {} }
    guard !nodes.isEmpty else { return }
    presenters.look { [self, nodes, paths] presented in
      metadata.submit { [self] in
        var (free, held): ([NodeID], [NodeID]) = ([], [])
        for (node, path) in zip(nodes, paths) {
          if presented.isConcerned(by: path) { held.append(node) } else { free.append(node) }
        }
        evictAsked(free, nil)
        state.withLock { $0.askedEvictions.add(held) }
        askNext()
      }
    }
  }

  /// Asks about the files that wait for it, unless an answer is waited for.
  private func askNext() {
    let nodes = state.withLock { $0.askedEvictions.next() }
    guard !nodes.isEmpty, let presenters else { return }
    var paths: [[UInt8]] = []
    inSteps(nodes) { state, part in
      for id in part {
        // Written to, or evicted by somebody else, while it waited.
        guard let node = state.namespace.index(of: id), state.planned.isAsked(node) else { continue }
        paths.append(state.namespace.path(of: node))
      }
    }
    presenters.ask(ItemQuestion(.evict, paths: paths)) { [self] _, number in
      metadata.submit { [self] in
        evictAsked(nodes, number)
        state.withLock { $0.askedEvictions.answered() }
        askNext()
      }
    }
  }

  /// Those who present files that were due have answered, or have had their time.
  private func evictAsked(_ nodes: [NodeID], _ number: UInt64?) {
    var due: [(node: NodeID, rule: String)] = []
    inSteps(nodes) { state, part in
      guard state.ending == nil else { return }
      for id in part {
        guard let node = state.namespace.index(of: id), let rule = state.planned.endAsking(node, now: timer.now) else {
          continue
        }
        due.append((id, rule))
      }
    }
    let next: MonotonicTime? = state.withLock { $0.ending == nil ? $0.planned.nextCall() : nil }
    let left = Countdown(due.count) { [self] in if let number { presenters?.end(number) } }
    for (node, rule) in due { evictBySystem(node, by: rule) { left.one() } }
    callForEvictions(at: next)
  }

  private func inSteps(_ nodes: [NodeID], _ body: (inout EngineState, ArraySlice<NodeID>) -> Void) {
    var yielder = LockYielder(timer)
    for start in stride(from: 0, to: nodes.count, by: Self.dueMax) {
      let part = nodes[start..<min(start + Self.dueMax, nodes.count)]
      state.withLock { body(&$0, part) }
      yielder.yieldIfDue()
    }
  }

  /// Evicts without waiting for a close. A file that was opened meanwhile is tried again when it is closed, a mapped
  /// one after a time.
  private func evictBySystem(_ node: NodeID, by rule: String, _ completion: @escaping @Sendable () -> Void) {
    evict(node, by: "rule:" + rule, deadline: timer.now, cleared: nil) { [self] result in
      if case .refused(let refusal) = result { keepPlan(of: node, after: refusal.reason) }
      completion()
    }
  }

  /// What was refused is tried again; a file with several names is not, nor one that is pinned: when it is no more, all
  /// is decided anew.
  private func keepPlan(of id: NodeID, after reason: EvictionRefusal.Reason) {
    let next: MonotonicTime? = state.withLock { state in
      guard let node = state.namespace.index(of: id) else { return nil }
      if reason == .severalNames || reason == .pinned {
        state.planned.drop(node)
      } else {
        state.planned.refused(node, isOpen: state.openFiles.count(of: node) > 0, now: timer.now)
      }
      return state.planned.nextCall()
    }
    callForEvictions(at: next)
  }

  /// Whether an open of this file is to evict it first; asked before it is opened.
  public func evictsBeforeRead(_ node: NodeID) -> Bool {
    guard plansEvictions.load(ordering: .relaxed) else { return false }
    return state.withLock { $0.ruleBeforeRead(node) != nil }
  }

  /// Has an open wait while its file is evicted: an eviction is under way, or a rule wants one before the open. The
  /// caller waits under a waiter as for the store: a signal and the end of the volume reach him.
  ///
  /// - Parameter completion: Called exactly once, on the metadata lane or here. nil: the open goes on, whatever became
  ///   of the eviction. EINTR: the caller has been killed. ETIMEDOUT: the volume ends.
  public func waitForEviction(
    _ node: NodeID, threadID: Int32, waiter: WaiterID, completion: @escaping @Sendable (FSError?) -> Void
  ) {
    enum Step {
      case done(FSError?)
      case waits
      case evict(rule: String)
    }
    // Not on the notifier lane, which others' evictions wait for.
    let goOn: @Sendable () -> Void = { [self] in
      metadata.submit { [self] in
        if state.withLock({ $0.calls.claim(waiter) != nil }) { completion(nil) }
      }
    }
    let (step, isInterrupted): (Step, Bool) = state.withLock { state in
      let isInterrupted = state.calls.receive(waiter)
      if let ending = state.ending { return (.done(ending), false) }
      let call = PendingCalls.Call(threadID: threadID, fail: { completion($0) })
      if state.pageDrops.wait(for: node, goOn) {
        state.calls.park(waiter, call)
        return (.waits, isInterrupted)
      }
      guard let rule = state.ruleBeforeRead(node) else { return (.done(nil), false) }
      state.calls.park(waiter, call)
      return (.evict(rule: rule), isInterrupted)
    }
    if isInterrupted { interrupt(waiter) }
    switch step {
    case .done(let error): completion(error)
    case .waits: break
    case .evict(let rule): evictBySystem(node, by: rule, goOn)
    }
  }

  // MARK: - When the rules change

  /// Decides anew about all resident files, in steps on the metadata lane: of what no rule wants any more, nothing is
  /// left.
  func renewEvictions() {
    let generation = state.withLock { $0.planned.generation }
    metadata.submit { [self] in renewEvictions(generation, from: .root) }
  }

  /// LIMIT: records looked at under one lock.
  private static let scanStep = 1024

  private func renewEvictions(_ generation: UInt64, from start: NodeIndex) {
    var start = start
    var yielder = LockYielder(timer)
    while true {
      yielder.yieldIfDue()
      var found: [NodeID] = []
      let goesOn: Bool = state.withLock { state in
        guard state.planned.generation == generation, state.ending == nil else { return false }
        let next = state.namespace.visitNodes(from: start, limit: Self.scanStep) { node, _ in
          if state.isEvictable(node) { found.append(state.namespace.id(of: node)) }
        }
        start = next ?? start
        return next != nil
      }
      for node in found { planEviction(node, isRenewed: true) }
      if !goesOn { return }
    }
  }
}

extension EngineState {
  /// A resident file with content, under a name.
  func isEvictable(_ node: NodeIndex) -> Bool {
    let record = namespace[node]
    return record.kind == .file && record.canBeDataless && record.state == .resident && !record.isOrphan
      && !record.isDirty && !policy(of: node).keepsContent
  }

  /// What the rules are asked about a resident file: the attempt is the one that made it so. nil when there is nothing
  /// to evict.
  func evictionFacts(of node: NodeIndex, _ now: MonotonicTime) -> TriggerFacts? {
    guard isEvictable(node) else { return nil }
    return TriggerFacts(
      path: namespace.path(of: node), names: namespace.paths(of: node), kind: .file, size: namespace[node].size,
      trigger: .read,
      attempt: max(1, Int(namespace[node].attempts)), sinceLoaded: now - loadedAt, seed: simulation.seed)
  }

  /// The rule that wants a file evicted by an open, while nobody else has it open.
  func ruleBeforeRead(_ node: NodeID) -> String? {
    guard let position = namespace.index(of: node), isEvictable(position), openFiles.count(of: position) == 0 else {
      return nil
    }
    return planned.ruleBeforeRead(position)
  }
}
