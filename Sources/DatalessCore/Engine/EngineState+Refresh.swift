/// What a refresh does to the namespace, in steps of bounded size under the engine's lock.
extension EngineState {
  enum RefreshStart {
    case begun(RefreshFindings.Place, StoreBinding?)
    case notListed
    /// Names have to be made findable first, a bounded number under each lock: call again.
    case indexing
  }

  /// Starts the new listing of a listed directory.
  ///
  /// - Parameter isOwn: Whether the store has had it, and has it no more: then it has nothing in it.
  mutating func beginRefresh(of directory: NodeIndex, recurses: Bool, isOwn: Bool) -> RefreshStart {
    let record = namespace[directory]
    guard record.kind == .directory, record.state == .resident, !record.isOrphan,
      !isDetached(directory)
    else { return .notListed }
    guard namespace.beginListing(of: directory) else { return .indexing }
    let place = RefreshFindings.Place(
      directory: directory, epoch: namespace[directory].listingEpoch, recurses: recurses)
    // What was made on the volume is in no listing of the store.
    // What was moved here has the key still under which the store had it.
    if isOwn, !namespace.isBound(directory) { return .begun(place, nil) }
    return namespace.binding(of: directory).map { .begun(place, $0) } ?? .notListed
  }

  private func isCurrent(_ place: RefreshFindings.Place) -> Bool {
    let record = namespace[place.directory]
    return record.state == .resident && record.listingEpoch == place.epoch && !record.isOrphan
      && !isDetached(place.directory)
  }

  /// Takes some entries of a listing.
  ///
  /// - Returns: False when the directory was evicted, or listed by somebody else, since the listing began.
  mutating func observe(
    _ batch: ListingBatch, _ range: Range<Int>, in place: RefreshFindings.Place, findings: inout RefreshFindings,
    now: MonotonicTime
  ) -> Bool {
    guard isCurrent(place) else { return false }
    let use = itemUse
    _ = batch.visit(range) { name, item in
      observe(name, item, in: place, findings: &findings, use: use, now: now)
      return true
    }
    tellConflicts(now)
    return true
  }

  private mutating func observe(
    _ text: UnsafeBufferPointer<UInt8>, _ listed: ListedItem, in place: RefreshFindings.Place,
    findings: inout RefreshFindings, use: Namespace.ItemUse, now: MonotonicTime
  ) {
    guard 1...Namespace.nameLengthMax ~= text.count else { return }
    guard findings.look == nil else { return look(text, listed, in: place, findings: &findings, use: use) }
    let known = namespace.find(text, in: place.directory, .store)
    let old = known.map { namespace.listed(of: namespace.record(of: $0).node).attributes }
    let merged = namespace.merge(text, listed, in: place.directory, keeps: findings.keeps, use: use)
    guard let name = merged.name else { return postpone(text, listed, in: place, findings: &findings, now: now) }
    let node = namespace.record(of: name).node
    switch merged.change {
    case .unchanged: findings.counts.unchanged += 1
    case .metadata, .joined, .version:
      findings.counts.changed += 1
      if merged.change != .metadata { findings.noteName(text, in: place.directory) }
      let isKept = merged.change == .metadata && namespace.conflicts.kind(of: node) == .metadataOnBothSides
      record(
        .changed, of: name, from: old, to: listed.attributes, findings: &findings, now: now,
        at: isKept ? .nowhere : nil)
    case .retained(let isNew):
      findings.counts.kept += 1
      updateContent(of: node) { $0.retain(insteadOf: listed) }
      if isNew { record(.kept, of: name, from: old, to: listed.attributes, findings: &findings, now: now) }
    case .nothing, .appeared, .hidden, .otherItem, .otherItemHidden, .vanished, .keptHere:
      return postpone(text, listed, in: place, findings: &findings, now: now)
    }
    if merged.change == .unchanged || merged.change == .metadata, contents.retained(of: node) != nil {
      updateContent(of: node) { $0.endRetaining() }
    }
    if place.recurses, namespace[node].isListed {
      findings.subdirectories.append(node)
    }
  }

  private mutating func postpone(
    _ text: UnsafeBufferPointer<UInt8>, _ listed: ListedItem, in place: RefreshFindings.Place,
    findings: inout RefreshFindings, now: MonotonicTime
  ) {
    let item = RefreshFindings.Deferred(place: place, name: Array(text), item: listed)
    guard findings.deferred.count >= RefreshFindings.deferredMax else {
      findings.deferred.append(item)
      return
    }
    var none: [StoreIdentity: RefreshFindings.Former] = [:]
    settle(item, formers: &none, findings: &findings, now: now)
  }

  /// Collects the names that a listing did not have any more. - Parameter cursor: As `Namespace.dropVanishedNames`.
  mutating func collectVanished(
    _ place: RefreshFindings.Place, from cursor: NameCursor, limit: Int, _ findings: inout RefreshFindings
  ) -> NameCursor? {
    guard isCurrent(place) else { return nil }
    return namespace.visitVanishedNames(of: place.directory, from: cursor, limit: limit) { namespace, name in
      switch findings.look?.takesMore {
      case nil: findings.vanished.append(name)
      case true?: if let path = namespace.visiblePath(of: name) { findings.look?.note(path) }
      case false?: break
      }
    }
  }

