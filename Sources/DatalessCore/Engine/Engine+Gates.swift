internal import Synchronization
internal import SystemPackage

extension Engine {
  /// The gates that rules name, by name, each with the first of its held attempts and at most 64 callers of each.
  ///
  /// - Parameter heldEach: How many attempts of each gate are described.
  public func gates(heldEach limit: Int = 1000) -> [GateSnapshot] {
    // Nothing leaves the lock that shares its storage with a gate: the gate's next change would copy all that it holds.
    let gates = state.withLock { state in
      state.gates.map { name, gate in
        let snapshot = GateSnapshot(
          name: name, isOpen: gate.isOpen, callers: gate.callers, attemptCount: gate.held.count, held: [])
        return (snapshot: snapshot, held: limit > 0 ? Array(gate.held) : [])
      }
    }
    return gates.sorted { $0.snapshot.name < $1.snapshot.name }.map { snapshot, held in
      var snapshot = snapshot
      snapshot.held = snapshots(of: held.sorted().prefix(max(limit, 0)), waitersEach: 64)
      return snapshot
    }
  }

  /// Lets held attempts go on, or fail.
  ///
  /// - Parameters:
  ///   - by: Who releases, for the log: `command`, `api`.
  /// - Returns: How many were released. ENOENT: there is no such gate. ESRCH: it holds nothing of the kind.
  public func release(
    gate name: String, _ selection: GateSelection, _ release: GateRelease, by: String
  ) -> Result<Int, FSError> {
    guard let held = state.withLock({ state in state.gates[name].map { Array($0.held) } }) else {
      return .failure(FSError(.noSuchFileOrDirectory, "there is no gate '\(name)'"))
    }
    let released = self.release(select(selection, of: held.sorted()), from: name, release, by)
    guard released > 0 else {
      return .failure(FSError(.noSuchProcess, "the gate '\(name)' holds nothing of the kind"))
    }
    return .success(released)
  }

  /// Opens a gate, which releases what it holds and lets everything pass from now on; or closes it again.
  ///
  /// - Returns: How many attempts were released. ENOENT: there is no such gate.
  public func setGate(_ name: String, isOpen: Bool, by: String) -> Result<Int, FSError> {
    let held: [AttemptID]? = state.withLock { state in
      guard let gate = state.gates[name] else { return nil }
      state.gates[name]?.isOpen = isOpen
      return isOpen ? Array(gate.held) : []
    }
    guard let held else { return .failure(FSError(.noSuchFileOrDirectory, "there is no gate '\(name)'")) }
    return .success(release(held.sorted(), from: name, .proceed, by))
  }

  /// - Parameter held: In the order in which they came.
  private func select(_ selection: GateSelection, of held: [AttemptID]) -> [AttemptID] {
    switch selection {
    case .all: return held
    case .first(let count): return Array(held.prefix(max(count, 0)))
    case .attempt(let id): return held.filter { $0.rawValue == id }
    case .path(let pattern):
      var paths: [(attempt: AttemptID, path: [UInt8])] = []
      inPieces(held) { _, attempt in
        paths.append((attempt.id, attempt.path))
        return []
      }
      // Without the lock: a pattern may take long.
      return paths.filter { pattern.matches($0.path) }.map(\.attempt)
    }
  }

  /// - Returns: How many were still held there.
  @discardableResult
  func release(_ chosen: [AttemptID], from name: String, _ release: GateRelease, _ by: String) -> Int {
    var count = 0
    inPieces(chosen) { state, attempt in
      guard attempt.stage == .held, attempt.plan.gate?.value == name else { return [] }
      count += 1
      return state.release(attempt, from: name, release, by, timer.now)
    }
    return count
  }

