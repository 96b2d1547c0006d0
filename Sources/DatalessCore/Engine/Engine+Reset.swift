internal import Synchronization
internal import SystemPackage

/// What keeps a volume from being as freshly mounted.
public enum ResetObstacle: Sendable, Equatable {
  /// An item is being materialized, held at a gate or not, and so many callers wait for it: none for a pin's fetch.
  case inFlight(path: [UInt8], callers: Int)
  /// A delayed call on what is local waits.
  case delayed(path: [UInt8])
  /// So many handles are open.
  case open(path: [UInt8], handles: Int)
  /// It was written to, and is nowhere else.
  case dirty(path: [UInt8])
  /// Programs have changed so much else on the volume: names, attributes.
  case changes(UInt64)
}

extension Engine {
  // LIMIT: obstacles of each kind that are named, and items that one hold of the lock looks at.
  private static let namedMax = 10
  private static let resetStep = 4096

  /// What keeps the volume from being as freshly mounted, at most 10 of each kind; empty if nothing does. Local content
  /// is no obstacle: it is evicted.
  public func resetObstacles() -> [ResetObstacle] {
    let attempts = attemptsInFlight(waitersEach: 0).prefix(Self.namedMax).map {
      ResetObstacle.inFlight(path: $0.path, callers: $0.waiterCount)
    }
    let delayed = accessesUnderWay(atMost: Self.namedMax).some.map { ResetObstacle.delayed(path: $0.path) }
    return attempts + delayed + openItems() + changedItems()
  }

  private func openItems() -> [ResetObstacle] {
    state.withLock { state in
      state.openFiles.openNodes(atMost: Self.namedMax).map {
        .open(path: state.namespace.path(of: $0), handles: state.openFiles.count(of: $0))
      }
    }
  }

  private func changedItems() -> [ResetObstacle] {
    guard writing != .readOnly else { return [] }
    let (changes, dirty) = state.withLock { ($0.trash.changes, $0.namespace.counts.filesDirty) }
    var found: [ResetObstacle] = changes > 0 ? [.changes(changes)] : []
    guard dirty > 0 else { return found }
    let named = found.count + min(dirty, Self.namedMax)
    visit { state, node in
      if state.namespace[node].isDirty, found.count < named {
        found.append(.dirty(path: state.namespace.path(of: node)))
      }
    }
    return found
  }

  /// Looks at every item, letting go of the lock in between.
  private func visit(_ body: (inout EngineState, NodeIndex) -> Void) {
    var next: NodeIndex? = .root
    while let start = next {
      next = state.withLock { state in
        var nodes: [NodeIndex] = []
        let next = state.namespace.visitNodes(from: start, limit: Self.resetStep) { node, _ in nodes.append(node) }
        for node in nodes { body(&state, node) }
        return next
      }
    }
  }

  /// The items with a content policy of their own.
  public var policiesOfTheirOwn: [(node: NodeID, policy: ContentPolicy)] {
    state.withLock { state in state.policies.all.map { (state.namespace.id(of: $0.node), $0.policy) } }
  }

  /// Forgets what was counted and remembered since the mount, and closes all gates. The items are as they are, and so
  /// are the numbers of attempts and opens, by which records of one log are told apart.
  ///
  /// To be called when nothing is in flight, and before `apply`, which sets the simulation and the counts of its rules.
  public func forgetHistory() {
    state.withLock { state in
      state.ledger.forgetTotals()
      state.openFiles.forgetOpens()
      state.accesses.forgetTotals()
      state.failures = RecentFailures()
      state.gates.closeAll()
      state.purges.forget()
      state.room.forgetOffers()
      state.moves.forgetAll()
    }
    visit { state, node in state.namespace.forgetCalls(of: node) }
  }
}
