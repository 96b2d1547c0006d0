internal import Glibc

/// How saved items become nodes, and saved names names: in steps of bounded size.
extension EngineState {
  /// LIMIT: names that are put back under one lock.
  private static var restoredAtATime: Int { 128 }

  /// What a step has done.
  struct RestoreStep {
    var adopted: [(SavedItemID, NodeID)] = []
    /// Content that is to be removed.
    var dropped: [ContentID] = []
    /// Directories of the store that it has not listed.
    var absent: [Restorations.Entry] = []
    /// Directories of which something else is kept than what they are: to be told when they are adopted.
    var others: [NodeID] = []
    var hasRoom = true
    var isDone = false
  }

  /// The directory of an attempt, if something is saved of it that is not here yet; with what it is called if that was
  /// not read.
  func toBeRestored(_ id: AttemptID) -> (node: NodeIndex, item: ChangedItem?)? {
    guard let node = attempts[id]?.node, namespace[node].awaitsSaved else { return nil }
    return (node, restorations.isBegun(node) ? nil : namespace.changedItem(node))
  }

  mutating func restoreSome(of directory: NodeIndex, afterListing: Bool) -> RestoreStep {
    var step = RestoreStep()
    // A listing is searched; what comes before it is not.
    if afterListing, !namespace.indexNames(of: directory) { return step }
    for _ in 0..<Self.restoredAtATime {
      guard let entry = restorations.next(in: directory, afterListing: afterListing) else {
        step.isDone = true
        return step
      }
      guard 1...Namespace.nameLengthMax ~= entry.name.count else { continue }
      guard restore(entry, in: directory, &step) else {
        restorations.putBack(in: directory)
        step.hasRoom = false
        return step
      }
    }
    return step
  }

  // MARK: - Names

  /// - Returns: False when the tables are full.
  private mutating func restore(
    _ entry: Restorations.Entry, in directory: NodeIndex, _ step: inout RestoreStep
  ) -> Bool {
    journal.beginRestoring()
    defer { journal.endRestoring() }
    switch entry.layer {
    case .listed: return restoreListed(entry, in: directory, &step)
    case .hidden: return restoreHidden(entry, in: directory, &step)
    case .made: return restoreMade(entry, in: directory, &step)
    case .directory:
      restoreDirectory(entry, in: directory, &step)
      return true
    }
  }

  private mutating func restoreListed(
    _ entry: Restorations.Entry, in directory: NodeIndex, _ step: inout RestoreStep
  ) -> Bool {
    guard let known = storeNode(of: entry.item, isBare: false, &step) else { return true }
    guard let node = known else { return false }
    namespace.restored.noteName(of: node)
    guard let name = entry.name.withUnsafeBufferPointer({ namespace.link($0, to: node, in: directory) }) else {
      return false
    }
    tellStoreName(name, of: node)
    return true
  }

  /// A written file was met before by a name that SOURCE has given it since: the one that it had is one of several now.
  private mutating func tellStoreName(_ name: NameIndex, of node: NodeIndex) {
    guard namespace[node].isDirty, let key = namespace.storeKey(of: name),
      !namespace.restored.storeNames(of: node, isFound: false).contains(key)
    else { return }
    journal.endRestoring()
    namespace.tellStoreName(name)
    journal.beginRestoring()
  }

  /// A name of the store that was removed, or whose item was moved.
  private mutating func restoreHidden(
    _ entry: Restorations.Entry, in directory: NodeIndex, _ step: inout RestoreStep
  ) -> Bool {
    guard let known = storeNode(of: entry.item, isBare: true, &step) else { return true }
    guard let node = known,
      let name = entry.name.withUnsafeBufferPointer({ namespace.link($0, to: node, in: directory) })
    else { return false }
    namespace.restored.noteName(of: node)
    namespace.setStanding(.removed, of: name)
    return true
  }

