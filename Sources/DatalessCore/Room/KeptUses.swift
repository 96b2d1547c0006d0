/// When files and apps were used last: what outlives a volume that is kept, so that what goes first for room is not
/// chosen anew after each mount.
public struct KeptUses: Sendable, Equatable {
  public struct File: Sendable, Equatable {
    public let node: NodeID
    /// As `NodeRecord.lastUse`.
    public let use: UInt32
  }

  /// The number of the last use of all. Those of the next run begin behind it.
  public var last: UInt32 = 0
  /// Files whose content is here.
  public var files: [File] = []
  /// As `PurgeOrder.kept`.
  public var apps: [[UInt8]: UInt32] = [:]

  public init() {}
}

extension Engine {
  /// LIMIT: records looked at under one lock.
  private static let keptStep = 1024

  /// What is to be kept of uses. Looks at all files; on a thread that may take its time.
  ///
  /// - Parameter last: As `KeptUses.last`: of files, only what came after it.
  public func uses(after last: UInt32) -> KeptUses {
    var kept = KeptUses()
    kept.last = lastUse
    var next: NodeIndex? = .root
    var yielder = LockYielder(timer)
    while let start = next {
      yielder.yieldIfDue()
      next = state.withLock { $0.addUses(to: &kept.files, after: last, from: start, limit: Self.keptStep) }
    }
    kept.apps = state.withLock { $0.purges.kept }
    return kept
  }
}

extension EngineState {
  /// - Returns: Where to go on; nil at the end.
  fileprivate mutating func addUses(
    to files: inout [KeptUses.File], after last: UInt32, from start: NodeIndex, limit: Int
  ) -> NodeIndex? {
    var found: [(node: NodeIndex, use: UInt32, isLocal: Bool)] = []
    let next = namespace.visitNodes(from: start, limit: limit) { node, record in
      guard record.kind == .file, !record.isOrphan, record.lastUse != 0,
        Int32(bitPattern: record.lastUse &- last) > 0
      else { return }
      found.append((node, record.lastUse, record.isLocal))
    }
    let areas = simulation.areas
    for file in found {
      if file.isLocal { files.append(KeptUses.File(node: namespace.id(of: file.node), use: file.use)) }
      if let place = place(of: file.node) { purges.keep(file.use, at: place, in: areas) }
    }
    return next
  }

  /// What an earlier run has kept of uses; before anything is used.
  mutating func restore(_ uses: KeptUses) {
    room.beginUses(after: uses.last)
    purges.restore(uses.apps)
  }
}
