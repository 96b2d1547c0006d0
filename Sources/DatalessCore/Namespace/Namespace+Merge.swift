/// How the store's listings get into the namespace. What becomes of a name is decided by `NameMerge`; here it is done.
extension Namespace {
  /// What others know of items, and a merge asks.
  struct ItemUse {
    /// Whether a node has open handles.
    let isOpen: (NodeIndex) -> Bool
    /// As `NameMerge.Base.retained`.
    let retained: (NodeIndex) -> ListedItem?
    /// Whether a file is open for writing: it may be dirty at any moment.
    let isOpenForWriting: (NodeIndex) -> Bool
    /// What is known of directories into which nobody has looked since the mount.
    var savedBelow = SavedBelow()
  }

  /// What became of a name of a listing.
  struct Merged {
    let change: NameChange
    /// The store's name; nil for one that has none yet.
    let name: NameIndex?
  }

  /// Takes what a listing says of one name, but for a name that is to lead to an item that it has not led to
  /// (`appeared`, `otherItem`, `hidden`, `otherItemHidden`): which node that is, the caller decides, and `place`s it.
  mutating func merge(
    _ text: UnsafeBufferPointer<UInt8>, _ listed: ListedItem, in directory: NodeIndex, keeps: Bool, use: ItemUse
  ) -> Merged {
    // Nothing is known of a directory that is listed for the first time. If a race in SOURCE makes its listing name an
    // entry twice, the volume does too, as SOURCE did.
    let isMade = isMadeHere(text, in: directory)
    guard let name = self[directory].isRelisted ? find(text, in: directory, .store) : nil else {
      return Merged(change: NameMerge.appeared(isMade: isMade).change, name: nil)
    }
    let base = record(of: name).isInStore ? self.base(of: name, listed, use) : nil
    let decided = NameMerge.merge(
      base: base, listed: listed, local: localChange(of: name), isMade: isMade, keeps: keeps)
    guard base != nil else { return Merged(change: decided.change, name: name) }
    markSeen(name)
    let change = apply(decided.change, to: name, listed)
    if decided.conflict != nil || !conflicts.isEmpty, change.isApplied {
      note(decided.conflict, at: name, change, theirs: listed)
    }
    return Merged(change: change, name: name)
  }

  /// What `merge` would make of a name. Only that the listing has seen it is noted.
  mutating func foresee(
    _ text: UnsafeBufferPointer<UInt8>, _ listed: ListedItem, in directory: NodeIndex, keeps: Bool, use: ItemUse
  ) -> Merged {
    let isMade = isMadeHere(text, in: directory)
    guard let name = self[directory].isRelisted ? find(text, in: directory, .store) : nil else {
      return Merged(change: NameMerge.appeared(isMade: isMade).change, name: nil)
    }
    let base = record(of: name).isInStore ? self.base(of: name, listed, use) : nil
    if base != nil { markSeen(name) }
    let decided = NameMerge.merge(
      base: base, listed: listed, local: localChange(of: name), isMade: isMade, keeps: keeps)
    return Merged(change: decided.change, name: name)
  }

  private mutating func apply(_ change: NameChange, to name: NameIndex, _ listed: ListedItem) -> NameChange {
    let node = record(of: name).node
    switch change {
    case .unchanged, .metadata:
      if change == .metadata { noteClash(of: node, with: listed) }
      adopt(listed, for: node)
    case .joined:
      guard let twin = twin(of: node, listed) else { break }
      // What was moved here stays where it is, also in a directory that nobody has looked into yet.
      let moved = record(of: name).standing == .removed ? localNames(of: node) : []
      if restored.item(of: twin) == nil { follow(node, to: twin, isLeft: true) }
      relink(name, to: twin)
      for local in moved { relink(local, to: twin) }
    case .version:
      guard let newer = self.node(for: listed, older: node) else { return .unchanged }
      let (mine, base, wasNamed) = (attributes(of: node), self.listed(of: node).attributes, !self[node].isOrphan)
      // It is the same item that was moved here, or that has another name here: it stays where it is. Of a link, what
      // was fetched is the older version's.
      let isFetched = self[node].isLocal && self[node].state == .resident
      let moved = localNames(of: node).filter { _ in record(of: name).standing == .removed || !isFetched }
      // Before anything is told of the newer one: what is kept of a bare one is of another version.
      follow(node, to: newer, isLeft: !isFetched)
      // The store's name first: by the others alone the newer one would be told as what the store has not.
      // What was fetched is the volume's own with its other names: that is told before anything of the other.
      relink(name, to: newer, unbinding: isFetched ? node : nil)
      for local in moved { relink(local, to: newer) }
      let hasNames = localNames(of: node).isEmpty && !restored.isAwaited(node)
      if isFetched { noteOlder(node) }
      let isInConflict = conflicts.kind(of: node) == .metadataOnBothSides
      if !wasNamed || isInConflict { conflicts.forget(node) }
      if wasNamed { carryMetadata(mine, base: base, to: newer, isInConflict: isInConflict, hasNames: hasNames) }
      noteVersion(node, newer)
    case .nothing, .retained, .otherItem, .otherItemHidden, .appeared, .hidden, .vanished, .keptHere: break
    }
    return change
  }