  /// The node of an item that a name of the store leads to.
  ///
  /// - Returns: nil if nothing is known of it; nil in it when the tables are full.
  private mutating func storeNode(
    of item: SavedItem, isBare: Bool, _ step: inout RestoreStep
  ) -> NodeIndex?? {
    if case .node(let known) = namespace.restored.standing(of: item.id) {
      namespace.restored.setKey(nil, of: known)
      // It was met by a name that is hidden.
      if !isBare, namespace.restored.takeBare(known) { restore(item, on: known, &step) }
      return known
    }
    guard let base = item.base else { return nil }
    if let written = joinWriting(item, base, step: &step) { return .some(written) }
    let other = otherWriting(than: item, base)
    // A hidden name of a file that is here by another one of the store's, with all that is kept of it.
    if isBare, other == nil, let known = namespace.sharedNode(for: base), !namespace[known].isOrphan {
      return .some(known)
    }
    let node = namespace.node(for: base, older: other)
    if let node { meet(item, node, isBare: isBare, step: &step) }
    return .some(node)
  }

  /// The node that is here already of the file of the store that a saved item is, and that has other content: SOURCE
  /// has given another name to what was in conflict here, or came before that was met. Each is a node of its own.
  private func otherWriting(than item: SavedItem, _ base: ListedItem) -> NodeIndex? {
    guard item.content != nil, let known = namespace.sharedNode(for: base) else { return nil }
    // Of one that was met by a hidden name what was written comes later.
    guard item.isDirty else { return namespace.restored.isWritten(known) ? known : nil }
    guard let met = namespace.restored.item(of: known) else { return namespace[known].isLocal ? known : nil }
    return met != item.id ? known : nil
  }

  /// The node of what was written to the file that a saved item is, if nothing was written to that: what was fetched of
  /// it is of no use beside it.
  private mutating func joinWriting(
    _ item: SavedItem, _ base: ListedItem, step: inout RestoreStep
  ) -> NodeIndex? {
    guard !item.isDirty, let known = namespace.sharedNode(for: base), namespace[known].isDirty else { return nil }
    drop(item, of: known, &step)
    return known
  }

  private mutating func restoreMade(
    _ entry: Restorations.Entry, in directory: NodeIndex, _ step: inout RestoreStep
  ) -> Bool {
    let item = entry.item
    let node: NodeIndex?
    switch namespace.restored.standing(of: item.id) {
    case .node(let known):
      if namespace.restored.takeBare(known) { restore(item, on: known, &step) }
      node = known
    case .gone where item.content == nil && item.version != nil && item.base?.attributes.kind != .directory:
      // The store has it no more, and nothing of it is here.
      journal.endRestoring()
      journal.append(.unnamed(name: entry.name, in: namespace.changedItem(directory)))
      return true
    case .unknown, .gone:
      guard let base = item.base else { return true }
      let written = joinWriting(item, base, step: &step)
      node = written ?? namespace.node(for: base, older: otherWriting(than: item, base))
      if let node, written == nil {
        if namespace.restored.standing(of: item.id) == .unknown {
          namespace.restored.meet(node, key: item.key)
        } else {
          // A listing has not had its place: the next one that brings it says where it is.
          namespace.restored.notePlaceless(node)
        }
        meet(item, node, isBare: false, step: &step)
        // There is no conflict with what is nowhere any more.
        if item.extendedAttributes[KeptAttribute.conflict] != nil { namespace.restored.doubt(node) }
      }
    }
    guard let node else { return false }
    if namespace[node].kind == .directory, namespace[node].state == .dataless {
      namespace.setAwaitsSaved(true, of: node)
    }
    namespace.setUnlinked(false, of: node)
    let name = entry.name.withUnsafeBufferPointer { namespace.link($0, to: node, in: directory, isLocal: true) }
    guard name != nil else { return false }
    namespace.restored.noteName(of: node)
    // The store may have lost it while this name was not known.
    if namespace.restored.takeOlder(node) {
      namespace.noteOlder(node)
    } else if item.version != nil, namespace[node].kind == .file || namespace[node].isListed {
      namespace.noteUnbound(node)
    }
    costs.add(ChangeCosts.name(entry.name.count), to: node, of: namespace[node].uid)
    if namespace[node].kind == .directory { noteHeight(heights.height(of: node), below: directory) }
    return true
  }

