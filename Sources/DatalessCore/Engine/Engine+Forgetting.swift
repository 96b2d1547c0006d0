/// Giving back what nobody can ask for any more: names that are gone, and items that no name, no handle and no kernel
/// knows.
///
/// On the metadata lane, in steps. Whoever keeps indices of names or nodes past a hold of the lock takes a *pin*
/// meanwhile, which puts it off: a refresh, the eviction of a directory until the kernel was told, the end of an
/// attempt with many waiters, the removal of all names of a directory that is gone. A walk through one directory holds
/// that one alone (`Engine.hold`).
extension Engine {
  /// LIMIT: records looked at under one lock.
  private static let giveBackStep = 256

  /// Begins to give back, unless there is nothing, or that goes on already.
  func giveBackLeftovers() {
    guard state.withLock({ $0.reclamation.begin($0.hasReclaimable) }) else { return }
    metadata.submit { [self] in
      var yielder = LockYielder(timer)
      while giveBackSome() { yielder.yieldIfDue() }
    }
  }

  /// - Returns: Whether there is more.
  private func giveBackSome() -> Bool {
    let (goesOn, left): (Bool, [any ContentWatch]) = state.withLock { state in
      guard state.reclamation.goOn(state.hasReclaimable) else { return (false, []) }
      let (handles, contents) = (state.openFiles.nodesInUse, state.contents)
      var (forgotten, freed): ([NodeIndex], [NameGraph.FreedName]) = ([], [])
      state.namespace.giveBackSome(limit: Self.giveBackStep, forgotten: &forgotten, freed: &freed) {
        handles.contains($0) || contents.isAtWork(on: $0)
      }
      state.extras.forget(forgotten)
      state.policies.forget(forgotten)
      state.moves.forget(forgotten)
      state.writers.forget(forgotten)
      state.passed.forget(forgotten)
      state.restorations.end(forgotten)
      for name in freed { state.costs.add(-ChangeCosts.name(name.length), to: name.node, of: 0) }
      state.costs.forget(forgotten)
      state.attributeCosts.forget(forgotten)
      state.heights.forget(forgotten)
      return (true, state.passed.takeLeft())
    }
    _ = consume left
    return goesOn
  }

  /// What a handle kept from being given back: an item without a name, and names that are gone of a directory.
  func releaseLeft(_ node: NodeID) {
    let (isOrphan, hasLeftovers): (Bool, Bool) = state.withLock { state in
      let isOrphan = state.namespace.index(of: node).map { state.namespace[$0].isOrphan } ?? false
      return (isOrphan, state.namespace.hasLeftovers)
    }
    if isOrphan { dispose([node]) } else if hasLeftovers { giveBackLeftovers() }
  }

  /// Takes a pin back.
  func unpin() {
    state.withLock { $0.reclamation.unpin() }
    giveBackLeftovers()
  }
}

extension EngineState {
  /// Whether names or items that are gone have places to be given back: not any more when the volume ends.
  var hasReclaimable: Bool { ending == nil && namespace.hasLeftovers }
}