  /// Notes of names which node they had, if a new name asks for that item.
  func noteFormer(
    _ names: some Sequence<NameIndex>, wanted: Set<StoreIdentity>,
    formers: inout [StoreIdentity: RefreshFindings.Former]
  ) {
    for name in names where namespace.record(of: name).isInStore {
      let node = namespace.record(of: name).node
      let identity = StoreIdentity(namespace.listed(of: node).attributes)
      if wanted.contains(identity) { formers[identity] = RefreshFindings.Former(name: name, node: node) }
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
    let existing = name(of: item)
    let present = existing.flatMap { namespace.record(of: $0).isInStore ? $0 : nil }
    let formerNode = present.map { namespace.record(of: $0).node }
    let replaced = formerNode.map { namespace.listed(of: $0) }
    // A listing that raced with a rename may have had the name twice.
    if let replaced, replaced.relation(to: listed) != .other { return }
    // Directories that changed places while they were listed may seem to lie in themselves: then it is a new item.
    let former = takeFormer(of: item, &formers).flatMap { namespace.isIn($0.node, directory) ? nil : $0 }
    let renamedFrom = former.map { namespace.path(ofName: $0.name) }
    let wasShown = former.map { namespace.record(of: $0.name).isPresent } ?? false
    let known = former.map { namespace.listed(of: $0.node).attributes }
    guard let node = former?.node ?? revivable(existing, item) ?? namespace.node(for: listed) else { return }
    namespace.adopt(listed, for: node)
    let isHidden = isHidden(item, former)
    guard
      let name = item.name.withUnsafeBufferPointer({
        namespace.place($0, known: existing, node: node, in: directory, isHidden: isHidden)
      })
    else { return }
    findings.noteName(item.name, in: directory)
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

  /// Whether callers do not find a name that has come: another one that was made on the volume stands before it, or the
  /// item was removed or moved there under the name that it had.
  private func isHidden(_ item: RefreshFindings.Deferred, _ former: RefreshFindings.Former?) -> Bool {
    if let former, namespace.record(of: former.name).standing == .removed { return true }
    return item.name.withUnsafeBufferPointer { namespace.isMadeHere($0, in: item.place.directory) }
  }

  /// The node that a new name's item had under the name it lost.
  private func takeFormer(
    of item: RefreshFindings.Deferred, _ formers: inout [StoreIdentity: RefreshFindings.Former]
  ) -> RefreshFindings.Former? {
    let identity = StoreIdentity(item.item.attributes)
    guard let former = formers[identity], isRenamed(former.node, item), !wouldHide(former, item) else { return nil }
    formers[identity] = nil
    return former
  }

  /// Whether what was changed here would be seen by nobody: a name that was made here stands before the one that the
  /// store has given it. It keeps its own name then, as what the store has no more.
  private func wouldHide(_ former: RefreshFindings.Former, _ item: RefreshFindings.Deferred) -> Bool {
    guard namespace.record(of: former.name).isPresent, namespace.presentNames(of: former.node).count == 1,
      item.name.withUnsafeBufferPointer({ namespace.isMadeHere($0, in: item.place.directory) })
    else { return false }
    return namespace.isDirty(former.node, itemUse)
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
    let old = namespace.listed(of: entry.node).attributes
    var change = sourceChange(.gone, of: name, from: old, to: nil, findings: &findings, now: now)
    let staysElsewhere = entry.standing == .removed && staysWithoutStore(entry.node)
    if namespace.mergeVanished(name, use: itemUse) == .keptHere || staysElsewhere { change?.shownPath = nil }
    if let change { events.record(.sourceChanged(change)) }
    tellConflicts(now)
  }

  /// Whether an item that was moved here is to stay when the store has it no more.
  private func staysWithoutStore(_ node: NodeIndex) -> Bool {
    let record = namespace[node]
    return NameMerge.staysUnbound(
      isResident: record.isLocal && record.state == .resident,
      isDirty: namespace.isChanged(node) || record.awaitsSaved || writers.nodes.contains(node))
  }

  /// What a merge asks of open files and of contents.
  var itemUse: Namespace.ItemUse {
    let (open, contents, written) = (openFiles.nodesInUse, contents, writers.nodes)
    return Namespace.ItemUse(
      isOpen: { open.contains($0) }, retained: { contents.retained(of: $0) },
      isOpenForWriting: { written.contains($0) })
  }

  /// The root has no name: its metadata is the store's own.
  mutating func refreshRoot(_ listed: ItemAttributes, findings: inout RefreshFindings, now: MonotonicTime) {
    let root = NodeIndex.root
    let known = namespace.listed(of: root).attributes
    let relation = known.relation(to: listed)
    guard relation != .other else { return }
    namespace.adopt(ListedItem(listed), for: root)
    guard relation != .same else { return }
    findings.counts.changed += 1
    record(.changed, of: nil, from: known, to: listed, findings: &findings, now: now)
  }
}
