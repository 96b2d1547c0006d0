internal import SystemPackage

/// Conflicts between what was changed on the volume and what the store has.
extension Engine {
  /// How many there are, as far as the volume was looked into.
  public var conflictCount: Int {
    state.withLock { state in state.namespace.conflicts.nodes.count { state.describeConflict($0) != nil } }
  }

  /// Conflicts at paths (relative to the root; an empty one: all), and below them, by their paths.
  public func conflicts(at paths: [[UInt8]]) -> [ConflictDescription] {
    var found: [ConflictDescription] = []
    var yielder = LockYielder(timer)
    for node in state.withLock({ state in state.namespace.conflicts.nodes.map { state.namespace.id(of: $0) } }) {
      yielder.yieldIfDue()
      let known = state.withLock { state in state.namespace.index(of: node).flatMap { state.describeConflict($0) } }
      if let known, paths.contains(where: { known.path.isAtOrBelow($0) }) { found.append(known) }
    }
    return found.sorted { $0.path.lexicographicallyPrecedes($1.path) }
  }

  /// Resolves the conflicts at paths, and below them, each in one change. - Parameter completion: Called once, perhaps
  /// before this returns, when the kernel has forgotten what it knew of whatever changed.
  public func resolveConflicts(
    at paths: [[UInt8]], _ choice: ConflictChoice, completion: @escaping @Sendable (ConflictResult) -> Void
  ) {
    var result = ConflictResult()
    var changed: [NodeID: [[UInt8]]] = [:]
    let found = conflicts(at: paths)
    for path in paths where !found.contains(where: { $0.path.isAtOrBelow(path) }) && !path.isEmpty {
      result.failures.append((path, FSError(.noSuchFileOrDirectory, "there is no conflict at it, or below it")))
    }
    for conflict in found {
      switch changeNames({ [timer] in $0.resolveConflict(conflict.node, choice, at: timer.now) }) {
      case .none: break
      case .failed(let error): result.failures.append((conflict.path, error))
      case .resolved(let resolved, let names):
        result.resolved.append(resolved)
        for (directory, name) in names { changed[directory, default: []].append(name) }
      }
    }
    adoptNewVersions()
    tellChangedNodes()
    let left = Countdown(changed.count) { [result] in completion(result) }
    for (directory, names) in changed {
      kernel.invalidateDirectory(directory, names: { names }) { left.one() }
    }
  }
}

extension [UInt8] {
  /// Whether it is a path, or lies below it.
  fileprivate func isAtOrBelow(_ path: [UInt8]) -> Bool {
    path.isEmpty || self == path || (starts(with: path) && self[path.count] == UInt8(ascii: "/"))
  }
}