  /// Lets a name of the store lead to an item.
  ///
  /// - Parameters:
  ///   - known: Its record, if it has one.
  ///   - isHidden: Whether a name that was made on the volume stands before it.
  /// - Returns: nil when the tables are full.
  @discardableResult
  mutating func place(
    _ text: UnsafeBufferPointer<UInt8>, known: NameIndex?, node: NodeIndex, in directory: NodeIndex, isHidden: Bool
  ) -> NameIndex? {
    // Its place was not looked at until now.
    let unseen = restored.key(of: node)
    if unseen != nil { restored.setKey(nil, of: node) }
    // What was removed here may have another name.
    defer { if self[node].isUnlinked, !self[node].isOrphan { setUnlinked(false, of: node) } }
    // What was told while it had no name there was told without the store's.
    let isBetweenNames = keepsJournal && hasOwnAttributes(node) && !hasBinding(node)
    defer { if isBetweenNames { tellAttributes(of: node) } }
    guard let name = known else {
      let isBack = self[node].isOrphan || restored.takePlaceless(node)
      // Made now, it is present, leads to the node, and was seen.
      guard let name = link(text, to: node, in: directory) else { return nil }
      // What is kept of it has the place of a name that it has lost, or none.
      if isBack || unseen != nil { tellBinding(of: node, since: isBack ? nil : unseen) }
      tellStoreName(name)
      if isHidden { hide(name, in: directory) }
      return name
    }
    let former = record(of: name).node
    // Marked present first, so that the node is never nameless.
    setStanding(.present, of: name)
    relink(name, to: node)
    if former != node {
      noteUnbound(former)
      // Another directory has its place: no name is found in it that was in the former one.
      if self[former].kind == .directory, restored.hasStoreNames, let key = storeKey(of: name) {
        restored.losePlace(key)
      }
    }
    if isHidden { hide(name, in: directory) }
    markSeen(name)
    tellStoreName(name)
    return name
  }

  /// A name that was made on the volume stands before one of the store's; or the item was removed or moved here.
  private mutating func hide(_ name: NameIndex, in directory: NodeIndex) {
    setStanding(.removed, of: name)
    let node = record(of: name).node
    guard let made = madeBeside(name) else { return }
    guard made != node else {
      // The store has come to the same.
      if conflicts.kind(of: node) == .madeOnBothSides { endConflict(of: node) }
      return
    }
    let isWritten = conflicts.kind(of: made) == .changedOnBothSides
    noteConflict(isWritten ? .changedOnBothSides : .madeOnBothSides, of: made, theirs: listed(of: node))
    // There is none if that is nowhere any more.
    restored.doubt(made)
  }

  /// Adds one listed name, or refreshes it: what a listing of a directory does that is not a refresh.
  ///
  /// - Returns: False when the tables are full (2^32 names, or 4 GiB of names).
  mutating func insert(
    _ text: UnsafeBufferPointer<UInt8>, _ listed: ListedItem, in directory: NodeIndex, use: ItemUse
  ) -> Bool {
    // A name that the kernel's protocol cannot carry (FUSE_NAME_MAX) is left out.
    guard 1...Self.nameLengthMax ~= text.count else { return true }
    let merged = merge(text, listed, in: directory, keeps: false, use: use)
    switch merged.change {
    case .appeared, .hidden, .otherItem, .otherItemHidden:
      var (known, isHidden) = (merged.name, merged.change == .hidden || merged.change == .otherItemHidden)
      var former: NodeIndex?
      if let name = known, record(of: name).isPresent || merged.change == .otherItem {
        switch keepNamed(name, against: listed, joins: true, use: use) {
        case .joined: return true
        case .kept: (known, isHidden) = (nil, true)
        case .goes: former = record(of: name).node
        }
      }
      let same = isHidden ? sameItem(text, listed, in: directory) : nil
      guard let node = same ?? returned(merged, listed) ?? node(for: listed) else { return false }
      let formerKey = same.flatMap { restored.key(of: $0) }
      guard place(text, known: known, node: node, in: directory, isHidden: isHidden) != nil else { return false }
      if let formerKey, self[node].kind == .directory { moveKeys(from: formerKey, of: node) }
      if let former, former != node { noteVersion(former, node) }
      if self[node].isDirty { noteWritten(node, listed) }
      return true
    case .nothing, .unchanged, .metadata, .joined, .version, .retained, .vanished, .keptHere: return true
    }
  }

