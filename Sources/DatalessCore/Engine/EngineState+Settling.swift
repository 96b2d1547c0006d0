/// What a refresh does with names that came, and with those that went, when all directories are listed: in steps of
/// bounded size under the engine's lock.
extension EngineState {
  /// Notes of names which node they had, if a new name asks for that item.
  func noteFormer(
    _ names: some Sequence<NameIndex>, wanted: Set<StoreIdentity>,
    formers: inout [StoreIdentity: RefreshFindings.Former]
  ) {
    for name in names where namespace.record(of: name).isInStore {
      let node = namespace.record(of: name).node
      let identity = StoreIdentity(namespace.listed(of: node).attributes)
      guard wanted.contains(identity) else { continue }
      let isRemoved = namespace.record(of: name).standing == .removed
      formers[identity] = RefreshFindings.Former(name: name, node: node, isRemoved: isRemoved)
    }
  }

  /// A deferred name, if it is known, present or gone.
  func name(of item: RefreshFindings.Deferred) -> NameIndex? {
    guard namespace[item.place.directory].isIndexed else { return nil }
    return item.name.withUnsafeBufferPointer { namespace.find($0, in: item.place.directory, .store) }
  }

  /// Puts a name that is new, or that another item has, into the namespace: as another name of the item that it was, or
  /// as a new item.
  mutating func settle(
    _ item: RefreshFindings.Deferred, formers: inout [StoreIdentity: RefreshFindings.Former],
    findings: inout RefreshFindings, now: MonotonicTime
  ) {
    guard isCurrent(item.place) else { return }
    let (directory, listed) = (item.place.directory, item.item)
    var existing = name(of: item)
    let present = existing.flatMap { namespace.record(of: $0).isInStore ? $0 : nil }
    var formerNode = present.map { namespace.record(of: $0).node }
    var replaced = formerNode.map { namespace.listed(of: $0) }
    // A listing that raced with a rename may have had the name twice.
    if let replaced, replaced.relation(to: listed) != .other { return }
    // Directories that changed places while they were listed may seem to lie in themselves: then it is a new item.
    var former = takeFormer(of: item, from: &formers, findings: &findings, now: now).flatMap {
      namespace.isIn($0.node, directory) ? nil : $0
    }
    // Nobody would see it: its directory was removed here.
    if item.place.isRemoved, former == nil { return }
    if let present, let old = formerNode {
      let kept = keepNamed(
        old, named: present, for: item, former: &former, isElsewhere: formers, findings: &findings, now: now)
      switch kept {
      case .goes: break
      case .joined: return tellJoined(present, item, from: replaced?.attributes, findings: &findings, now: now)
      case .kept: (existing, formerNode, replaced) = (nil, nil, nil)
      }
    }
    let renamedFrom = former.map { namespace.path(ofName: $0.name) }
    let wasShown = former.map { namespace.record(of: $0.name).isPresent } ?? false
    let known = former.map { namespace.listed(of: $0.node).attributes }
    guard let node = former?.node ?? revivable(existing, item) ?? namespace.node(for: listed) else { return }
    let formerKey = former.flatMap { namespace.keyOfKept($0.node) }
    // Another name of what was written to here: the store may have another version of it.
    let isWritten = former == nil && namespace[node].isDirty
    if !isWritten { namespace.adopt(listed, for: node) }
    let isHidden = isHidden(item, former)
    guard
      let name = item.name.withUnsafeBufferPointer({
        namespace.place($0, known: existing, node: node, in: directory, isHidden: isHidden)
      })
    else { return }
    findings.noteName(item.name, in: directory)
    if former != nil { namespace.tellBinding(of: node, since: formerKey) }
    if isWritten { namespace.noteWritten(node, listed) }
    tellConflicts(now)
    if let formerNode, former == nil, formerNode != node { namespace.noteVersion(formerNode, node) }
    if let former, let renamedFrom {
      leave(former.name, &findings)
      findings.counts.renamed += 1
      let place: ShownPlace? = isHidden ? (wasShown ? .path(renamedFrom) : .nowhere) : nil
      record(
        .renamed, of: name, from: known, to: listed.attributes, findings: &findings, now: now, oldPath: renamedFrom,
        at: place)
    } else if let replaced {
      findings.counts.changed += 1
      record(.changed, of: name, from: replaced.attributes, to: listed.attributes, findings: &findings, now: now)
    } else {
      findings.counts.added += 1
      record(.added, of: name, from: nil, to: listed.attributes, findings: &findings, now: now)
    }
    if item.place.recurses, namespace[node].isListed {
      findings.subdirectories.append(node)
    }
  }

