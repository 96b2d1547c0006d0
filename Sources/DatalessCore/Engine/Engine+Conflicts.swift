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

  /// Resolves the conflicts at paths, and below them, each in one change. On a thread that may wait for the disk of
  /// what an earlier run has kept.
  ///
  /// - Parameters:
  ///   - barrier: Why what is at a path may not go, for a reason that only the caller knows; nil: it may.
  ///   - completion: Called once, perhaps before this returns, when the kernel has forgotten what it knew of whatever
  ///     changed.
  public func resolveConflicts(
    at paths: [[UInt8]], _ choice: ConflictChoice, barrier: ([UInt8]) -> FSError? = { _ in nil },
    completion: @escaping @Sendable (ConflictResult) -> Void
  ) {
    var result = ConflictResult()
    var hasTrees = false
    var dropped: [(directory: NodeID, name: [UInt8])] = []
    var changed: [NodeID: [[UInt8]]] = [:]
    let found = conflicts(at: paths)
    for path in paths where !found.contains(where: { $0.path.isAtOrBelow(path) }) && !path.isEmpty {
      result.failures.append((path, FSError(.noSuchFileOrDirectory, "there is no conflict at it, or below it")))
    }
    // Those that could not be taken away.
    var kept: [[UInt8]: FSError] = [:]
    func fail(_ path: [UInt8], _ error: FSError) {
      result.failures.append((path, error))
      if choice == .takeTheirs { kept[path] = error }
    }
    for conflict in found {
      if choice == .takeTheirs, let error = Self.left(conflict.path, kept) ?? barrier(conflict.path) {
        fail(conflict.path, error)
        continue
      }
      switch resolve(conflict, choice) {
      case .none: break
      case .needsLook:
        fail(
          conflict.path,
          FSError(.resourceBusy, "what is in it is changed all the time. Try again, or keep yours"))
      case .failed(let error): fail(conflict.path, error)
      case .resolved(let resolved, let names, let hasTree):
        result.resolved += resolved
        for (directory, name) in names { changed[directory, default: []].append(name) }
        hasTrees = hasTrees || hasTree
        if choice == .takeTheirs { dropped += names }
      }
    }
    adoptNewVersions()
    tellChangedNodes()
    if hasTrees {
      emptyTrash()
      kernel.expireNames()
    }
    let left = Countdown(changed.count) { [kernel, dropped, result] in
      // What has gone goes there, too, and what it has cached below: as long as the kernel knows a file, its content
      // stays.
      for name in dropped { kernel.dropName(name.name, of: name.directory) }
      completion(result)
    }
    for (directory, names) in changed {
      kernel.invalidateDirectory(directory, names: { names }) { left.one() }
    }
  }
}

extension Engine {
  /// Who wants a whole directory gone, and cannot have that, keeps what is below it, too. Parents come before what is
  /// in them.
  private static func left(_ path: [UInt8], _ kept: [[UInt8]: FSError]) -> FSError? {
    guard !kept.isEmpty else { return nil }
    for end in path.indices where path[end] == UInt8(ascii: "/") {
      if let above = kept[Array(path[..<end])] {
        return FSError(above.errno, "it is left, as the directory in which it lies could not be taken away")
      }
    }
    return nil
  }

  /// LIMIT: how often a directory is looked at anew because something was changed meanwhile.
  private static let looksMax = 4

  /// Resolves one. A directory with something in it that is to go is looked at first, in steps.
  private func resolve(_ conflict: ConflictDescription, _ choice: ConflictChoice) -> EngineState.ConflictStep {
    var tree: ConflictTree?
    var round = 0
    while true {
      let step = changeNames { [timer] in $0.resolveConflict(conflict.node, choice, tree: tree, at: timer.now) }
      guard case .needsLook(var target) = step, round < Self.looksMax else { return step }
      round += 1
      let changes = state.withLock { $0.trash.changes }
      do throws(FSError) {
        target.found = try lookAt(target)
      } catch {
        return .failed(error)
      }
      // Others may change things all the time: what the last look found counts.
      tree = ConflictTree(target: target, changes: round < Self.looksMax ? changes : nil)
    }
  }
}

extension [UInt8] {
  /// Whether it is a path, or lies below it.
  fileprivate func isAtOrBelow(_ path: [UInt8]) -> Bool {
    path.isEmpty || self == path || (starts(with: path) && self[path.count] == UInt8(ascii: "/"))
  }
}
