/// Conflicts that merges find, and how the namespace looks when one is resolved.
///
/// A conflict is its item's: it goes where that is moved. Beside an item of the volume that stands before one of the
/// store's, it is the volume's.
extension Namespace {
  /// Where the store has what is in conflict with an item.
  enum Theirs {
    /// It has nothing.
    case nothing
    /// A name of the store is hidden: behind one of the item's, or because the item was removed here.
    case hidden(NameIndex)
  }

  /// A merge has found a conflict at a name of the store, or that there is none.
  ///
  /// - Parameters:
  ///   - name: With the item that it leads to now.
  ///   - listed: What the store has; nil: nothing.
  mutating func note(_ conflict: ConflictKind?, at name: NameIndex, _ change: NameChange, theirs listed: ListedItem?) {
    let node = record(of: name).node
    // It was moved, and what is kept of it comes when the directory is looked into that it is in.
    if restored.isBare(node) { return }
    let made = self[node].isOrphan ? madeBeside(name) : nil
    guard let conflict else {
      // What was removed, or stands behind another, is as it was; what was changed is what the store had again.
      if let known = conflicts.kind(of: node), !self[node].isOrphan { noteAgreement(known, of: node) }
      return
    }
    let kind = conflict == .goneHereChangedThere && made != nil ? .changedOnBothSides : conflict
    let holder = made ?? node
    if change == .retained(isNew: false), conflicts.kind(of: holder) == kind { return }
    noteConflict(kind, of: holder, theirs: listed)
  }

  private mutating func noteAgreement(_ known: ConflictKind, of node: NodeIndex) {
    // The one that is in conflict may be a name that was not met yet.
    guard known == .changedOnBothSides, !restored.isAwaited(node), case .nothing = theirs(of: node) else { return }
    endConflict(of: node)
  }

  /// The store has one of its names no more. - Parameter hadConflict: As `NameMerge` says it.
  mutating func noteVanished(_ name: NameIndex, _ conflict: ConflictKind?, wasRemoved: Bool) {
    let node = record(of: name).node
    guard let made = madeBeside(name) else {
      // What was written to it has other names, by which it is in conflict still.
      let isWritten = restored.isAwaited(node) && conflicts.kind(of: node) == .changedOnBothSides
      if wasRemoved, !isWritten { endConflict(of: node) }
      return
    }
    if conflicts.kind(of: made) == .madeOnBothSides {
      endConflict(of: made)
    } else if wasRemoved, conflict != nil {
      noteConflict(.changedHereGoneThere, of: made, theirs: nil)
    } else if wasRemoved, conflicts.kind(of: made) == .changedOnBothSides, !isChanged(made) {
      // What was moved there is no version of what is gone.
      endConflict(of: made)
    }
  }

  mutating func noteConflict(_ kind: ConflictKind, of node: NodeIndex, theirs: ListedItem?) {
    if conflicts.note(kind, of: node, id(of: node), theirs: theirs) { tellConflict(kind, of: node) }
  }

  /// Both sides agree again.
  mutating func endConflict(of node: NodeIndex) {
    if conflicts.end(node, id(of: node)) { tellConflict(nil, of: node) }
  }

  /// Somebody has decided.
  mutating func resolveConflict(of node: NodeIndex) {
    if conflicts.resolve(node) != nil { tellConflict(nil, of: node) }
  }

  private func tellConflict(_ kind: ConflictKind?, of node: NodeIndex) {
    guard keepsJournal else { return }
    append(
      .attribute(
        of: changedItem(node), name: KeptAttribute.conflict, value: kind.map { Array($0.rawValue.utf8) }))
  }

  /// A name that was made on the volume is about to go: what the store has behind it, and was in conflict with it, is
  /// in conflict with that.
  mutating func noteStandsBeforeNoMore(_ name: NameIndex) {
    guard !conflicts.isEmpty, record(of: name).isLocal, let hidden = hiddenBehind(name),
      [.changedOnBothSides, .madeOnBothSides].contains(conflicts.kind(of: record(of: name).node))
    else { return }
    resolveConflict(of: record(of: name).node)
    let theirs = record(of: hidden).node
    noteConflict(.goneHereChangedThere, of: theirs, theirs: listed(of: theirs))
  }

  /// A name was made on the volume, where what the store has was in conflict with its removal: it is with that item.
  mutating func noteStandsBefore(_ name: NameIndex) {
    guard !conflicts.isEmpty, record(of: name).isLocal, let hidden = hiddenBehind(name) else { return }
    let theirs = record(of: hidden).node
    guard conflicts.kind(of: theirs) == .goneHereChangedThere else { return }
    resolveConflict(of: theirs)
    noteConflict(.changedOnBothSides, of: record(of: name).node, theirs: listed(of: theirs))
  }

  /// A directory is about to be removed here. Whoever does that has decided about what was removed from it, too: nobody
  /// would find it by its path.
  mutating func endRemovals(below directory: NodeIndex) {
    guard !conflicts.isEmpty else { return }
    for node in conflicts.nodes where conflicts.kind(of: node) == .goneHereChangedThere {
      if let name = removedName(of: node), isIn(directory, record(of: name).directory) { endConflict(of: node) }
    }
  }

