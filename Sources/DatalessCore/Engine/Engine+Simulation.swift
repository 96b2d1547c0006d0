internal import Synchronization
internal import SystemPackage

extension Engine {
  /// What is simulated now.
  public var simulation: Simulation { state.withLock { $0.simulation } }

  /// Whether a file has several names (hard links) that are known.
  public func hasSeveralNames(_ node: NodeID) -> Bool {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return false }
      return state.namespace.hasSeveralNames(position)
    }
  }

  /// What each rule has done, in their order.
  public var ruleCounts: [RuleUse] { simulation.rules.counts }

  /// Bytes per second of the line that fetches share now.
  var sharedRate: Int64? { state.withLock { $0.link?.bytesPerSecond } }

  /// Replaces what is simulated, for triggers from now on. Attempts under way keep what was decided when they started,
  /// but for three things: slots, the shared bandwidth, and gates that no rule names any more, which let go what they
  /// held.
  ///
  /// - Parameter restartsClock: Whether `during` windows begin anew.
  public func apply(_ simulation: Simulation, restartsClock: Bool) {
    let (actions, released, renewsEvictions, isBack) = state.withLock { state in
      let now = timer.now
      let isBack = state.simulation.isOffline && !simulation.isOffline
      let renewsEvictions = state.planned.changeRules(
        from: state.simulation, to: simulation, restartsClock: restartsClock)
      if state.simulation.areas != simulation.areas {
        state.purges.forget()
        state.room.forgetOffers()
        state.moves.forgetAll()
      }
      state.simulation = simulation
      state.namespace.present(simulation.presentation)
      if restartsClock { state.loadedAt = now }
      if state.link?.bytesPerSecond != simulation.bandwidth {
        state.link = simulation.bandwidth.map(BandwidthLink.init(bytesPerSecond:))
      }
      let (actions, released) = state.gates.setNames(simulation.rules.gates)
      state.room.setLimit(simulation.quota)
      return (actions + state.fillSlots(now), released, renewsEvictions, isBack)
    }
    limitsRoom.store(simulation.quota != nil, ordering: .relaxed)
    plansEvictions.store(simulation.rules.decidesEviction, ordering: .relaxed)
    delayedAccess.store(simulation.delayedAccess.rawValue, ordering: .relaxed)
    perform(actions)
    for gate in released {
      release(gate.held.sorted(), from: gate.gate, .proceed, by: "configuration")
      letGo(gate.accesses, from: gate.gate, .proceed)
    }
    if renewsEvictions { renewEvictions() }
    settleRoom()
    if isBack { fetchPinned() }
    schedulePoll()
  }

  /// What the rules would be asked if an item were triggered now; nothing is triggered.
  ///
  /// - Parameter trigger: nil: `read` for a file, `readdir` for a directory.
  /// - Returns: nil for an unknown node.
  public func facts(of node: NodeID, trigger: Trigger?) -> TriggerFacts? {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return nil }
      let record = state.namespace[position]
      let kind = record.materializationKind
      return TriggerFacts(
        path: state.namespace.path(of: position), names: state.namespace.paths(of: position), kind: kind,
        size: kind == .file ? record.size : 0,
        trigger: trigger ?? (kind == .file ? .read : .readdir), attempt: Int(record.attempts) + 1,
        sinceLoaded: timer.now - state.loadedAt, seed: state.simulation.seed)
    }
  }
}

extension RuleSet {
  /// The gates that rules name.
  var gates: Set<String> { Set(rules.lazy.flatMap { [$0.effects.gate].compactMap(\.self) + $0.effects.access.gates }) }
}
