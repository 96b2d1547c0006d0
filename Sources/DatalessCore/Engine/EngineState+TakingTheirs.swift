internal import SystemPackage

/// A directory that is to go because the store's side is taken, and what is in it.
struct ConflictTree {
  let target: RemovalTarget
  /// `Trash.changes` before it was looked at; nil: what has changed since does not matter.
  let changes: UInt64?
}

extension EngineState {
  /// What becomes of a conflict that is to be resolved.
  enum ConflictStep {
    /// - Parameters:
    ///   - conflicts: It, and those that have gone with it.
    ///   - hasTree: Whether a directory has gone with what was in it.
    case resolved(_ conflicts: [ResolvedConflict], names: [(directory: NodeID, name: [UInt8])], hasTree: Bool)
    /// A directory with something in it is to go: it is to be looked at first. Nothing was changed.
    case needsLook(RemovalTarget)
    /// There is none any more.
    case none
    case failed(FSError)
  }

  /// A conflict that is being resolved.
  struct Resolving {
    let node: NodeIndex
    let kind: ConflictKind
    /// As `resolveConflict`.
    let tree: ConflictTree?
    let now: MonotonicTime
    /// As `ConflictStep.needsLook`.
    var unknown: RemovalTarget?
    var hasTree = false
    /// Conflicts in that directory.
    var inside: [ConflictDescription] = []
    /// The name that what was here has got, and its path.
    var copyName: NameIndex?
    var copy: [UInt8]?
    /// Names that lead elsewhere than before.
    var names: [(directory: NodeID, name: [UInt8])] = []
  }

  func isBusy(_ node: NodeIndex) -> FSError? {
    // A mapping that the kernel writes to is left after the close.
    guard writers.nodes.contains(node) || passed[node] != nil else { return nil }
    guard openFiles.count(of: node) > 0 else {
      return FSError(
        .resourceBusy,
        "it was closed less than a second ago, or is mapped, and what is written would be lost. Try again, or end what has it mapped"
      )
    }
    return FSError(
      .resourceBusy, "it is open for writing, or mapped, and what is written would be lost. Close it first")
  }

  /// What is here goes.
  mutating func takeAway(_ resolving: inout Resolving) -> FSError? {
    let node = resolving.node
    guard let name = namespace.nameInConflict(node) else { return nil }
    if let error = isBusy(node) { return error }
    guard namespace[node].kind == .directory else {
      noteName(name, &resolving)
      _ = takeAway(name)
      touch(namespace.record(of: name).directory)
      return nil
    }
    if case .ready = emptiness(of: node) {
      noteName(name, &resolving)
      _ = takeAway(name)
      touch(namespace.record(of: name).directory, links: -1)
      return nil
    }
    return takeAwayTree(name, &resolving)
  }

  /// A directory goes with what is in it, as by `dataless remove`: named in the log, with what programs had written.
  private mutating func takeAwayTree(_ name: NameIndex, _ resolving: inout Resolving) -> FSError? {
    guard let tree = resolving.tree, tree.target.node == namespace.id(of: resolving.node),
      tree.changes == nil || tree.changes == trash.changes
    else {
      resolving.unknown = target(name, path: namespace.path(ofName: name))
      return FSError(.directoryNotEmpty, "it is a directory with something in it")
    }
    if let path = writtenFile(below: resolving.node) {
      return FSError(
        .resourceBusy,
        "'\(String(decoding: path, as: UTF8.self))' in it is open for writing, or mapped, and what is written would be"
          + " lost. Close it first")
    }
    resolving.inside = resolveInside(resolving.node, path: namespace.path(ofName: name))
    noteName(name, &resolving)
    detach([tree.target], [name], by: Remover(.nobody), at: resolving.now)
    resolving.hasTree = true
    return nil
  }

  /// Conflicts of what goes with a directory, and is found nowhere else, are resolved with it. Before it goes: then
  /// they have no path any more.
  private mutating func resolveInside(_ directory: NodeIndex, path: [UInt8]) -> [ConflictDescription] {
    let prefix = path + [UInt8(ascii: "/")]
    var found: [ConflictDescription] = []
    for node in namespace.conflicts.nodes where node != directory {
      // Before a path is made: there may be many conflicts, and few of them in here.
      guard namespace.directories(of: node).allSatisfy({ namespace.isIn(directory, $0) }),
        let conflict = describeConflict(node), conflict.path.starts(with: prefix)
      else { continue }
      namespace.resolveConflict(of: node)
      found.append(conflict)
    }
    return found.sorted { $0.path.lexicographicallyPrecedes($1.path) }
  }

  /// The path of a file below a directory that somebody writes to; nil: there is none.
  private func writtenFile(below directory: NodeIndex) -> [UInt8]? {
    for node in writers.nodes.all + passed.nodes {
      let isInside = namespace.directories(of: node).contains { parent in
        namespace.isIn(parent) { $0 == directory }
      }
      if isInside { return namespace.path(of: node) }
    }
    return nil
  }
}