  /// The name of the store, with another item, that one made on the volume stands before; nil if there is none.
  func hiddenBehind(_ name: NameIndex) -> NameIndex? {
    guard let hidden = find(text(of: name), in: record(of: name).directory, .store),
      record(of: hidden).standing == .removed, record(of: hidden).node != record(of: name).node
    else { return nil }
    return hidden
  }

  // MARK: - Looking

  /// The item with the name, made on the volume, behind which a name of the store is hidden; nil if there is none.
  func madeBeside(_ name: NameIndex) -> NodeIndex? { madeNode(text(of: name), in: record(of: name).directory) }

  func madeNode(_ text: UnsafeBufferPointer<UInt8>, in directory: NodeIndex) -> NodeIndex? {
    guard changeCount(in: directory) > 0, let name = find(text, in: directory, .local) else { return nil }
    return record(of: name).isPresent ? record(of: name).node : nil
  }

  /// The item that was moved here to a name which the store gives to it, too; nil if another one has it.
  mutating func sameItem(
    _ text: UnsafeBufferPointer<UInt8>, _ listed: ListedItem, in directory: NodeIndex
  ) -> NodeIndex? {
    guard let node = madeNode(text, in: directory) else { return nil }
    let relation = self.listed(of: node).relation(to: listed, isRenamed: true)
    guard relation == .same || relation == .metadata else { return nil }
    noteClash(of: node, with: listed)
    adopt(listed, for: node)
    return node
  }

  /// What of the store is hidden by one of an item's names, as far as the names of their directories are findable.
  func theirs(of node: NodeIndex) -> Theirs {
    for name in presentNames(of: node) where record(of: name).isLocal {
      if let hidden = hiddenBehind(name) { return .hidden(hidden) }
    }
    return .nothing
  }

  /// The name that is in conflict: the first one that stands before a hidden one, else the first.
  func nameInConflict(_ node: NodeIndex) -> NameIndex? {
    if case .hidden(let hidden) = theirs(of: node),
      let name = find(text(of: hidden), in: record(of: hidden).directory, .local)
    {
      return name
    }
    return presentNames(of: node).first
  }

  /// The name of the store by which an item was removed here.
  func removedName(of node: NodeIndex) -> NameIndex? {
    storeName(of: node).flatMap { record(of: $0).standing == .removed ? $0 : nil }
  }

  func presentNames(of node: NodeIndex) -> [NameIndex] {
    var found: [NameIndex] = []
    var name = self[node].firstName
    while name != .end, record(of: name).isPresent {
      found.append(name)
      name = record(of: name).nextOfNode
    }
    return found
  }

  /// The names of a node that were made on the volume.
  func localNames(of node: NodeIndex) -> [NameIndex] { presentNames(of: node).filter { record(of: $0).isLocal } }

  /// Names of the store that are hidden and lead to an item.
  func hiddenNames(of node: NodeIndex) -> [NameIndex] {
    var found: [NameIndex] = []
    var name = self[node].firstName
    while name != .end {
      if record(of: name).isInStore, !record(of: name).isPresent { found.append(name) }
      name = record(of: name).nextOfNode
    }
    return found
  }

  // MARK: - Resolving

  /// What is here stays, before another item: the store's names for it are that one's from now on, and hidden.
  ///
  /// - Returns: False when the tables are full: some of it may be done then.
  mutating func setBehind(_ node: NodeIndex, _ theirs: NodeIndex) -> Bool {
    for name in presentNames(of: node) where !record(of: name).isLocal {
      keepHere(name)
      tellOwn(node)
      guard let hidden = link(text(of: name), to: theirs, in: record(of: name).directory) else { return false }
      setStanding(.removed, of: hidden)
    }
    for name in hiddenNames(of: node) { relink(name, to: theirs, unbinding: node) }
    return true
  }

  /// Another item takes the store's names of one. - Returns: Those that callers see.
  mutating func giveStoreNames(of node: NodeIndex, to theirs: NodeIndex) -> [NameIndex] {
    for name in hiddenNames(of: node) { relink(name, to: theirs, unbinding: node) }
    let names = presentNames(of: node).filter { !record(of: $0).isLocal }
    for name in names { relink(name, to: theirs, unbinding: node) }
    return names
  }

  /// Tells that an item is the volume's own, if the store does not have it.
  func tellOwn(_ node: NodeIndex) {
    guard keepsJournal else { return }
    guard hasBinding(node) else { return append(.made(changedItem(node), attributes(of: node), target: [])) }
    if self[node].isOrphan, restored.isAwaited(node), self[node].content != .none { tellOlder(node) }
  }

  /// An older version, all of whose other names are in directories into which nobody has looked yet: it is the volume's
  /// own, and its content is nowhere else. Told as what was written, or what the store has under its number would be
  /// taken for it when one of these is met by the next mount.
  private func tellOlder(_ node: NodeIndex) {
    let item = ChangedItem(id(of: node), inode: self[node].inode, binding: nil)
    var attributes = attributes(of: node)
    attributes.linkCount = UInt32(clamping: max(1, restored.namesLeft(of: node) ?? 1))
    // In this order: of what was written no version is kept.
    append(.dirty(of: item, self[node].content))
    append(.made(item, attributes, target: []))
  }

  /// Tells which version a name of the store leads to that is hidden: it is known from now on.
  func tellKnown(_ name: NameIndex) {
    let item = changedItem(record(of: name).node)
    if keepsJournal, let binding = item.binding { append(.bound(item, formerKey: binding.key)) }
  }
}
