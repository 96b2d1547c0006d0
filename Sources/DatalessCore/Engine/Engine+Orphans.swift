/// Items that no name leads to any more: gone from the store, or another version has their name.
extension Engine {
  /// Frees what they hold, each as soon as nobody has it open: files their content, at once; directories the names that
  /// are in them, on the metadata lane, in steps of bounded size: a directory may hold a tree.
  func dispose(_ nodes: [NodeID]) {
    var yielder = LockYielder(timer)
    var contents: [ContentID] = []
    for node in nodes {
      yielder.yieldIfDue()
      let isDirectory: Bool? = state.withLock { state in
        guard let index = state.namespace.index(of: node) else { return nil }
        let isDirectory = state.namespace[index].kind == .directory
        // It was removed here, and the store has it still: what was moved out of it is fetched by the names in it.
        if isDirectory, state.namespace.isBound(index) || state.trash.contains(node) { return nil }
        // An earlier run has moved it: the name that it has here is put back when somebody looks into its directory.
        if isDirectory, state.namespace.restored.awaitsMadeName(index) { return nil }
        // For `dropNames`, which keeps a name's place between two holds of the lock.
        if isDirectory {
          state.reclamation.pin()
          state.dropSaved(index)
        }
        return isDirectory
      }
      guard let isDirectory else { continue }
      if isDirectory {
        dropNames(of: node, from: .start)
      } else if let reference = free(node) {
        // A mapping that outlives its handle keeps the unlinked file; pages of the kernel are the old node's own.
        contents.append(reference)
      }
    }
    removeContents(contents)
    giveBackLeftovers()
  }

  private func free(_ node: NodeID) -> ContentID? {
    let (content, left): (ContentID?, [any ContentWatch]) = state.withLock { state in
      guard let index = state.namespace.index(of: node) else { return (nil, []) }
      defer { state.namespace.noteForgettable(index) }
      return (state.free(index, timer.now), state.passed.takeLeft())
    }
    _ = consume left
    return content
  }

  /// LIMIT: names that are dropped under one lock.
  private static let droppedNames = 2048

  /// Goes on with the names of a directory that is gone; takes the pin back at the end.
  private func dropNames(of directory: NodeID, from cursor: NameCursor) {
    metadata.submit { [self] in
      let next: NameCursor? = state.withLock { state in
        // It may have a name again.
        guard let index = state.namespace.index(of: directory), state.namespace[index].isOrphan else { return nil }
        let next = state.namespace.dropAllNames(of: index, from: cursor, limit: Self.droppedNames)
        if next == nil { state.namespace.noteForgettable(index) }
        return next
      }
      // What has names elsewhere.
      if next == nil { settleUnbound() }
      dispose(state.withLock { $0.takeOrphans() })
      if let next { dropNames(of: directory, from: next) } else { unpin() }
    }
  }

  /// Frees what a listing has left without a name, on the metadata lane.
  func disposeOfOrphans() {
    let orphans = state.withLock { $0.takeOrphans() }
    guard !orphans.isEmpty else { return giveBackLeftovers() }
    metadata.submit { [self] in dispose(orphans) }
  }
}

extension EngineState {
  /// Items that no name leads to, but for those that a refresh may find under another name yet: it frees them itself.
  fileprivate mutating func takeOrphans() -> [NodeID] { refreshes.isSettling ? [] : namespace.takeOrphans() }

  /// What an earlier run has kept in a directory that is gone was never here: it goes, too.
  fileprivate mutating func dropSaved(_ directory: NodeIndex) {
    guard namespace[directory].isOrphan else { return }
    trashSaved(directory)
  }

  /// Takes the content from a file without a name that nobody has open; nil when there is nothing to take, or not yet.
  mutating func free(_ node: NodeIndex, _ now: MonotonicTime) -> ContentID? {
    if namespace[node].isOrphan, openFiles.count(of: node) == 0, contents.retained(of: node) != nil {
      updateContent(of: node) { $0.endRetaining() }
    }
    let record = namespace[node]
    guard record.isOrphan, record.kind == .file, record.isLocal, openFiles.count(of: node) == 0,
      !content(of: node).isBusy
    else { return nil }
    // What was written goes by its removal alone. What an earlier run has kept may have a name that is not put back
    // yet; of what was removed, the store may have names that are not listed yet.
    guard !record.isDirty || (record.isUnlinked && record.linkCount == 0),
      record.isUnlinked || !namespace.restored.isAwaited(node)
    else { return nil }
    // What was removed here lives on as long as the kernel knows it.
    guard !record.isUnlinked || record.lookups == 0, let dropped = evictContent(of: node) else { return nil }
    if record.isDirty { forgetWriting(node) }
    let reference = contents.giveUp(dropped).flatMap { removable($0, of: node) }
    guard !record.isUnlinked else { return reference }
    ledger.countEviction()
    events.record(
      .evictionFinished(
        Event.EvictionRecord(
          path: namespace.path(of: node), kind: .file, bytes: dropped.bytes, errno: nil, by: "source", time: now)))
    // Written to: the last transfer removes it.
    return reference
  }

  /// What was written to a removed file is gone: where the store has it by another name, that shows what the store has.
  private mutating func forgetWriting(_ node: NodeIndex) {
    guard namespace.isBound(node), !namespace.isMade(node) else { return }
    let listed = namespace.listed(of: node).attributes
    var attributes = namespace.attributes(of: node)
    (attributes.size, attributes.blocks, attributes.linkCount) = (listed.size, listed.blocks, listed.linkCount)
    (attributes.modificationTime, attributes.changeTime) = (listed.modificationTime, listed.changeTime)
    namespace.setAttributes(attributes, of: node, isTold: false)
  }
}
