internal import SystemPackage

/// A path whose item is to be removed, as it was found.
struct RemovalTarget {
  let path: [UInt8]
  let parent: NodeID
  let name: [UInt8]
  let node: NodeID
  /// What was found below it; the item included.
  var found = RemovedItems()
}

/// How a tree is taken away: its name goes, and with it everything below is reached by nobody. What is below goes later
/// (`emptySome`).
extension EngineState {
  // MARK: - What is reached

  /// Whether a directory lies in a tree that was removed.
  func isDetached(_ directory: NodeIndex) -> Bool {
    trash.isBusy && (namespace[directory].isOrphan || namespace.isInOrphan(directory))
  }

  /// Whether all names of an item lie in trees that were removed.
  func isRemoved(_ node: NodeIndex) -> Bool {
    guard trash.isBusy, !namespace[node].isOrphan else { return false }
    return namespace.directories(of: node).allSatisfy { isDetached($0) }
  }

  // MARK: - Finding

  enum TargetSearch {
    case found(NameIndex)
    /// More names have to be indexed first.
    case again
    case needsListing(NodeID)
    case refused(FSError)
  }

  /// The name that a path ends in.
  mutating func target(at path: [UInt8]) -> TargetSearch {
    let components = path.split(separator: UInt8(ascii: "/"))
    guard !components.isEmpty else { return .refused(FSError(.resourceBusy, "it is the root of the volume")) }
    var (directory, found) = (NodeIndex.root, NameIndex.end)
    for component in components {
      if found != .end { directory = namespace.record(of: found).node }
      let record = namespace[directory]
      guard record.kind == .directory else { return .refused(FSError(.notDirectory, "not a directory is on the way")) }
      guard record.state == .resident else { return .needsListing(namespace.id(of: directory)) }
      guard namespace.indexNames(of: directory) else { return .again }
      guard let name = component.withUnsafeBufferPointer({ namespace.find($0, in: directory) }) else {
        return .refused(FSError(.noSuchFileOrDirectory, "no such file or directory on this volume"))
      }
      found = name
    }
    return .found(found)
  }

  func target(_ name: NameIndex, path: [UInt8]) -> RemovalTarget {
    let record = namespace.record(of: name)
    return RemovalTarget(
      path: path, parent: namespace.id(of: record.directory), name: Array(namespace.text(of: name)),
      node: namespace.id(of: record.node))
  }

  /// The name of a target, if it is as it was found.
  mutating func name(of target: RemovalTarget) -> NameIndex? {
    guard let parent = namespace.index(of: target.parent), namespace[parent].state == .resident,
      !namespace[parent].isOrphan, !isDetached(parent), namespace.indexNames(of: parent),
      let name = target.name.withUnsafeBufferPointer({ namespace.find($0, in: parent) }),
      namespace.id(of: namespace.record(of: name).node) == target.node
    else { return nil }
    return name
  }

  /// Whether a target lies in another one, or is the same.
  func isCovered(_ target: RemovalTarget, by tops: Set<NodeID>) -> Bool {
    guard let parent = namespace.index(of: target.parent) else { return false }
    return namespace.isIn(parent) { tops.contains(namespace.id(of: $0)) }
  }

  /// What a survey asks of others.
  var surveyKnowledge: RemovalSurvey.Knowledge {
    let (extras, contents, passed) = (extras, contents, passed)
    return RemovalSurvey.Knowledge(
      acl: { node in
        guard case .value(let value) = extras.attribute(PosixACL.accessName, of: node) else { return nil }
        return value
      }, size: { node, recorded in passed[node]?.watch.look()?.extent.size ?? recorded },
      partialBytes: { contents.parts(of: $0)?.ranges.count ?? 0 })
  }

  // MARK: - Detaching

  /// Takes trees away, or files, all of them. - Parameter names: As `name(of:)` found them, under the same hold.
  mutating func detach(
    _ targets: ArraySlice<RemovalTarget>, _ names: [NameIndex], by remover: Remover, at now: MonotonicTime
  ) {
    for (target, name) in zip(targets, names) {
      let (directory, node) = (namespace.record(of: name).directory, namespace.record(of: name).node)
      let path = namespace.path(ofName: name)
      let isDirectory = namespace[node].kind == .directory
      var removed = takeAway(name)
      if isDirectory {
        removed.tree = target.found
        removed.lostBytes = target.found.dirtyBytes
        if journal.keepsChanges { journal.append(.trashed(namespace.changedItem(node), isKnown: true)) }
        trash.add(namespace.id(of: node), items: target.found.items - 1, bytes: target.found.bytes)
      }
      touch(directory, links: isDirectory ? -1 : 0)
      record(.removed(removed), node, path: path, by: remover.caller, at: now)
    }
    room.setTrash(trash.left.bytes)
  }
}
