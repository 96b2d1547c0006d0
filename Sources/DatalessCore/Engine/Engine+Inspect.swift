internal import Synchronization
internal import SystemPackage

/// One item as `dataless ls` shows it.
public struct ItemDescription: Sendable {
  public var node: NodeID
  public var path: [UInt8]
  public var attributes: ItemAttributes
  /// `dataless`, `materializing`, `partial`, `resident` (a file), `listed` (a directory), or `other` for what has no
  /// content.
  public var state: String
  public var localBytes: Int64
  public var openHandles: Int
  /// A resident file of which the store has another version.
  public var isKept: Bool
  /// A file that was written to on the volume, and is nowhere else.
  public var isDirty: Bool
  /// Its own content policy, and the one that holds for it.
  public var ownPolicy: ContentPolicy
  public var policy: ContentPolicy
}

/// Where a path leads in the namespace, without materializing anything.
public enum PathResolution: Sendable {
  case found(NodeID)
  /// A component does not exist, or is not a directory.
  case absent(component: [UInt8])
  /// A directory on the way is dataless, so what is below is not known.
  case insideDataless(directory: NodeID, path: [UInt8], rest: [UInt8])
}

extension Engine {
  /// Walks a path (relative to the root, bytes) through listed directories.
  public func resolve(_ path: [UInt8]) -> PathResolution {
    let components = path.split(separator: UInt8(ascii: "/")).filter { Array($0) != [UInt8(ascii: ".")] }
    while true {
      if let answer = tryResolve(components) { return answer }
    }
  }

  /// - Returns: nil when more names of a directory on the way have to be indexed first.
  private func tryResolve(_ components: [ArraySlice<UInt8>]) -> PathResolution? {
    state.withLock { state in
      var position = NodeIndex.root
      for (index, component) in components.enumerated() {
        let record = state.namespace[position]
        guard record.kind == .directory else { return .absent(component: Array(component)) }
        guard record.state == .resident else {
          let rest = Array(components[index...].joined(separator: [UInt8(ascii: "/")]))
          return .insideDataless(
            directory: state.namespace.id(of: position), path: state.namespace.path(of: position), rest: rest)
        }
        guard state.namespace.indexNames(of: position) else { return nil }
        let found = component.withUnsafeBufferPointer { state.namespace.find($0, in: position) }
        guard let found else { return .absent(component: Array(component)) }
        position = state.namespace.record(of: found).node
      }
      return .found(state.namespace.id(of: position))
    }
  }

  /// Describes one node; nil for an unknown one.
  public func describe(_ node: NodeID) -> ItemDescription? {
    state.withLock { state in
      state.namespace.index(of: node).map { state.describe($0, path: state.namespace.path(of: $0)) }
    }
  }

  /// Whether resident files of their own content file are opened for passthrough.
  public var offersPassthrough: Bool { passthrough.load(ordering: .relaxed) }

  /// Opens of files by mode: those not closed yet, and all since the start.
  public var opens: (now: OpenModes, sinceMount: OpenModes) {
    state.withLock { ($0.openFiles.openNow, $0.openFiles.sinceMount) }
  }

  public var counts: NamespaceCounts { state.withLock { $0.namespace.counts } }
  public var totals: MaterializationTotals { state.withLock { $0.ledger.totals } }

  /// The limits on what the budgeted process and its descendants may materialize.
  public var budget: EngineConfiguration.Budget {
    state.withLock { $0.ledger.budget }
  }

  /// What counts against the budgets of `dataless run` so far, and attempts that may bring more: those in flight that a
  /// budgeted caller has waited for, whether somebody still does or not.
  public var budgetUse: (totals: MaterializationTotals, inFlight: Int) {
    state.withLock { ($0.ledger.totals, $0.ledger.budgetedAttempts) }
  }

  /// The attempts in flight, oldest first, each with at most `limit` of its waiters. One that ends while they are
  /// looked at may be missing.
  public func attemptsInFlight(waitersEach limit: Int = 64) -> [AttemptSnapshot] {
    snapshots(of: state.withLock { $0.attempts.ids }.sorted(), waitersEach: limit)
  }

  /// Describes attempts that have not ended.
  func snapshots(of attempts: some Sequence<AttemptID>, waitersEach limit: Int) -> [AttemptSnapshot] {
    let now = timer.now
    var found: [AttemptSnapshot] = []
    inPieces(attempts) { _, attempt in
      found.append(attempt.snapshot(waitersEach: limit, now))
      return []
    }
    return found
  }
}

extension EngineState {
  func describe(_ position: NodeIndex, path: [UInt8]) -> ItemDescription {
    let record = namespace[position]
    let snapshot = snapshot(of: position)
    let name: String
    switch (record.kind, record.state) {
    case (.file, .dataless): name = "dataless"
    case (.file, .materializing): name = "materializing"
    case (.file, .partial): name = "partial"
    case (.file, .resident): name = "resident"
    case (.directory, .dataless): name = "dataless"
    case (.directory, .materializing): name = "materializing"
    case (.directory, .resident): name = "listed"
    default: name = "other"
    }
    // What is presented of a dataless file need not be there (`present.blocks`).
    let isResident = record.kind == .file && snapshot.attributes.size > 0 && record.state == .resident
    let localBlocks = isResident ? snapshot.attributes.blocks : namespace.partialBlocks(of: position) ?? 0
    return ItemDescription(
      node: snapshot.node, path: path, attributes: snapshot.attributes, state: name,
      localBytes: localBlocks &* 512, openHandles: openFiles.count(of: position),
      isKept: contents.retained(of: position) != nil, isDirty: record.isDirty,
      ownPolicy: policies.own(of: position) ?? .inherited, policy: policy(of: position))
  }
}