  /// A directory, or a file, loses its name to another item of the store's. What was changed in it stays; and what was
  /// written to under several names.
  ///
  /// - Parameters:
  ///   - former: What has come; nil after this if it is to keep the name that it has.
  ///   - formers: Directories that a name which has come asks for: they seem to be renamed.
  private mutating func keepNamed(
    _ old: NodeIndex, named name: NameIndex, for item: RefreshFindings.Deferred, former: inout RefreshFindings.Former?,
    isElsewhere formers: [StoreIdentity: RefreshFindings.Former], findings: inout RefreshFindings, now: MonotonicTime
  ) -> Namespace.KeptName {
    let use = itemUse(findings.savedBelow)
    let isDirectory = namespace[old].kind == .directory
    // It may have the name that the store has given it already.
    guard !isDirectory || namespace.presentNames(of: old) == [name], namespace.isDirty(old, use) else { return .goes }
    guard !isDirectory || formers[StoreIdentity(namespace.listed(of: old).attributes)] == nil else {
      findings.displaced.append(
        RefreshFindings.Displaced(node: old, directory: item.place.directory, name: item.name))
      return .goes
    }
    let kept = namespace.keepNamed(name, against: item.item, joins: former == nil, use: use)
    // Behind the name of the other one nobody would see what was changed in it.
    if case .kept = kept, let some = former, namespace.isDirty(some.node, use) {
      former = nil
      keepOwn(some, findings: &findings, now: now)
    }
    return kept
  }

  /// The store has another directory where it had one in which something was changed: both are one.
  private mutating func tellJoined(
    _ name: NameIndex, _ item: RefreshFindings.Deferred, from old: ItemAttributes?, findings: inout RefreshFindings,
    now: MonotonicTime
  ) {
    let node = namespace.record(of: name).node
    findings.noteName(item.name, in: item.place.directory)
    findings.counts.changed += 1
    record(.changed, of: name, from: old, to: item.item.attributes, findings: &findings, now: now)
    // What was listed in it is in the other one no more.
    if namespace[node].isListed { findings.subdirectories.append(node) }
  }

  /// Gives a directory that has lost its name, and has no other after all, that name again: the volume's own.
  mutating func keepDisplaced(_ displaced: RefreshFindings.Displaced, findings: inout RefreshFindings) {
    let node = displaced.node
    guard namespace[node].isOrphan, !namespace[node].isFree, namespace.isDirty(node, itemUse(findings.savedBelow)),
      namespace[displaced.directory].isIndexed, !isDetached(displaced.directory)
    else { return }
    journal.beginOperation()
    defer { journal.endOperation() }
    let name = giveKeptName(
      displaced.name, to: node, in: displaced.directory, savedBelow: findings.savedBelow)
    // What it is in the store says nothing of it any more.
    namespace.tellUnbound(node)
    findings.noteName(name, in: displaced.directory)
    namespace.noteConflict(.changedHereGoneThere, of: node, theirs: nil)
    namespace.noteOwnDirectory(node)
  }

  /// Gives a directory that stays its name again, before what the store has there; or, where something else was made
  /// meanwhile, or was written to in what has come, another one beside that, as a conflict copy has it.
  ///
  /// - Parameter savedBelow: What is kept below directories. Default: only what is here.
  /// - Returns: The name.
  mutating func giveKeptName(
    _ name: [UInt8], to node: NodeIndex, in directory: NodeIndex, savedBelow: SavedBelow = SavedBelow()
  ) -> [UInt8] {
    var wanted = name
    for attempt in 1...1000 {
      let other = wanted.withUnsafeBufferPointer { namespace.find($0, in: directory) }
      guard let other, attempt > 1 || namespace.record(of: other).isLocal || isSeenAlone(other, savedBelow) else {
        break
      }
      wanted = ConflictCopyName.make(of: name, at: timeOfDay(), attempt: attempt)
    }
    wanted.withUnsafeBufferPointer { text in
      if let other = namespace.find(text, in: directory) { namespace.remove(other) }
      _ = giveName(text, to: node, in: directory)
    }
    return wanted
  }

  /// Whether what was changed in an item would be seen by nobody without a name.
  private func isSeenAlone(_ name: NameIndex, _ savedBelow: SavedBelow) -> Bool {
    let node = namespace.record(of: name).node
    return namespace.presentNames(of: node) == [name] && namespace.isDirty(node, itemUse(savedBelow))
  }

  /// Whether callers do not find a name that has come: another one that was made on the volume stands before it, or the
  /// item was removed or moved there under the name that it had.
  private func isHidden(_ item: RefreshFindings.Deferred, _ former: RefreshFindings.Former?) -> Bool {
    if let former, former.isRemoved { return true }
    return item.name.withUnsafeBufferPointer { namespace.isMadeHere($0, in: item.place.directory) }
  }

