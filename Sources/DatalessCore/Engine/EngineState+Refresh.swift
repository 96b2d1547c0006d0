/// What a refresh does to the catalog, in steps of bounded size under the engine's lock.
extension EngineState {
  enum RefreshStart {
    case begun(RefreshFindings.Place, StoreItem)
    case notListed
    /// Names have to be made findable first, a bounded number under each lock: call again.
    case indexing
  }

  /// Starts the new listing of a listed directory.
  mutating func beginRefresh(of directory: Int, recurses: Bool) -> RefreshStart {
    let record = catalog.inodes[directory]
    guard record.kind == .directory, record.state == .resident, !record.isOrphan else { return .notListed }
    guard catalog.beginListing(of: directory) else { return .indexing }
    let place = RefreshFindings.Place(
      directory: directory, epoch: catalog.inodes[directory].listingEpoch, recurses: recurses)
    return .begun(place, StoreItem(path: catalog.path(of: directory), attributes: catalog.attributes(at: directory)))
  }

  private func isCurrent(_ place: RefreshFindings.Place) -> Bool {
    let record = catalog.inodes[place.directory]
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
    _ name: UnsafeBufferPointer<UInt8>, _ listed: ItemAttributes, _ place: RefreshFindings.Place,
    _ findings: inout RefreshFindings, _ now: MonotonicTime
  ) {
    guard 1...Catalog.nameLengthMax ~= name.count else { return }
    let dentry =
      catalog.inodes[place.directory].isRelisted ? Int(catalog.anyDentry(in: place.directory, name: name)) : 0
    guard dentry != 0, !catalog.dentries[dentry].isGone else {
      return postpone(name, listed, place, &findings, now)
    }
    catalog.dentries[dentry].epoch = place.epoch
    let old = catalog.attributes(at: Int(catalog.dentries[dentry].node))
    let handles = handles
    let relisted = catalog.relist(dentry, listed, keeps: findings.keeps) { handles.count(of: $0) > 0 }
    switch relisted {
    case .unchanged: findings.counts.unchanged += 1
    case .updated, .replaced:
      findings.counts.changed += 1
      if relisted == .replaced { findings.noteName(name, in: place.directory) }
      record(.changed, dentry, old, listed, &findings, now)
    case .kept(let isNew):
      findings.counts.kept += 1
      if isNew { record(.kept, dentry, old, listed, &findings, now) }
    case .other: return postpone(name, listed, place, &findings, now)
    }
    let node = Int(catalog.dentries[dentry].node)
    if place.recurses, catalog.inodes[node].kind == .directory, catalog.inodes[node].state == .resident {
      findings.subdirectories.append(node)
    }
  }

  private mutating func postpone(
    _ name: UnsafeBufferPointer<UInt8>, _ listed: ItemAttributes, _ place: RefreshFindings.Place,
    _ findings: inout RefreshFindings, _ now: MonotonicTime
  ) {
    let item = RefreshFindings.Deferred(place: place, name: Array(name), attributes: listed)
    guard findings.deferred.count >= RefreshFindings.deferredMax else {
      findings.deferred.append(item)
      return
    }
    var none: [StoreIdentity: RefreshFindings.Former] = [:]
    settle(item, &none, &findings, now)
  }

  /// Collects the names that a listing did not have any more. - Parameter cursor: As `Catalog.dropVanishedNames`.
  mutating func collectVanished(
    _ place: RefreshFindings.Place, from cursor: UInt32, limit: Int, _ findings: inout RefreshFindings
  ) -> UInt32? {
    guard isCurrent(place) else { return nil }
    return catalog.visitVanishedNames(of: place.directory, from: cursor, limit: limit) { _, dentry in
      findings.vanished.append(UInt32(dentry))
    }
  }

  /// Notes of names which node they had, if a new name asks for that item.
  func noteFormer(
    _ dentries: some Sequence<Int>, _ wanted: Set<StoreIdentity>,
    _ formers: inout [StoreIdentity: RefreshFindings.Former]
  ) {
    for dentry in dentries where dentry != 0 && !catalog.dentries[dentry].isGone {
      let node = Int(catalog.dentries[dentry].node)
      let identity = StoreIdentity(catalog.attributes(at: node))
      if wanted.contains(identity) { formers[identity] = RefreshFindings.Former(dentry: dentry, node: node) }
    }
  }

  /// The place of a deferred name in the catalog; 0 if it has none.
  func dentry(of item: RefreshFindings.Deferred) -> Int {
    item.name.withUnsafeBufferPointer { name in
      catalog.inodes[item.place.directory].isIndexed
        ? Int(catalog.anyDentry(in: item.place.directory, name: name)) : 0
    }
  }

