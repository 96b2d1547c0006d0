/// How what lies in removed trees is given back: some names at a time.
extension EngineState {
  /// LIMIT: names that are looked at under one lock.
  static var emptiedAtATime: Int { 256 }

  /// What a step of emptying has left to be done.
  struct Emptied {
    /// To be removed.
    var contents: [ContentID] = []
    /// Nodes that the kernel knows, and whose attributes are others.
    var known: [NodeID] = []
    /// Whether a directory is through, so that what it kept may be given back.
    var hasUnpinned = false
    var hasMore = true
  }

  /// Takes the next names of removed trees from their items: one change of the journal.
  mutating func emptySome(_ now: MonotonicTime) -> Emptied {
    var result = Emptied()
    guard ending == nil else {
      trash.end()
      result.hasMore = false
      return result
    }
    journal.beginOperation()
    defer { journal.endOperation() }
    let orphans = namespace.orphanCount
    var left = Self.emptiedAtATime
    while left > 0 {
      guard let place = trash.next() else {
        result.hasMore = foldSome(&left, &result)
        break
      }
      left -= 1
      guard let directory = namespace.index(of: place.directory) else {
        trash.leave(isListed: false)
        continue
      }
      if place.next == nil { beginEmptying(directory) }
      var name = place.next ?? namespace[directory].firstChild
      while name != .end, left > 0 {
        left -= 1
        let next = namespace.record(of: name).nextSibling
        empty(name, &result, at: now)
        name = next
      }
      if name == .end { endEmptying(directory, &result) } else { trash.goOn(at: name) }
    }
    // They are disposed of here.
    _ = namespace.takeOrphans(after: orphans)
    room.setTrash(trash.left.bytes)
    return result
  }

  private mutating func beginEmptying(_ directory: NodeIndex) {
    // Its names stay where they are until it is through.
    reclamation.pin()
    trashSaved(directory)
  }

  /// What an earlier run has kept in a directory that nobody has looked into is gone through in the background.
  mutating func trashSaved(_ directory: NodeIndex) {
    guard namespace[directory].awaitsSaved, !content(of: directory).isBusy else { return }
    namespace.setAwaitsSaved(false, of: directory)
    restorations.end([directory])
    journal.append(.trashed(namespace.changedItem(directory), isKnown: false))
  }

  private mutating func endEmptying(_ directory: NodeIndex, _ result: inout Emptied) {
    let isListed = content(of: directory).isBusy
    // Whoever has it open finds it empty, and nothing is asked of the store.
    if !isListed, namespace[directory].state != .resident { updateContent(of: directory) { $0.makeHere() } }
    trash.leave(isListed: isListed)
    reclamation.unpin()
    result.hasUnpinned = true
    namespace.noteForgettable(directory)
  }

  /// Of directories that are through, names stay that lead to what was moved out of them, or out of those below: only
  /// by these it is fetched, and found again when the store changes it. The others go.
  ///
  /// - Returns: Whether there are more.
  private mutating func foldSome(_ left: inout Int, _ result: inout Emptied) -> Bool {
    while left > 0 {
      left -= 1
      guard let node = trash.takeEmptied() else { return false }
      guard let directory = namespace.index(of: node), namespace[directory].isOrphan,
        namespace.changeCount(in: directory) == 0
      else { continue }
      var name = namespace[directory].firstName
      while name != .end {
        let edge = namespace.record(of: name)
        // The top of a tree is removed where callers see it.
        if edge.standing == .removed, !edge.isLocal, namespace[edge.directory].isOrphan {
          namespace.setStanding(.gone, of: name)
          break
        }
        name = edge.nextOfNode
      }
      namespace.noteForgettable(directory)
      result.hasUnpinned = true
    }
    return true
  }

  private mutating func empty(_ name: NameIndex, _ result: inout Emptied, at now: MonotonicTime) {
    let edge = namespace.record(of: name)
    let (node, item) = (edge.node, namespace[edge.node])
    // It may have other names, which are not listed yet: what it is in the store is known by this one. Of what was
    // written the count is an older version's, where the store has a newer one.
    let isOnly = contents.retained(of: node)?.attributes.linkCount == 1
    let mayHaveOthers = item.kind == .file && !isOnly && item.linkCount > (edge.isPresent ? 1 : 0)
    let isAwaited = namespace.restored.isAwaited(node) && !(isOnly && namespace.awaitsStoreNamesAlone(node))
    let isKept = !edge.isLocal && (mayHaveOthers || isAwaited)
    switch edge.standing {
    case .removed:
      // Nobody lists this directory any more. What was moved out of it, or out of a directory in it, is still fetched
      // by its name here.
      if item.isOrphan, item.kind != .directory, !isKept { namespace.setStanding(.gone, of: name) }
    case .present:
      // Nobody finds what was written to it by this name again: the others are all that it has.
      if item.kind == .file, !edge.isLocal { namespace.tellStoreNameLost(name) }
      let bytes = item.kind == .file && item.isLocal ? localBytes(of: node) : 0
      // Of a directory of the store it is decided when all in it is through (`foldSome`).
      let mayLeadOut = item.kind == .directory && !edge.isLocal
      namespace.setStanding(isKept || mayLeadOut ? .removed : .gone, of: name)
      take(node, item, result: &result, at: now)
      trash.noteGone(bytes: bytes)
      // Its name has led to it. What is in it goes with later steps, or with the next run.
      if item.kind == .directory, edge.isLocal, namespace[node].isOrphan, journal.keepsChanges {
        journal.append(.trashed(namespace.changedItem(node), isKnown: true))
      }
    case .gone, .former, .swept, .free: break
    }
  }

  /// An item has lost a name in a removed tree. - Parameter before: As it was.
  private mutating func take(
    _ node: NodeIndex, _ before: NodeRecord, result: inout Emptied, at now: MonotonicTime
  ) {
    let isGone = namespace[node].isOrphan
    let isSeen = before.lookups > 0 || openFiles.count(of: node) > 0
    if isGone { namespace.setUnlinked(true, of: node) }
    // What is kept of it says that the store may have it under others: nobody would remove it.
    let hadOthers = isGone && before.isDirty && before.linkCount > 1
    // Of what nobody can look at, and has nothing that goes by it, they are not wanted.
    if isSeen || !isGone || before.isDirty || before.linkCount > 1 {
      let time = timeOfDay()
      changeAttributes(of: node, isTold: !isGone) { attributes in
        attributes.linkCount = before.kind == .directory ? 0 : max(attributes.linkCount, 1) - 1
        attributes.changeTime = time
      }
    }
    if hadOthers { namespace.tellUnbound(node) }
    if before.lookups > 0 { result.known.append(namespace.id(of: node)) }
    if before.kind == .directory {
      trash.enter(namespace.id(of: node))
    } else if isGone {
      if let content = free(node, now) { result.contents.append(content) }
      namespace.noteForgettable(node)
    }
  }
}
