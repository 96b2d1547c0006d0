/// Written files that no name leads to here, and that are to be met in the store: where the way there comes to an end
/// before it has led to them, they get a name of the volume's own. So what was written is always seen.
extension Engine {
  /// Gives names to written files whose way has ended, when a listing, or a refresh, is through. Metadata lane.
  ///
  /// - Parameter current: The directory that was listed, and is not known to be; nil: a refresh has ended.
  func nameUnreached(listing current: NodeIndex?) {
    let named: [Namespace.GoneName] = state.withLock { state in
      // What was not found yet a refresh that runs may find.
      guard current == nil || !state.refreshes.isRunning else { return [] }
      defer { state.tellConflicts(timer.now) }
      return state.nameUnreached(listing: current)
    }
    // The kernel may know that there are no such names, and listings without them.
    if !named.isEmpty { tellNames(named) }
  }
}

extension EngineState {
  /// - Returns: The names.
  fileprivate mutating func nameUnreached(listing current: NodeIndex?) -> [Namespace.GoneName] {
    var named: [Namespace.GoneName] = []
    for node in namespace.restored.awaited {
      let record = namespace[node]
      guard record.isOrphan, record.isDirty, !record.isUnlinked, let key = namespace.restored.key(of: node),
        let name = StoreKey.name(of: key), let directory = namespace.endOfWay(to: key, listing: current)
      else { continue }
      if let name = nameUnreached(node, name, in: directory) { named.append((namespace.id(of: directory), name)) }
    }
    return named
  }

  private mutating func nameUnreached(_ node: NodeIndex, _ name: [UInt8], in directory: NodeIndex) -> [UInt8]? {
    journal.beginOperation()
    defer { journal.endOperation() }
    namespace.restored.setKey(nil, of: node)
    guard !namespace.isBound(node) else { return nil }
    let given = giveKeptName(name, to: node, in: directory)
    namespace.tellUnbound(node)
    namespace.noteConflict(.changedHereGoneThere, of: node, theirs: nil)
    return given
  }
}

extension Namespace {
  /// The last directory on the way to a key of the store that is there; nil while one on it is still to be listed.
  ///
  /// A directory that the store has no more, and that stays, is on the way, too: what was kept in it is in its listing.
  fileprivate mutating func endOfWay(to key: [UInt8], listing current: NodeIndex?) -> NodeIndex? {
    var (directory, rest) = knownDirectory(onTheWayTo: key)
    rest = rest.dropLast()
    while isListedNow(directory, current) {
      guard let part = rest.popFirst(), let next = nextOnWay(part, in: directory) else { return directory }
      directory = next
    }
    return nil
  }

  private func isListedNow(_ directory: NodeIndex, _ current: NodeIndex?) -> Bool {
    directory == current || self[directory].state == .resident
  }

  /// The directory that a name leads to, and in which callers find something.
  private mutating func nextOnWay(_ part: ArraySlice<UInt8>, in directory: NodeIndex) -> NodeIndex? {
    // Rarely asked, and mostly of names that are findable.
    while !indexNames(of: directory) {}
    let (store, shown) = part.withUnsafeBufferPointer { (find($0, in: directory, .store), find($0, in: directory)) }
    if let store, record(of: store).isInStore, record(of: store).epoch == self[directory].listingEpoch {
      let node = record(of: store).node
      if self[node].kind == .directory, !self[node].isOrphan || restored.awaitsMadeName(node) { return node }
    }
    guard let shown, record(of: shown).isLocal, isListedWithoutStore(record(of: shown).node) else { return nil }
    return record(of: shown).node
  }
}