  /// The node that a name had which was gone, if that is the item that is there again.
  private mutating func returned(_ merged: Merged, _ listed: ListedItem) -> NodeIndex? {
    guard merged.change == .appeared, let name = merged.name else { return nil }
    let node = record(of: name).node
    let relation = self.listed(of: node).relation(to: listed)
    guard relation == .same || relation == .metadata, isAsListed(node), !self[node].isListed else { return nil }
    adopt(listed, for: node)
    return node
  }

  /// Whether an item has the attributes that the store listed. With others it is not what comes back when it was gone:
  /// what was changed on the volume went with it.
  func isAsListed(_ node: NodeIndex) -> Bool { attributes(of: node) == listed(of: node).attributes }

  /// A listing of a directory has not had a name.
  mutating func mergeVanished(_ name: NameIndex, use: ItemUse) -> NameChange {
    let node = record(of: name).node
    let local = localChange(of: name)
    let isMade = local == .removed && madeBeside(name).map { !hasBinding($0) } ?? false
    let decided = NameMerge.merge(
      base: base(of: name, nil, use), listed: nil, local: local, isMade: isMade, keeps: false)
    if decided.change == .keptHere, let made = madeBeside(name), made != node, let key = storeKey(of: name) {
      // It gets another one (`Engine.nameUnreached`), unless it has that.
      if presentNames(of: node) == [name] { restored.awaitName(at: key, of: node) }
    } else if decided.change == .keptHere {
      keepHere(name)
      // Under another name the store has it still, and may have changed it.
      if !isBound(node) || conflicts.kind(of: node) == nil { noteGoneThere(node) }
      countNames(of: node)
      noteOwnDirectory(node)
      return .keptHere
    }
    if local != .none { noteVanished(name, decided.conflict, wasRemoved: local == .removed) }
    awaitStoreName(of: node, insteadOf: name, isComplete: true)
    setStanding(.gone, of: name)
    noteUnbound(node)
    return decided.change
  }

  /// As `RestoredItems.follow`. The journal is told before anything of the newer one.
  private mutating func follow(_ node: NodeIndex, to newer: NodeIndex, isLeft: Bool) {
    if let item = restored.follow(node, to: newer, isLeft: isLeft) { append(.followed(id(of: newer), item)) }
  }

  // MARK: - What is known

  private mutating func base(of name: NameIndex, _ listed: ListedItem?, _ use: ItemUse) -> NameMerge.Base {
    let node = record(of: name).node
    let known = self[node]
    let isFile = known.kind == .file
    let hasTwin = listed.map { self.twin(of: node, $0) != nil } ?? false
    let isDirty = isDirty(node, use)
    let others = isFile && isDirty ? otherStoreNames(of: node, than: name) : nil
    let isUnmet = isFile && isDirty && unmetStoreName(of: node, than: name, isComplete: listed == nil) != nil
    let isHidden =
      isFile && isDirty && !isUnmet && listed != nil
      && unmetStoreName(of: node, than: name, isComplete: false, isFound: false) != nil
    return NameMerge.Base(
      item: self.listed(of: node), retained: use.retained(node),
      isResident: isFile && known.isLocal && known.state == .resident, isDirty: isDirty,
      canJoin: hasTwin && !known.isLocal && !use.isOpen(node), isShared: others != nil || isUnmet || isHidden,
      staysElsewhere: others ?? false || isUnmet)
  }

  /// The node of another name of a listed file, if it is another one than a node.
  private func twin(of node: NodeIndex, _ listed: ListedItem) -> NodeIndex? {
    sharedNode(for: listed).flatMap { $0 == node ? nil : $0 }
  }

  private func localChange(of name: NameIndex) -> NameMerge.LocalChange {
    let record = record(of: name)
    guard record.standing == .removed else { return .none }
    // A written file that has names still of which none was met yet, was not removed.
    let isAwaited = self[record.node].isDirty && restored.isAwaited(record.node)
    return self[record.node].isOrphan && !isAwaited ? .removed : .moved
  }

  /// Whether a name that was made on the volume has a text in a directory.
  func isMadeHere(_ text: UnsafeBufferPointer<UInt8>, in directory: NodeIndex) -> Bool {
    guard changeCount(in: directory) > 0, let name = find(text, in: directory, .local) else { return false }
    return record(of: name).isPresent
  }

  // MARK: - Older versions

  /// A file that kept an older version holds no content any more: its name leads to the newer version now.
  ///
  /// - Returns: The name, for the kernel to look up again; nil if it has none.
  mutating func supersede(_ node: NodeIndex, by listed: ListedItem) -> (directory: NodeID, name: [UInt8])? {
    guard let name = presentName(of: node), record(of: name).isPresent, let newer = self.node(for: listed, older: node)
    else {
      return nil
    }
    // It was moved here: without the store's name, which is hidden, the newer one would be nothing that the store has.
    for hidden in hiddenNames(of: node) { relink(hidden, to: newer) }
    relink(name, to: newer)
    noteVersion(node, newer)
    return (id(of: record(of: name).directory), Array(text(of: name)))
  }
}
