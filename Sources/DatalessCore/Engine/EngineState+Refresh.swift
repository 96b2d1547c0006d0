/// What a refresh does to the namespace, in steps of bounded size under the engine's lock.
extension EngineState {
  enum RefreshStart {
    case begun(RefreshFindings.Place, StoreItem)
    case notListed
    /// Names have to be made findable first, a bounded number under each lock: call again.
    case indexing
  }

  /// Starts the new listing of a listed directory.
  mutating func beginRefresh(of directory: NodeIndex, recurses: Bool) -> RefreshStart {
    let record = namespace[directory]
    guard record.kind == .directory, record.state == .resident, !record.isOrphan else { return .notListed }
    guard namespace.beginListing(of: directory) else { return .indexing }
    let place = RefreshFindings.Place(
      directory: directory, epoch: namespace[directory].listingEpoch, recurses: recurses)
    return .begun(
      place, StoreItem(path: namespace.path(of: directory), attributes: namespace.attributes(of: directory)))
  }

  private func isCurrent(_ place: RefreshFindings.Place) -> Bool {
    let record = namespace[place.directory]
    return record.state == .resident && record.listingEpoch == place.epoch && !record.isOrphan
  }

  /// Takes some entries of a listing.
  ///
  /// - Returns: False when the directory was evicted, or listed by somebody else, since the listing began.
  mutating func observe(
    _ batch: ListingBatch, _ range: Range<Int>, _ place: RefreshFindings.Place, _ findings: inout RefreshFindings,
    _ now: MonotonicTime
  ) -> Bool {
    guard isCurrent(place) else { return false }
    _ = batch.visit(range) { name, attributes in
      observe(name, attributes, place, &findings, now)
      return true
    }
    return true
  }

  private mutating func observe(
    _ text: UnsafeBufferPointer<UInt8>, _ listed: ItemAttributes, _ place: RefreshFindings.Place,
    _ findings: inout RefreshFindings, _ now: MonotonicTime
  ) {
    guard 1...Namespace.nameLengthMax ~= text.count else { return }
    guard namespace[place.directory].isRelisted, let name = namespace.find(text, in: place.directory) else {
      return postpone(text, listed, place, &findings, now)
    }
    namespace.markSeen(name)
    let old = namespace.attributes(of: namespace.record(of: name).node)
    let handles = handles
    let relisted = namespace.relist(name, listed, keeps: findings.keeps) { handles.count(of: $0) > 0 }
    switch relisted {
    case .unchanged: findings.counts.unchanged += 1
    case .updated, .replaced:
      findings.counts.changed += 1
      if relisted == .replaced { findings.noteName(text, in: place.directory) }
      record(.changed, name, old, listed, &findings, now)
    case .kept(let isNew):
      findings.counts.kept += 1
      if isNew { record(.kept, name, old, listed, &findings, now) }
    case .other: return postpone(text, listed, place, &findings, now)
    }
    let node = namespace.record(of: name).node
    if place.recurses, namespace[node].isListed {
      findings.subdirectories.append(node)
    }
  }

  private mutating func postpone(
    _ text: UnsafeBufferPointer<UInt8>, _ listed: ItemAttributes, _ place: RefreshFindings.Place,
    _ findings: inout RefreshFindings, _ now: MonotonicTime
  ) {
    let item = RefreshFindings.Deferred(place: place, name: Array(text), attributes: listed)
    guard findings.deferred.count >= RefreshFindings.deferredMax else {
      findings.deferred.append(item)
      return
    }
    var none: [StoreIdentity: RefreshFindings.Former] = [:]
    settle(item, &none, &findings, now)
  }

  /// Collects the names that a listing did not have any more. - Parameter cursor: As `Namespace.dropVanishedNames`.
  mutating func collectVanished(
    _ place: RefreshFindings.Place, from cursor: NameCursor, limit: Int, _ findings: inout RefreshFindings
  ) -> NameCursor? {
    guard isCurrent(place) else { return nil }
    return namespace.visitVanishedNames(of: place.directory, from: cursor, limit: limit) { _, name in
      findings.vanished.append(name)
    }
  }

  /// Notes of names which node they had, if a new name asks for that item.
  func noteFormer(
    _ names: some Sequence<NameIndex>, _ wanted: Set<StoreIdentity>,
    _ formers: inout [StoreIdentity: RefreshFindings.Former]
  ) {
    for name in names where namespace.record(of: name).isPresent {
      let node = namespace.record(of: name).node
      let identity = StoreIdentity(namespace.attributes(of: node))
      if wanted.contains(identity) { formers[identity] = RefreshFindings.Former(name: name, node: node) }
    }
  }

  /// A deferred name, if it is known, present or gone.
  func name(of item: RefreshFindings.Deferred) -> NameIndex? {
    guard namespace[item.place.directory].isIndexed else { return nil }
    return item.name.withUnsafeBufferPointer { namespace.findAny($0, in: item.place.directory) }
  }

