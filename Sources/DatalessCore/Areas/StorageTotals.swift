internal import Synchronization
internal import SystemPackage

/// What could go if room were short, in bytes of local content.
public struct StorageTotals: Sendable, Equatable {
  public var temporary: Int64 = 0
  /// Of apps that do not run.
  public var caches: Int64 = 0
  /// What can come again, outside of what is purged.
  public var evictable: Int64 = 0

  public var purgeable: Int64 { temporary.saturatingAdd(caches) }

  public init(temporary: Int64 = 0, caches: Int64 = 0, evictable: Int64 = 0) {
    self.temporary = temporary
    self.caches = caches
    self.evictable = evictable
  }
}

/// How much room there is, and for whom: Apple's two capacities.
public struct StorageCapacity: Sendable, Equatable {
  /// The room that content may take, and what is free of it, as statfs(2) of a writable volume shows them.
  public var total: Int64
  public var free: Int64
  /// What could go.
  public var totals: StorageTotals
  /// What does not count for what nobody has asked for.
  public var reserve: Int64

  public init(total: Int64, free: Int64, totals: StorageTotals, reserve: Int64) {
    self.total = total
    self.free = free
    self.totals = totals
    self.reserve = reserve
  }

  /// For what people ask for, or an app needs: with all that could go for it.
  public var important: Int64 {
    min(total, free.saturatingAdd(totals.purgeable).saturatingAdd(totals.evictable))
  }

  /// For what nobody has asked for: nothing but temporary files goes for it.
  public var opportunistic: Int64 {
    max(0, min(total, free.saturatingAdd(totals.temporary)).saturatingAdd(-reserve))
  }
}

extension Engine {
  /// LIMIT: records looked at under one lock.
  private static let totalsStep = 1024

  /// Adds up what could go now. - Parameter completion: Called once, on the metadata lane.
  public func storageTotals(completion: @escaping @Sendable (StorageTotals) -> Void) {
    metadata.submit { [self] in
      lookAtApps()
      var totals = StorageTotals()
      var next: NodeIndex? = .root
      var yielder = LockYielder(timer)
      while let start = next {
        yielder.yieldIfDue()
        next = state.withLock { state in
          state.ending == nil ? state.addSome(to: &totals, from: start, limit: Self.totalsStep) : nil
        }
      }
      completion(totals)
    }
  }
}

extension EngineState {
  /// Adds what of some items could go. - Returns: Where to go on; nil at the end.
  fileprivate func addSome(to totals: inout StorageTotals, from start: NodeIndex, limit: Int) -> NodeIndex? {
    var found: [NodeIndex] = []
    let next = namespace.visitNodes(from: start, limit: limit) { node, record in
      if record.kind == .file, record.isLocal { found.append(node) }
    }
    for node in found {
      switch standing(of: node) {
      case .keep: break
      case .evict: totals.evictable = totals.evictable.saturatingAdd(localBytes(of: node))
      case .purge(.temporary, _): totals.temporary = totals.temporary.saturatingAdd(localBytes(of: node))
      case .purge(.cache, _): totals.caches = totals.caches.saturatingAdd(localBytes(of: node))
      }
    }
    return next
  }
}