  /// The node that a new name's item had under the name it lost.
  private mutating func takeFormer(
    of item: RefreshFindings.Deferred, from formers: inout [StoreIdentity: RefreshFindings.Former],
    findings: inout RefreshFindings, now: MonotonicTime
  ) -> RefreshFindings.Former? {
    let identity = StoreIdentity(item.item.attributes)
    guard let former = formers[identity], isRenamed(former.node, item) else { return nil }
    guard !wouldHide(former, item, savedBelow: findings.savedBelow) else {
      keepOwn(former, findings: &findings, now: now)
      return nil
    }
    formers[identity] = nil
    return former
  }

  /// A directory that keeps the name that the store has given up is told to be the volume's own before anything is told
  /// of what has come: both have one number.
  private mutating func keepOwn(
    _ former: RefreshFindings.Former, findings: inout RefreshFindings, now: MonotonicTime
  ) {
    if namespace[former.node].kind == .directory { dropVanished(former.name, findings: &findings, now: now) }
  }

  /// Whether what was changed here would be seen by nobody: a name that was made here stands before the one that the
  /// store has given it, or that is in a directory that was removed here. It keeps its own name then, as what the store
  /// has no more.
  private func wouldHide(
    _ former: RefreshFindings.Former, _ item: RefreshFindings.Deferred, savedBelow: SavedBelow
  ) -> Bool {
    guard namespace.record(of: former.name).isPresent, namespace.presentNames(of: former.node).count == 1,
      item.place.isRemoved
        || item.name.withUnsafeBufferPointer({ namespace.isMadeHere($0, in: item.place.directory) })
    else { return false }
    return namespace.isDirty(former.node, itemUse(savedBelow))
  }

  /// Whether a name that has come is the item, with the same bytes, that a node was under another name.
  private func isRenamed(_ node: NodeIndex, _ item: RefreshFindings.Deferred) -> Bool {
    let fetched = namespace[node].generation
    // What was fetched had one, and this has another or cannot be asked any more.
    guard fetched == 0 || fetched == item.generation else { return false }
    let relation = namespace.listed(of: node).relation(to: item.item, isRenamed: true, isProven: fetched != 0)
    return relation == .same || relation == .metadata
  }

  /// Whether it takes the item's generation to say what a name that has come is.
  func needsGeneration(
    _ item: RefreshFindings.Deferred, _ formers: [StoreIdentity: RefreshFindings.Former]
  ) -> Bool {
    let former = formers[StoreIdentity(item.item.attributes)].map(\.node)
    guard let node = former ?? name(of: item).map({ namespace.record(of: $0).node }) else { return false }
    return namespace[node].generation != 0
  }

  /// The node that a name had when it was there last, if that is the item that is there again.
  private func revivable(_ name: NameIndex?, _ item: RefreshFindings.Deferred) -> NodeIndex? {
    guard let name, !namespace.record(of: name).isInStore else { return nil }
    let node = namespace.record(of: name).node
    // A directory that was gone has lost what was in it, and is listed anew.
    let isSame = namespace[node].kind != .directory && namespace.isAsListed(node) && isRenamed(node, item)
    return isSame ? node : nil
  }

  /// Takes away the name that a renamed item had, unless another item has it by now.
  private mutating func leave(_ name: NameIndex, _ findings: inout RefreshFindings) {
    let entry = namespace.record(of: name)
    guard entry.epoch != namespace[entry.directory].listingEpoch else { return }
    findings.noteName(namespace.text(of: name), in: entry.directory)
    namespace.setStanding(.gone, of: name)
  }

  /// Takes away a name that its directory's listing did not have, unless it is there again.
  mutating func dropVanished(_ name: NameIndex, findings: inout RefreshFindings, now: MonotonicTime) {
    let entry = namespace.record(of: name)
    let directory = namespace[entry.directory]
    guard entry.isInStore, directory.state == .resident, entry.epoch != directory.listingEpoch else { return }
    findings.counts.gone += 1
    findings.noteName(namespace.text(of: name), in: entry.directory)
    for left in namespace.leaveShared(below: name) {
      findings.noteName(namespace.text(of: left), in: namespace.record(of: left).directory)
    }
    let old = namespace.listed(of: entry.node).attributes
    var change = sourceChange(.gone, of: name, from: old, to: nil, findings: &findings, now: now)
    let use = itemUse(findings.savedBelow)
    let staysElsewhere = entry.standing == .removed && staysWithoutStore(entry.node, use)
    if namespace.mergeVanished(name, use: use) == .keptHere || staysElsewhere { change?.shownPath = nil }
    if let change { events.record(.sourceChanged(change)) }
    tellConflicts(now)
  }

  /// Whether an item that was moved here is to stay when the store has it no more.
  private func staysWithoutStore(_ node: NodeIndex, _ use: Namespace.ItemUse) -> Bool {
    NameMerge.staysUnbound(isResident: namespace.isResidentFile(node), isDirty: namespace.isDirty(node, use))
  }
}