  /// Puts a name that is new, or that another item has, into the catalog: as another name of the item that it was, or as a
  /// new item.
  mutating func settle(
    _ item: RefreshFindings.Deferred, _ formers: inout [StoreIdentity: RefreshFindings.Former],
    _ findings: inout RefreshFindings, _ now: MonotonicTime
  ) {
    guard isCurrent(item.place) else { return }
    let (directory, listed) = (item.place.directory, item.attributes)
    var dentry = dentry(of: item)
    let isNew = dentry == 0 || catalog.dentries[dentry].isGone
    let replaced = isNew ? nil : catalog.attributes(at: Int(catalog.dentries[dentry].node))
    // A listing that raced with a rename may have had the name twice.
    if let replaced, replaced.relation(to: listed) != .other { return }
    // Directories that changed places while they were listed may seem to lie in themselves: then it is a new item.
    let former = takeFormer(of: item, &formers).flatMap { catalog.holds($0.node, directory) ? nil : $0 }
    let renamedFrom = former.map { catalog.path(ofName: $0.dentry) }
    let known = former.map { catalog.attributes(at: $0.node) }
    guard let node = former?.node ?? revivable(dentry, item) ?? catalog.node(for: listed) else { return }
    catalog.adopt(node, listed, catalog.attributes(at: node))
    if dentry == 0 {
      dentry = item.name.withUnsafeBufferPointer { catalog.addName($0, of: node, in: directory) }
      if dentry == 0 { return }
    } else {
      catalog.relink(dentry, to: node)
      catalog.setGone(false, dentry)
      catalog.dentries[dentry].epoch = item.place.epoch
    }
    findings.noteName(item.name, in: directory)
    if let former, let renamedFrom {
      leave(former.dentry, &findings)
      findings.counts.renamed += 1
      record(.renamed, dentry, known, listed, &findings, now, oldPath: renamedFrom)
    } else if let replaced {
      findings.counts.changed += 1
      record(.changed, dentry, replaced, listed, &findings, now)
    } else {
      findings.counts.added += 1
      record(.added, dentry, nil, listed, &findings, now)
    }
    if item.place.recurses, listed.kind == .directory, catalog.inodes[node].state == .resident {
      findings.subdirectories.append(node)
    }
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
  private func isRenamed(_ node: Int, _ item: RefreshFindings.Deferred) -> Bool {
    let fetched = catalog.inodes[node].generation
    // What was fetched had one, and this has another or cannot be asked any more.
    guard fetched == 0 || fetched == item.generation else { return false }
    let relation = catalog.attributes(at: node).relation(to: item.attributes, isRenamed: true, isProven: fetched != 0)
    return relation == .same || relation == .metadata
  }

  /// Whether it takes the item's generation to say what a name that has come is.
  func needsGeneration(
    _ item: RefreshFindings.Deferred, _ formers: [StoreIdentity: RefreshFindings.Former]
  ) -> Bool {
    let former = formers[StoreIdentity(item.attributes)].map(\.node)
    let dentry = former == nil ? dentry(of: item) : 0
    guard let node = former ?? (dentry == 0 ? nil : Int(catalog.dentries[dentry].node)) else { return false }
    return catalog.inodes[node].generation != 0
  }

  /// The node that a name had when it was there last, if that is the item that is there again.
  private func revivable(_ dentry: Int, _ item: RefreshFindings.Deferred) -> Int? {
    guard dentry != 0, catalog.dentries[dentry].isGone else { return nil }
    let node = Int(catalog.dentries[dentry].node)
    // A directory that was gone has lost what was in it, and is listed anew.
    return catalog.inodes[node].kind != .directory && isRenamed(node, item) ? node : nil
  }

  /// Takes away the name that a renamed item had, unless another item has it by now.
  private mutating func leave(_ dentry: Int, _ findings: inout RefreshFindings) {
    let directory = Int(catalog.dentries[dentry].parent)
    guard catalog.dentries[dentry].epoch != catalog.inodes[directory].listingEpoch else { return }
    findings.noteName(catalog.name(of: dentry), in: directory)
    catalog.setGone(true, dentry)
  }

  /// Takes away a name that its directory's listing did not have, unless it is there again.
  mutating func dropVanished(_ dentry: Int, _ findings: inout RefreshFindings, _ now: MonotonicTime) {
    let entry = catalog.dentries[dentry]
    let directory = catalog.inodes[Int(entry.parent)]
    guard !entry.isGone, directory.state == .resident, entry.epoch != directory.listingEpoch else { return }
    findings.counts.gone += 1
    findings.noteName(catalog.name(of: dentry), in: Int(entry.parent))
    record(.gone, dentry, catalog.attributes(at: Int(entry.node)), nil, &findings, now)
    catalog.setGone(true, dentry)
  }

  /// The root has no name: its metadata is the store's own.
  mutating func refreshRoot(_ listed: ItemAttributes, _ findings: inout RefreshFindings, _ now: MonotonicTime) {
    let root = Int(NodeID.root.rawValue)
    let known = catalog.attributes(at: root)
    let relation = known.relation(to: listed)
    guard relation != .other else { return }
    catalog.adopt(root, listed, known)
    guard relation != .same else { return }
    findings.counts.changed += 1
    record(.changed, 0, known, listed, &findings, now)
  }

  private func record(
    _ change: Event.SourceChange.Change, _ dentry: Int, _ old: ItemAttributes?, _ new: ItemAttributes?,
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
          path: catalog.path(ofName: dentry), change: change, kind: kind, oldPath: oldPath, old: old, new: new,
          by: findings.by, time: now)))
  }
}