  /// A directory of the store's: the listing may have it.
  private mutating func restoreDirectory(
    _ entry: Restorations.Entry, in directory: NodeIndex, _ step: inout RestoreStep
  ) {
    // Under another name it is here already.
    guard namespace.restored.settle(entry.item.id) else { return }
    let epoch = namespace[directory].listingEpoch
    let found = entry.name.withUnsafeBufferPointer { namespace.find($0, in: directory, .store) }
    let name = found.flatMap { name in
      namespace.record(of: name).isInStore && namespace.record(of: name).epoch == epoch ? name : nil
    }
    if case .node(let known) = namespace.restored.standing(of: entry.item.id),
      name.map({ namespace.record(of: $0).node != known }) ?? true
    {
      return restoreMovedOut(known, of: name)
    }
    guard let name else { return step.absent.append(entry) }
    let node = namespace.record(of: name).node
    guard namespace[node].kind == .directory else { return step.absent.append(entry) }
    // It was listed before it was restored: by another name, that was made here.
    guard namespace[node].state == .dataless, !namespace[node].awaitsSaved else { return }
    namespace.setAwaitsSaved(true, of: node)
    meet(entry.item, node, isBare: false, step: &step)
    let isSame = entry.item.version.map(StoreIdentity.init) == StoreIdentity(namespace.listed(of: node).attributes)
    if !isSame { step.others.append(namespace.id(of: node)) }
  }

  /// A directory that was moved out of one that was removed here: nothing is kept of the name that it had there.
  ///
  /// - Parameter name: What the store has there; nil: nothing.
  private mutating func restoreMovedOut(_ directory: NodeIndex, of name: NameIndex?) {
    namespace.restored.setKey(nil, of: directory)
    guard let name, namespace.record(of: name).isPresent,
      [.same, .metadata].contains(
        namespace.listed(of: directory).relation(to: namespace.listed(of: namespace.record(of: name).node)))
    else { return namespace.noteUnbound(directory) }
    namespace.relink(name, to: directory)
    namespace.setStanding(.removed, of: name)
  }

  // MARK: - Files that the store has under several names

  /// Those that no known name leads to, as they are asked for.
  func unknownShared(
    _ files: [(name: [UInt8], item: ListedItem)], _ id: AttemptID
  ) -> [(ChangedItem, ListedItem)] {
    guard let node = attempts[id]?.node, let directory = namespace.binding(of: node) else { return [] }
    let unknown = files.filter { file in
      // By a name that is hidden a file is known, and seen by nobody.
      if namespace[node].isIndexed,
        let name = file.name.withUnsafeBufferPointer({ namespace.find($0, in: node, .store) }),
        namespace.record(of: name).standing == .removed,
        namespace.listed(of: namespace.record(of: name).node).relation(to: file.item) != .other
      {
        return false
      }
      return namespace.sharedNode(for: file.item).map { namespace.restored.isBare($0) }
        ?? file.item.attributes.mayHaveSeveralNames
    }
    return unknown.map { name, item in
      let binding = StoreBinding(key: directory.childKey(name), version: item.version)
      return (ChangedItem(NodeID(rawValue: 0), inode: item.attributes.inode, binding: binding), item)
    }
  }

  mutating func restoreShared(_ item: SavedItem, _ listed: ListedItem) -> RestoreStep {
    var step = RestoreStep()
    journal.beginRestoring()
    defer { journal.endRestoring() }
    if let known = namespace.sharedNode(for: listed) {
      // It was met by a name that was removed here.
      if namespace.restored.standing(of: item.id) == .node(known), namespace.restored.takeBare(known) {
        restore(item, on: known, &step)
      }
      return step
    }
    let standing = namespace.restored.standing(of: item.id)
    if standing == .gone { return step }
    // It is here by the name that it had alone when it was kept: its content is that of one node.
    var known = item.node.flatMap { namespace.index(of: $0) }
    if case .node(let node) = standing { known = node }
    if let known, !namespace[known].isOrphan || standing != .unknown {
      // By a name that is hidden alone it was bare.
      if namespace.restored.takeBare(known) { restore(item, on: known, &step) }
      namespace.share(known, with: listed)
      return step
    }
    // Full tables are found by the listing, too.
    if let node = namespace.node(for: listed) {
      meet(item, node, isBare: false, isShared: true, step: &step)
      // A conflict is told before the file has its name, as of one that the store has nowhere.
      if !item.hasPlace || namespace.conflicts.kind(of: node) != nil { namespace.restored.notePlaceless(node) }
    }
    return step
  }

