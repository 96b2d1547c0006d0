/// What the volume shows of files that are written to past it, and takes over from their content.
extension EngineState {
  /// What the volume presents of a node: of a file that may be written to past it, as its content is now.
  func snapshot(of node: NodeIndex) -> ItemSnapshot {
    var snapshot = namespace.snapshot(of: node)
    guard let file = passed[node] else { return snapshot }
    snapshot.attributes = file.current(snapshot.attributes)
    snapshot.changesUnseen = true
    return snapshot
  }

  /// Takes over what was written past the volume so far.
  mutating func catchUp(_ node: NodeIndex) {
    guard let file = passed[node], let status = file.watch.look() else { return }
    if status != file.seen {
      changeAttributes(of: node, isTold: false) { $0 = $0.following(status, since: file.seen) }
    }
    passed.take(status, of: node)
  }

  /// A file that programs had open for writing, and did not write to, is the store's again. Nobody has it open or
  /// mapped.
  mutating func makeCleanIfUntouched(_ node: NodeIndex) {
    let record = namespace[node]
    // A conflict of something else than the store's own name is not about what is in it.
    let conflict: ConflictKind? = contents.retained(of: node) == nil ? nil : .changedOnBothSides
    guard record.isDirty, !record.isOrphan, namespace.binding(of: node) != nil,
      passed.isUntouched(node, record.content), namespace.conflicts.kind(of: node) == conflict
    else { return }
    updateContent(of: node) { $0.makeClean() }
    trash.noteChange()
  }

  /// The store has got another version of a file that programs had open for writing, and nobody wrote to it: there is
  /// no conflict.
  ///
  /// - Returns: Whether what is here is of no use any more.
  mutating func agreeOnNewer(_ node: NodeIndex, _ now: MonotonicTime) -> Bool {
    let record = namespace[node]
    guard contents.retained(of: node) != nil, !record.isDirty, !record.isOrphan, openFiles.count(of: node) == 0,
      passed[node] == nil, namespace.conflicts.kind(of: node) == .changedOnBothSides
    else { return false }
    namespace.endConflict(of: node)
    tellConflicts(now)
    return simulation.profile.residentChanges != .keep
  }

  /// Whether a file is dirty, and known to be so after a crash, too.
  mutating func isReadyForWrites(_ node: NodeIndex) -> Bool {
    guard namespace[node].isDirty else { return false }
    guard let number = writers.pendingChange(of: node) else { return true }
    guard journal.isDurable(number) else { return false }
    writers.endWait(of: node)
    return true
  }

  /// An open that was to be passthrough is none.
  mutating func noteCached(_ handle: UInt64, _ file: OpenFile) {
    guard OpenFlags.writes(file.openFlags) else { return }
    writers.rename(handle, to: OpenHandle.asCached(handle))
    passed.refuse(file.node)
  }
}

extension PassthroughWrites.File {
  /// What an item looks like now.
  ///
  /// - Parameter attributes: As its record has them.
  func current(_ attributes: ItemAttributes) -> ItemAttributes {
    watch.look().map { attributes.following($0, since: seen) } ?? attributes
  }
}
