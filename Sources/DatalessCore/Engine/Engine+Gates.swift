internal import Synchronization
internal import SystemPackage

extension Engine {
  /// The gates that rules name, by name, each with the first of its held attempts and at most 64 callers of each.
  ///
  /// - Parameter heldEach: How many attempts of each gate are described.
  public func gates(heldEach limit: Int = 1000) -> [GateSnapshot] {
    let gates = state.withLock { state in
      state.gates.snapshots.map { gate in
        (
          gate, held: limit > 0 ? state.gates.attempts(at: gate.name) ?? [] : [],
          accesses: limit > 0 ? state.gates.accesses(at: gate.name) : []
        )
      }
    }
    return gates.sorted { $0.0.name < $1.0.name }.map { snapshot, held, accesses in
      var snapshot = snapshot
      snapshot.accesses = records(of: accesses, atMost: max(limit, 0))
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
    let found = state.withLock { state in state.gates.attempts(at: name).map { ($0, state.gates.accesses(at: name)) } }
    guard let (held, accesses) = found else {
      return .failure(FSError(.noSuchFileOrDirectory, "there is no gate '\(name)'"))
    }
    let attempts = self.release(select(selection, of: held.sorted()), from: name, release, by: by)
    let released = attempts + letGo(select(selection, of: accesses, besides: attempts), from: name, release)
    guard released > 0 else {
      return .failure(FSError(.noSuchProcess, "the gate '\(name)' holds nothing of the kind"))
    }
    return .success(released)
  }

  /// Opens a gate, which releases what it holds and lets everything pass from now on; or closes it again.
  ///
  /// - Returns: How many attempts and accesses were released. ENOENT: there is no such gate.
  public func setGate(_ name: String, isOpen: Bool, by: String) -> Result<Int, FSError> {
    let found = state.withLock { state in
      state.gates.setOpen(isOpen, name).map { ($0, isOpen ? state.gates.accesses(at: name) : []) }
    }
    guard let (held, accesses) = found else {
      return .failure(FSError(.noSuchFileOrDirectory, "there is no gate '\(name)'"))
    }
    return .success(release(held.sorted(), from: name, .proceed, by: by) + letGo(accesses, from: name, .proceed))
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
  func release(_ chosen: [AttemptID], from name: String, _ release: GateRelease, by: String) -> Int {
    var count = 0
    inPieces(chosen) { state, attempt in
      guard let gate = attempt.gate, gate.value == name else { return [] }
      count += 1
      return state.release(attempt, from: gate, release, by: by, now: timer.now)
    }
    return count
  }

  /// Waits until so many callers are blocked at a gate, or the time is over.
  ///
  /// - Parameters:
  ///   - callers: 1 or more; 0 is reached at once.
  ///   - deadline: nil = no limit.
  ///   - completion: Called exactly once with the callers blocked then, on any lane, perhaps before this returns; nil:
  ///     there is no such gate, or it went away.
  public func waitForCallers(
    _ callers: Int, at name: String, until deadline: MonotonicTime?,
    completion: @escaping @Sendable (Int?) -> Void
  ) {
    let step = state.withLock { $0.gates.watch(name, callers: callers, completion: completion) }
    switch step {
    case .done(let count): completion(count)
    case .waiting(let watcher):
      guard let deadline else { return }
      let token = timer.schedule(at: deadline) { [self] in
        if let late = state.withLock({ $0.gates.endWatch(watcher) }) { perform([late]) }
      }
      if !state.withLock({ $0.gates.setTimer(token, of: watcher) }) { timer.cancel(token) }
    }
  }
}
