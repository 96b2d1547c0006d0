/// Directories that the store has renamed between two mounts: the listing that brings one finds what was kept of it by
/// what it is, wherever that was. So all of it comes along, as when the volume is mounted meanwhile.
extension Engine {
  /// Gives directories of a listing what is kept of them under other keys, before what is kept under their own.
  /// Metadata lane.
  ///
  /// - Throws: As `restore`.
  func restoreRenamed(_ attempt: AttemptID, _ saved: any SavedState) throws(FSError) {
    var found: [FormerPlace] = []
    var cursor: NameCursor? = .start
    var yielder = LockYielder(timer)
    while let position = cursor {
      yielder.yieldIfDue()
      var directories: [ChangedItem] = []
      cursor = state.withLock { $0.newDirectories(attempt, from: position, into: &directories) }
      if !directories.isEmpty { found += try saved.renamed(directories) }
    }
    guard !found.isEmpty else { return }
    while !state.withLock({ $0.indexNames(attempt) }) { yielder.yieldIfDue() }
    let begun = state.withLock { [found] in $0.beginRenaming(found, attempt) }
    guard !begun.isEmpty else { return }
    do throws(FSError) {
      let taken = try saved.takeRenamed(begun.map(\.directory))
      let dropped = state.withLock { $0.restoreRenamed(taken, of: begun) }
      for id in dropped { removeContent(id) }
    } catch {
      _ = state.withLock { $0.restoreRenamed([], of: begun) }
      throw error
    }
  }
}

extension EngineState {
  /// LIMIT: names that are looked at under one lock.
  private static var namesAtATime: Int { 128 }

  /// Directories of a listing of which nothing is here.
  mutating func newDirectories(
    _ attempt: AttemptID, from position: NameCursor, into found: inout [ChangedItem]
  ) -> NameCursor? {
    guard let directory = attempts[attempt]?.node else { return nil }
    let epoch = namespace[directory].listingEpoch
    return namespace.visitStoreNames(of: directory, from: position, limit: Self.namesAtATime) { namespace, name in
      let record = namespace.record(of: name)
      let node = namespace[record.node]
      // What is behind a name that was made here would be seen by nobody.
      guard record.isPresent, record.epoch == epoch, node.kind == .directory, node.state == .dataless,
        !node.awaitsSaved, namespace.restored.item(of: record.node) == nil
      else { return }
      let item = namespace.changedItem(record.node)
      if item.binding != nil { found.append(item) }
    }
  }

  mutating func indexNames(_ attempt: AttemptID) -> Bool {
    attempts[attempt].map { namespace.indexNames(of: $0.node) } ?? true
  }

  /// Those that are to be met under their new keys: not what its former directory's listing has met, or missed, before;
  /// nor what the same listing shows under its former name, too.
  mutating func beginRenaming(_ found: [FormerPlace], _ attempt: AttemptID) -> [FormerPlace] {
    guard let directory = attempts[attempt]?.node, let key = namespace.binding(of: directory)?.key else { return [] }
    let prefix = key.isEmpty ? [] : key + [UInt8(ascii: "/")]
    return found.filter { former in
      // With the key that it had it is in another directory now, which has the place of the former one.
      if former.key != former.directory.binding?.key, former.key.starts(with: prefix) {
        let text = Array(former.key.dropFirst(prefix.count))
        let name = text.withUnsafeBufferPointer { namespace.find($0, in: directory, .store) }
        if let name, isStillThere(name, former, in: directory) { return false }
      }
      return namespace.restored.beginRenaming(former.item)
    }
  }

  private func isStillThere(_ name: NameIndex, _ former: FormerPlace, in directory: NodeIndex) -> Bool {
    let record = namespace.record(of: name)
    guard record.isInStore, record.epoch == namespace[directory].listingEpoch else { return false }
    return former.directory.binding.map { StoreIdentity($0.version) }
      == StoreIdentity(namespace.listed(of: record.node).attributes)
  }

  /// Directories are kept under their new keys. - Returns: Content that is to be removed.
  mutating func restoreRenamed(_ taken: [RenamedDirectory], of begun: [FormerPlace]) -> [ContentID] {
    let items = Set(taken.map(\.item.id))
    for former in begun where !items.contains(former.item) { namespace.restored.cancelRenaming(former.item) }
    var step = RestoreStep()
    journal.beginRestoring()
    for renamed in taken {
      guard let node = namespace.index(of: renamed.node) else { continue }
      namespace.setAwaitsSaved(true, of: node)
      meet(renamed.item, node, isBare: false, step: &step)
    }
    journal.endRestoring()
    let nameless = namelessWithKeys
    let moves = taken.filter { $0.formerKey != $0.key }.map { (from: $0.formerKey, to: $0.key) }
    let replaced = namespace.restored.moveKeys(moves) { !nameless.contains($0) }
    for node in replaced { namespace.noteUnbound(node) }
    return step.dropped
  }

  /// The store has other directories than it had where something is kept: both are one, and what is kept says so, so
  /// that it does not go to where the former one may be.
  mutating func tellOthers(_ directories: [NodeID]) {
    for node in directories.compactMap({ namespace.index(of: $0) }) where namespace.keepsJournal {
      let item = namespace.changedItem(node)
      if let key = item.binding?.key { journal.append(.bound(item, formerKey: key)) }
    }
  }
}