  /// Waits until so many callers are blocked at a gate, or the time is over.
  ///
  /// - Parameters:
  ///   - callers: 1 or more; 0 is reached at once.
  ///   - deadline: nil = no limit.
  ///   - completion: Called exactly once with the callers blocked then, on any lane, perhaps before this returns; nil: there
  ///     is no such gate, or it went away.
  public func waitForCallers(
    _ callers: Int, at name: String, until deadline: MonotonicTime?,
    completion: @escaping @Sendable (Int?) -> Void
  ) {
    enum Step {
      case done(Int?)
      case waiting(UInt64)
    }
    let step: Step = state.withLock { state in
      guard let gate = state.gates[name] else { return .done(nil) }
      if gate.callers >= callers { return .done(gate.callers) }
      let id = state.nextWatcher
      state.nextWatcher += 1
      state.gates[name]?.watchers[id] = Gate.Watcher(callers: callers, completion: { completion($0 < 0 ? nil : $0) })
      return .waiting(id)
    }
    switch step {
    case .done(let count): completion(count)
    case .waiting(let id):
      guard let deadline else { return }
      let token = timer.schedule(at: deadline) { [self] in
        let late: (Gate.Watcher, Int)? = state.withLock { state in
          guard let watcher = state.gates[name]?.watchers.removeValue(forKey: id) else { return nil }
          return (watcher, state.gates[name]?.callers ?? 0)
        }
        if let (watcher, count) = late { watcher.completion(count) }
      }
      let isWaiting: Bool = state.withLock { state in
        state.gates[name]?.watchers[id]?.timer = token
        return state.gates[name]?.watchers[id] != nil
      }
      if !isWaiting { timer.cancel(token) }
    }
  }
}

extension EngineState {
  /// Whether a gate holds new attempts.
  func holds(_ name: String) -> Bool { gates[name].map { !$0.isOpen } ?? false }

  mutating func hold(_ attempt: Attempt, _ part: Decision.Part<String>, _ now: MonotonicTime) -> [Action] {
    attempt.stage = .held
    attempt.stageSince = now
    gates[part.value]?.held.insert(attempt.id)
    events.record(
      .materializationHeld(
        Event.Hold(attempt: attempt.id.rawValue, path: attempt.path, gate: part.value, rule: part.rule, time: now)))
    return noteCallers(of: attempt, attempt.waiters.count)
  }

  /// Books callers who came to or left a held attempt. - Returns: The watchers who have seen enough.
  mutating func noteCallers(of attempt: Attempt, _ change: Int) -> [Action] {
    guard attempt.stage == .held, let name = attempt.plan.gate?.value else { return [] }
    // A gate that no rule named for a moment is another one, of which nothing is left.
    guard gates[name]?.held.contains(attempt.id) == true else { return [] }
    gates[name]?.callers += change
    guard let gate = gates[name], !gate.watchers.isEmpty else { return [] }
    var actions: [Action] = []
    for (watcherID, watcher) in gate.watchers where watcher.callers <= gate.callers {
      gates[name]?.watchers[watcherID] = nil
      actions.append(.call({ watcher.completion(gate.callers) }))
      if let timer = watcher.timer { actions.append(.cancelTimer(timer)) }
    }
    return actions
  }

  /// Takes an attempt that ends, or goes on, out of its gate.
  mutating func leaveGate(_ attempt: Attempt) {
    guard attempt.stage == .held, let name = attempt.plan.gate?.value, gates[name]?.held.remove(attempt.id) != nil
    else { return }
    gates[name]?.callers -= attempt.waiters.count
  }

  mutating func release(
    _ attempt: Attempt, from name: String, _ release: GateRelease, _ by: String, _ now: MonotonicTime
  ) -> [Action] {
    var errno: Errno?
    if case .fail(let error) = release { errno = error.errno }
    events.record(
      .materializationReleased(
        Event.Release(
          attempt: attempt.id.rawValue, path: attempt.path, gate: name, by: by, errno: errno,
          heldNanoseconds: now - attempt.stageSince, time: now)))
    switch release {
    case .proceed:
      leaveGate(attempt)
      attempt.held += now - attempt.stageSince
      attempt.stage = .starting
      return enterQueue(attempt, now)
    case .fail(let error):
      let end = AttemptEnd(outcome: .failed(error.errno), message: error.message, rule: attempt.plan.gate?.rule)
      return finish(attempt, end, now)
    }
  }

  /// Takes all watchers of all gates: the volume ends.
  mutating func takeGateWatchers() -> [Action] {
    var actions: [Action] = []
    for name in gates.keys { actions += takeWatchers(of: name) }
    return actions
  }

  /// - Returns: Calls that tell the watchers of a gate that it is gone.
  mutating func takeWatchers(of name: String) -> [Action] {
    let watchers = gates[name]?.watchers ?? [:]
    gates[name]?.watchers = [:]
    return watchers.values.flatMap { watcher -> [Action] in
      [.call({ watcher.completion(-1) })] + (watcher.timer.map { [.cancelTimer($0)] } ?? [])
    }
  }
}
