internal import SystemPackage

/// Areas of the volume: where items lie, and what may be purged.
extension EngineState {
  /// Where an item lies, by its present path; of a file with several names by the first of them. nil: in no area.
  func place(of node: NodeIndex) -> Areas.Place? {
    let areas = simulation.areas
    guard !areas.isEmpty else { return nil }
    var names: [NameIndex] = []
    var node = node
    while node != .root, names.count < Namespace.depthMax {
      guard let name = namespace.presentName(of: node) else { return nil }
      names.append(name)
      node = namespace.record(of: name).directory
    }
    var position = areas.root
    for name in names.reversed() {
      if position.isFinal { break }
      position = areas.enter(namespace.text(of: name), from: position)
    }
    return position.place
  }

  /// What is done with a file for room.
  func stage(of node: NodeIndex) -> PurgeOrder.Stage {
    let areas = simulation.areas
    return areas.isEmpty ? .evict : purges.stage(of: place(of: node), in: areas)
  }

  /// Whether the name of a file may be taken away for room: it holds something, and nobody uses it.
  func mayPurge(_ node: NodeIndex) -> Bool {
    let record = namespace[node]
    guard writing != .readOnly, record.kind == .file, record.isLocal, !record.isOrphan, record.linkCount <= 1,
      openFiles.count(of: node) == 0
    else { return false }
    guard !pageDrops.isUnderWay(of: namespace.id(of: node)), !content(of: node).isBusy, passed[node] == nil else {
      return false
    }
    return !policy(of: node).keepsContent
  }

  /// Looks at some files, from one on, for when their apps were used last.
  ///
  /// - Returns: Where to go on; nil at the end.
  mutating func noteUses(from start: NodeIndex, limit: Int) -> NodeIndex? {
    let areas = simulation.areas
    if start == .root { purges.begin(now: room.lastUse) }
    var found: [(node: NodeIndex, use: UInt32)] = []
    let next = namespace.visitNodes(from: start, limit: limit) { node, record in
      if record.kind == .file, !record.isOrphan { found.append((node, record.lastUse)) }
    }
    for file in found {
      if let place = place(of: file.node) { purges.noteUse(file.use, at: place, in: areas) }
    }
    return next
  }

  // MARK: - Purging

  enum PurgeDecision {
    case refused
    /// Find out first whether its content is mapped past the daemon, as of the last passthrough open.
    case look(ContentID, lastOpen: UInt64)
    /// The name is gone. - Parameter content: What is to be removed; nil: a lease holds it.
    case purged(directory: NodeID, name: [UInt8], content: ContentID?, PurgedContent)
  }

  /// Takes the name of a file away, and its content.
  ///
  /// - Parameters:
  ///   - by: `quota` or `pressure`.
  ///   - cleared: The last passthrough open after which the content was found unused.
  /// - Returns: nil if more names of its directory have to be indexed first: call again.
  mutating func purge(_ id: NodeID, by cause: String, cleared: UInt64?, _ now: MonotonicTime) -> PurgeDecision? {
    guard let node = namespace.index(of: id), mayPurge(node), case .purge(let reason, _) = stage(of: node),
      let place = place(of: node), let name = namespace.presentName(of: node)
    else { return .refused }
    if let lastOpen = content(of: node).work.lastPassthroughOpen, lastOpen != cleared {
      return .look(namespace[node].content, lastOpen: lastOpen)
    }
    let directory = namespace.record(of: name).directory
    guard namespace.indexNames(of: directory) else { return nil }
    let (path, text, size) = (namespace.path(ofName: name), Array(namespace.text(of: name)), namespace[node].size)
    let room = localBytes(of: node)
    let removed = takeAway(name)
    touch(directory)
    let area = simulation.areas.area(place)
    let purged = Event.VolumeChange.Purged(
      reason: reason, by: cause, area: area.name, category: area.category, app: place.app, bytes: size,
      lostBytes: removed.lostBytes)
    record(.purged(purged), node, path: path, by: .nobody, at: now)
    // Nobody has it open, and nobody is to open it by what the kernel knows: unlike what a program has unlinked.
    namespace.setUnlinked(false, of: node)
    if contents.retained(of: node) != nil { updateContent(of: node) { $0.endRetaining() } }
    let content = evictContent(of: node).flatMap { contents.giveUp($0) }.flatMap { removable($0, of: node) }
    namespace.noteForgettable(node)
    return .purged(
      directory: namespace.id(of: directory), name: text, content: content,
      PurgedContent(bytes: size, room: room, lostBytes: removed.lostBytes))
  }
}