  /// Puts a name that is new, or that another item has, into the namespace: as another name of the item that it was, or as a
  /// new item.
  mutating func settle(
    _ item: RefreshFindings.Deferred, _ formers: inout [StoreIdentity: RefreshFindings.Former],
    _ findings: inout RefreshFindings, _ now: MonotonicTime
  ) {
    guard isCurrent(item.place) else { return }
    let (directory, listed) = (item.place.directory, item.attributes)
    let existing = name(of: item)
    let present = existing.flatMap { namespace.record(of: $0).isPresent ? $0 : nil }
    let replaced = present.map { namespace.attributes(of: namespace.record(of: $0).node) }
    // A listing that raced with a rename may have had the name twice.
    if let replaced, replaced.relation(to: listed) != .other { return }
    // Directories that changed places while they were listed may seem to lie in themselves: then it is a new item.
    let former = takeFormer(of: item, &formers).flatMap { namespace.isIn($0.node, directory) ? nil : $0 }
    let renamedFrom = former.map { namespace.path(ofName: $0.name) }
    let known = former.map { namespace.attributes(of: $0.node) }
    guard let node = former?.node ?? revivable(existing, item) ?? namespace.node(for: listed) else { return }
    namespace.adopt(listed, for: node)
    guard let name = give(item, existing, to: node) else { return }
    findings.noteName(item.name, in: directory)
    if let former, let renamedFrom {
      leave(former.name, &findings)
      findings.counts.renamed += 1
      record(.renamed, name, known, listed, &findings, now, oldPath: renamedFrom)
    } else if let replaced {
      findings.counts.changed += 1
      record(.changed, name, replaced, listed, &findings, now)
    } else {
      findings.counts.added += 1
      record(.added, name, nil, listed, &findings, now)
    }
    if item.place.recurses, namespace[node].isListed {
      findings.subdirectories.append(node)
    }
  }

  /// Lets a deferred name lead to a node. - Returns: nil when the tables are full.
  private mutating func give(
    _ item: RefreshFindings.Deferred, _ existing: NameIndex?, to node: NodeIndex
  ) -> NameIndex? {
    guard let existing else {
      return item.name.withUnsafeBufferPointer { namespace.link($0, to: node, in: item.place.directory) }
    }
    namespace.relink(existing, to: node)
    namespace.setGone(false, existing)
    namespace.markSeen(existing)
    return existing
  }

  /// The node that a new name's item had under the name it lost.
  private func takeFormer(
    of item: RefreshFindings.Deferred, _ formers: inout [StoreIdentity: RefreshFindings.Former]
  ) -> RefreshFindings.Former? {
    let identity = StoreIdentity(item.attributes)
    guard let former = formers[identity], isRenamed(former.node, item) else { return nil }
    formers[identity] = nil
    return former
  }

  /// Whether a name that has come is the item, with the same bytes, that a node was under another name.
  private func isRenamed(_ node: NodeIndex, _ item: RefreshFindings.Deferred) -> Bool {
    let fetched = namespace[node].generation
    // What was fetched had one, and this has another or cannot be asked any more.
    guard fetched == 0 || fetched == item.generation else { return false }
    let relation = namespace.attributes(of: node).relation(to: item.attributes, isRenamed: true, isProven: fetched != 0)
    return relation == .same || relation == .metadata
  }

  /// Whether it takes the item's generation to say what a name that has come is.
  func needsGeneration(
    _ item: RefreshFindings.Deferred, _ formers: [StoreIdentity: RefreshFindings.Former]
  ) -> Bool {
    let former = formers[StoreIdentity(item.attributes)].map(\.node)
    guard let node = former ?? name(of: item).map({ namespace.record(of: $0).node }) else { return false }
    return namespace[node].generation != 0
  }

  /// The node that a name had when it was there last, if that is the item that is there again.
  private func revivable(_ name: NameIndex?, _ item: RefreshFindings.Deferred) -> NodeIndex? {
    guard let name, !namespace.record(of: name).isPresent else { return nil }
    let node = namespace.record(of: name).node
    // A directory that was gone has lost what was in it, and is listed anew.
    return namespace[node].kind != .directory && isRenamed(node, item) ? node : nil
  }

  /// Takes away the name that a renamed item had, unless another item has it by now.
  private mutating func leave(_ name: NameIndex, _ findings: inout RefreshFindings) {
    let entry = namespace.record(of: name)
    guard entry.epoch != namespace[entry.directory].listingEpoch else { return }
    findings.noteName(namespace.text(of: name), in: entry.directory)
    namespace.setGone(true, name)
  }

  /// Takes away a name that its directory's listing did not have, unless it is there again.
  mutating func dropVanished(_ name: NameIndex, _ findings: inout RefreshFindings, _ now: MonotonicTime) {
    let entry = namespace.record(of: name)
    let directory = namespace[entry.directory]
    guard entry.isPresent, directory.state == .resident, entry.epoch != directory.listingEpoch else { return }
    findings.counts.gone += 1
    findings.noteName(namespace.text(of: name), in: entry.directory)
    record(.gone, name, namespace.attributes(of: entry.node), nil, &findings, now)
    namespace.setGone(true, name)
  }

  /// The root has no name: its metadata is the store's own.
  mutating func refreshRoot(_ listed: ItemAttributes, _ findings: inout RefreshFindings, _ now: MonotonicTime) {
    let root = NodeIndex.root
    let known = namespace.attributes(of: root)
    let relation = known.relation(to: listed)
    guard relation != .other else { return }
    namespace.adopt(listed, for: root)
    guard relation != .same else { return }
    findings.counts.changed += 1
    record(.changed, nil, known, listed, &findings, now)
  }

  private func record(
    _ change: Event.SourceChange.Change, _ name: NameIndex?, _ old: ItemAttributes?, _ new: ItemAttributes?,
    _ findings: inout RefreshFindings, _ now: MonotonicTime, oldPath: [UInt8]? = nil
  ) {
    let counts = findings.counts
    guard counts.added + counts.changed + counts.gone + counts.renamed + counts.kept <= RefreshFindings.recordsMax
    else {
      findings.counts.omittedRecords += 1
      return
    }
    guard let kind = (new ?? old)?.kind else { return }
    events.record(
      .sourceChanged(
        Event.SourceChange(
          path: namespace.path(ofName: name), change: change, kind: kind, oldPath: oldPath, old: old, new: new,
          by: findings.by, time: now)))
  }
}