  // MARK: - Directories that the store has no more

  /// The directory of an attempt, if it was moved here and the place that it came from was not looked into.
  func knownByNewNameAlone(_ id: AttemptID) -> (node: NodeIndex, item: SavedItemID)? {
    guard let node = attempts[id]?.node, namespace.restored.key(of: node) != nil else { return nil }
    return namespace.restored.item(of: node).map { (node, $0) }
  }

  /// The directory of an attempt, if it was moved here, and no listing of this mount has seen the name that it had in
  /// the store.
  func movedFromUnlisted(_ id: AttemptID) -> SavedItemID? {
    guard let node = attempts[id]?.node, namespace[node].awaitsSaved, namespace.isNamedHere(node) else { return nil }
    let isSeen = namespace.hiddenNames(of: node).contains { name in
      let directory = namespace.record(of: name).directory
      return namespace[directory].isListed && namespace.isBound(directory)
    }
    return isSeen ? nil : namespace.restored.item(of: node)
  }

  /// - Parameter isKept: Whether anything in it is nowhere else.
  mutating func loseStore(_ directory: NodeIndex, isKept: Bool) {
    journal.beginOperation()
    defer { journal.endOperation() }
    namespace.loseRestoredKey(of: directory, isKept: isKept)
  }

  /// Written files that have no name until the directory is looked into in which the store has them.
  var namelessWithKeys: Set<NodeIndex> { Set(namespace.restored.nodesWithKeys.filter { namespace[$0].isOrphan }) }

  /// The store has a directory no more, nor what lay in it and was moved from there before the mount: that is decided
  /// about with all that has lost its place, when the listing is through.
  mutating func loseKeys(below name: [UInt8], in directory: NodeIndex) {
    guard let key = namespace.binding(of: directory)?.childKey(name) else { return }
    let nameless = namelessWithKeys
    let lost = namespace.restored.loseKeys(below: key) { !nameless.contains($0) }
    for node in lost { namespace.noteUnbound(node) }
  }

  /// A directory that the store has no more, and below which something was changed: it is the volume's own.
  mutating func makeKept(_ entry: Restorations.Entry, in directory: NodeIndex) -> NodeID? {
    var attributes = entry.item.attributes ?? unknownRights(entry.item, in: directory)
    // The store may have it elsewhere, or another item of its number.
    guard let inode = madeNumbers.take(above: namespace.largestReserved) else { return nil }
    attributes.device = ItemAttributes.madeDevice
    attributes.inode = inode
    attributes.birth = inode
    journal.beginRestoring()
    defer { journal.endRestoring() }
    guard let node = namespace.node(for: ListedItem(attributes)) else { return nil }
    for (name, value) in entry.item.extendedAttributes { restoreAttribute(name, value, of: node) }
    bookRestored(node)
    namespace.setAwaitsSaved(true, of: node)
    return namespace.id(of: node)
  }

  /// A directory of which only that it was on the way is kept: whose it was, and who might look into it, nobody knows
  /// any more. So the volume's own user alone does.
  private func unknownRights(_ item: SavedItem, in directory: NodeIndex) -> ItemAttributes {
    var attributes = namespace.attributes(of: directory)
    attributes.mode = S_IFDIR | 0o700
    (attributes.uid, attributes.gid) = (geteuid(), getegid())
    attributes.linkCount = 2
    if let version = item.version {
      (attributes.modificationTime, attributes.changeTime) = (version.modificationTime, version.changeTime)
    }
    return attributes
  }

  mutating func nameKept(_ entry: Restorations.Entry, _ node: NodeID, in directory: NodeIndex) {
    guard let node = namespace.index(of: node) else { return }
    journal.beginOperation()
    defer { journal.endOperation() }
    tellMade(node)
    _ = giveKeptName(entry.name, to: node, in: directory)
    namespace.noteConflict(.changedHereGoneThere, of: node, theirs: nil)
  }
}
