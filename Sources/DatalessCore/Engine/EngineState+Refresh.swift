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
    guard record.kind == .directory, record.state == .resident, !record.isOrphan || namespace.isBound(directory),
      !isDetached(directory)
    else { return .notListed }
    guard namespace.beginListing(of: directory) else { return .indexing }
    let place = RefreshFindings.Place(
      directory: directory, epoch: namespace[directory].listingEpoch, recurses: recurses,
      isRemoved: record.isOrphan)
    // What was made on the volume is in no listing of the store.
    // What was moved here has the key still under which the store had it.
    if isOwn, !namespace.isBound(directory) { return .begun(place, nil) }
    return namespace.binding(of: directory).map { .begun(place, $0) } ?? .notListed
  }

  func isCurrent(_ place: RefreshFindings.Place) -> Bool {
    let record = namespace[place.directory]
    return record.state == .resident && record.listingEpoch == place.epoch && record.isOrphan == place.isRemoved
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
    let use = itemUse()
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
    if place.isRemoved {
      switch standing(text, listed, in: place) {
      case .moved: break
      case .removed(let name): return namespace.markSeen(name)
      case .other: return findings.look == nil ? postpone(text, listed, in: place, findings: &findings, now: now) : ()
      }
    }
    guard findings.look == nil else { return look(text, listed, in: place, findings: &findings, use: use) }
    let known = namespace.find(text, in: place.directory, .store)
    let old = known.map { namespace.listed(of: namespace.record(of: $0).node).attributes }
    let twin = known == nil ? nil : twin(listed)
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
    if merged.change == .unchanged || merged.change == .metadata {
      join(twin, to: node, use: use, findings: &findings)
    }
    if merged.change == .unchanged || merged.change == .metadata, let retained = contents.retained(of: node),
      namespace.hasOneStoreName(node)
        || StoreIdentity(retained.attributes) == StoreIdentity(listed.attributes)
    {
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

  /// What a merge asks of open files and of contents.
  func itemUse(_ savedBelow: SavedBelow = SavedBelow()) -> Namespace.ItemUse {
    let (open, contents, written) = (openFiles.nodesInUse, contents, writers.nodes)
    return Namespace.ItemUse(
      isOpen: { open.contains($0) }, retained: { contents.retained(of: $0) },
      isOpenForWriting: { written.contains($0) }, savedBelow: savedBelow)
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
