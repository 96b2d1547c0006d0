internal import SystemPackage

/// What an earlier run of a volume has kept, directory by directory: it is put back by the first listing of each,
/// before anybody sees that.
///
/// Names, and items that are no directories, come before the store's entries. So the listing is merged with them as a
/// renewed one is, by the same rules (`NameMerge`), as if the volume had been mounted all the time. Directories of the
/// store come after them.
extension Engine {
  /// Puts the root's own metadata back. Before the volume is served; waits for the disk. - Throws: EIO, ENOSPC.
  public func restoreRoot() throws(FSError) {
    guard let saved = configuration.savedState else { return }
    let root = state.withLock { $0.namespace.changedItem(.root) }
    guard let item = try saved.savedItem(root) else { return }
    state.withLock { state in
      state.journal.beginRestoring()
      state.restore(item, on: .root)
      state.journal.endRestoring()
    }
  }

  /// Puts back what has to be known before a directory's listing. Metadata lane.
  ///
  /// - Throws: EIO (what is saved is damaged), ENOSPC (it cannot be kept now, or the namespace is full).
  func restore(_ attempt: AttemptID) throws(FSError) {
    guard let saved = configuration.savedState else { return }
    guard let directory = state.withLock({ $0.toBeRestored(attempt) }) else { return }
    if let item = directory.item {
      let found = try saved.saved(of: item)
      state.withLock { $0.restorations.begin(directory.node, found) }
    }
    try restoreSome(of: directory.node, afterListing: false, saved)
  }

  /// Puts back the rest, when the listing is there, but for what it has not brought.
  func restoreDirectories(_ attempt: AttemptID) throws(FSError) {
    guard let saved = configuration.savedState else { return }
    try restoreRenamed(attempt, saved)
    guard let directory = state.withLock({ $0.toBeRestored(attempt) }) else { return }
    do throws(FSError) {
      for entry in try restoreSome(of: directory.node, afterListing: true, saved) {
        state.withLock { $0.loseKeys(below: entry.name, in: directory.node) }
        guard try saved.hasChanges(below: entry.item.id) else {
          saved.drop(entry.item.id)
          state.withLock { $0.namespace.restored.unsettle(entry.item.id) }
          continue
        }
        guard let node = state.withLock({ $0.makeKept(entry, in: directory.node) }) else { throw Self.isFull }
        saved.adopt(entry.item.id, as: node)
        state.withLock { state in
          state.nameKept(entry, node, in: directory.node)
          state.tellConflicts(timer.now)
        }
      }
    } catch {
      state.withLock { $0.restorations.repeatAfterListing(in: directory.node) }
      throw error
    }
    state.withLock { state in
      state.restorations.end([directory.node])
      state.namespace.setAwaitsSaved(false, of: directory.node)
    }
  }

  /// The store cannot list a directory. One that was moved here before the mount, and that is known by its new name
  /// alone, is then treated as if that had been found by a refresh: with what was changed in it, it is the volume's own
  /// from now on; else it is gone. Metadata lane.
  ///
  /// - Returns: Whether it is the volume's own, so that what is kept of it is to be listed.
  /// - Throws: As `restore`.
  func keepsWithoutStore(_ attempt: AttemptID, _ error: FSError) throws(FSError) -> Bool {
    guard let saved = configuration.savedState,
      [.noSuchFileOrDirectory, .notDirectory, .staleNFSFileHandle].contains(error.errno)
    else { return false }
    guard let directory = state.withLock({ $0.knownByNewNameAlone(attempt) }) else {
      // What the directory has lost that it came from, is found by its own listing.
      guard let item = state.withLock({ $0.movedFromUnlisted(attempt) }) else { return false }
      return try saved.hasChanges(below: item)
    }
    let isKept = try saved.hasChanges(below: directory.item)
    state.withLock { state in
      state.loseStore(directory.node, isKept: isKept)
      state.tellConflicts(timer.now)
    }
    tellGoneNames()
    return isKept
  }

  private static let isFull = FSError(.noSpace, "the namespace holds as many names as it can")

  /// Puts back what is saved of files that the store lists under several names, before they are listed: another name of
  /// theirs may be in a directory that nobody has looked into yet. And of files that were met by a hidden name, and
  /// have no other one in the store than the one that is listed. Metadata lane. - Throws: As `restore`.
  func restoreShared(_ batch: ListingBatch, _ range: Range<Int>, for attempt: AttemptID) throws(FSError) {
    guard let saved = configuration.savedState else { return }
    var some: [(name: [UInt8], item: ListedItem)] = []
    let hasBare = state.withLock { $0.namespace.restored.hasBare }
    _ = batch.visit(range) { name, item in
      if item.attributes.mayHaveSeveralNames || (hasBare && item.attributes.kind != .directory) {
        some.append((Array(name), item))
      }
      return true
    }
    guard !some.isEmpty else { return }
    let unknown = state.withLock { [some] in $0.unknownShared(some, attempt) }
    for (file, listed) in unknown {
      guard let item = try saved.savedItem(file) else { continue }
      let step = state.withLock { state in
        defer { state.tellConflicts(timer.now) }
        return state.restoreShared(item, listed)
      }
      for (item, node) in step.adopted { saved.adopt(item, as: node) }
      for id in step.dropped { removeContent(id) }
    }
  }

  /// - Returns: Directories that the listing has not brought.
  @discardableResult
  private func restoreSome(
    of directory: NodeIndex, afterListing: Bool, _ saved: any SavedState
  ) throws(FSError) -> [Restorations.Entry] {
    var absent: [Restorations.Entry] = []
    var yielder = LockYielder(timer)
    while true {
      yielder.yieldIfDue()
      let step = state.withLock { state in
        defer { state.tellConflicts(timer.now) }
        return state.restoreSome(of: directory, afterListing: afterListing)
      }
      for (item, node) in step.adopted { saved.adopt(item, as: node) }
      for id in step.dropped { removeContent(id) }
      if !step.others.isEmpty { state.withLock { $0.tellOthers(step.others) } }
      absent += step.absent
      guard step.hasRoom else { throw Self.isFull }
      if step.isDone { return absent }
    }
  }
}
