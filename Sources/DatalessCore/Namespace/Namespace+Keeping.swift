/// What is known of directories in which an earlier run may have changed something, and into which, or below which,
/// nobody has looked since.
struct SavedBelow {
  private var answers: [NodeID: Bool] = [:]

  /// Whether anything in a directory, or below it, that is not in the namespace was changed and is nowhere else.
  mutating func note(_ hasChanges: Bool, of directory: NodeID) { answers[directory] = hasChanges }

  /// Nobody has asked about most: then what is kept of them may be changes.
  func mayHaveChanges(_ directory: NodeID, awaitsSaved: Bool) -> Bool { answers[directory] ?? awaitsSaved }
}

/// What was changed here and is nowhere else stays, whatever the store does with the directory that it is in.
extension Namespace {
  /// Whether something was changed in it, or is about to be, that is nowhere else: in a file its content, in a
  /// directory a name, or anything below it, also where nobody has looked since the mount.
  func isDirty(_ node: NodeIndex, _ use: ItemUse) -> Bool {
    if keeps(node) { return true }
    switch self[node].kind {
    // With nothing of it here there is nothing to be kept: who writes first is told that it was changed.
    case .file: return use.isOpenForWriting(node) && self[node].state != .dataless
    case .directory: return use.savedBelow.mayHaveChanges(id(of: node), awaitsSaved: self[node].awaitsSaved)
    default: return false
    }
  }

  /// The store has a file, which is here by one name, under a further one that is about to be listed.
  mutating func share(_ node: NodeIndex, with listed: ListedItem) {
    guard self[node].kind == listed.attributes.kind else { return }
    switch self.listed(of: node).relation(to: listed) {
    // The name moves the time of change, by which the store's version is known.
    case .same, .metadata:
      // Of bytes that are here the version alone may be known: then nothing explains another one.
      let isKnown = !self.listed(of: node).attributes.isBare || self.listed(of: node).version.isSame(as: listed.version)
      guard isKnown || self[node].isDirty || self[node].state == .dataless else { return }
      adopt(listed, for: node)
    case .version, .other: if !self[node].isDirty { return }
    }
    shareNames(of: node, listed)
  }

  /// The store has a further name for what was written to here, and perhaps another version of it.
  mutating func noteWritten(_ node: NodeIndex, _ listed: ListedItem) {
    switch self.listed(of: node).relation(to: listed) {
    // The name moves the time of change, by which the store's version is known.
    case .same, .metadata: return adopt(listed, for: node)
    case .version, .other: break
    }
    noteConflict(.changedOnBothSides, of: node, theirs: listed)
  }

  /// Of a file that the store has no more the content is nowhere else. What was listed in a directory is not.
  func isResidentFile(_ node: NodeIndex) -> Bool {
    self[node].kind == .file && self[node].isLocal && self[node].state == .resident
  }

  /// Whether a directory is listed by what the volume itself knows: it is the volume's own. It may have been evicted
  /// before the store lost it.
  func isListedWithoutStore(_ node: NodeIndex) -> Bool {
    let record = self[node]
    guard record.kind == .directory else { return false }
    if record.awaitsSaved { return !isBound(node) || binding(of: node) == nil }
    return !record.isOrphan && !isBound(node)
  }

  /// Whether callers find an item by a name that was made on the volume.
  func isNamedHere(_ node: NodeIndex) -> Bool { presentNames(of: node).contains { record(of: $0).isLocal } }

  /// Of what is the volume's own from now on all names are here: those that the store had for it count no more.
  mutating func countNames(of node: NodeIndex) {
    guard self[node].kind != .directory, !isBound(node), !restored.isAwaited(node) else { return }
    var attributes = attributes(of: node)
    let count = UInt32(clamping: presentNames(of: node).count)
    guard count > 0, attributes.linkCount != count else { return }
    attributes.linkCount = count
    setAttributes(attributes, of: node)
  }

  // MARK: - Files with several names in the store

  /// LIMIT: names of one file that are looked at under one hold of the lock.
  static var sharedNamesMax: Int { 256 }

  /// Whether the store has a file under no more than one name, as far as is known.
  func hasOneStoreName(_ node: NodeIndex) -> Bool {
    storeName(of: node).map { otherStoreNames(of: node, than: $0) == nil } ?? true
  }

  /// Whether a file stays what it is without a name, by others by which the store has it; nil if it has none.
  ///
  /// - Returns: Whether one of them was in the last listing of its directory, and callers find the file by one that
  ///   is not about to go.
  func otherStoreNames(of node: NodeIndex, than name: NameIndex) -> Bool? {
    var (isShared, stays, isFound) = (false, false, false)
    var other = self[node].firstName
    for _ in 0..<Self.sharedNamesMax where other != .end {
      let record = record(of: other)
      if other != name, record.isInStore {
        isShared = true
        // In another directory that is being listed it may come yet; if it does not, it is asked after this one.
        let isSeen =
          record.epoch == self[record.directory].listingEpoch
          || (self[record.directory].state != .resident && record.directory != self.record(of: name).directory)
        stays = stays || isSeen
        isFound = isFound || (isSeen && record.isPresent)
      } else if other != name, record.isPresent {
        isFound = true
      }
      other = record.nextOfNode
    }
    return isShared ? stays && isFound : nil
  }

  /// A name by which the store had a file when an earlier run kept what was written to it, in a directory that nobody
  /// has looked into since the mount; nil if there is none.
  ///
  /// - Parameters:
  ///   - name: One that it has, in a directory that is being listed.
  ///   - isComplete: Whether that listing is through: what it has not brought is not there.
  ///   - isFound: As `RestoredItems.storeNames(of:isFound:)`. Default: yes.
  mutating func unmetStoreName(
    of node: NodeIndex, than name: NameIndex, isComplete: Bool, isFound: Bool = true
  ) -> (key: [UInt8], directory: NodeIndex)? {
    let listed = record(of: name).directory
    for key in restored.storeNames(of: node, isFound: isFound) where !restored.isLost(key) {
      let directory = unlistedDirectory(
        onTheWayTo: key, listing: listed, isComplete: isComplete, entersRemoved: false)
      if let directory { return (key, directory) }
    }
    return nil
  }

  /// Whether the names of a written file that an earlier run has kept, and that were not met yet, are the store's, all
  /// of them: none was made here.
  func awaitsStoreNamesAlone(_ node: NodeIndex) -> Bool {
    guard let left = restored.namesLeft(of: node) else { return false }
    var met = 0
    var name = self[node].firstName
    for _ in 0..<Self.sharedNamesMax where name != .end {
      if record(of: name).isInStore { met += 1 }
      name = record(of: name).nextOfNode
    }
    return left <= restored.storeNames(of: node, isFound: false).count - met
  }

  /// The first directory on the way to a key of the store that is not listed; nil if all are, or one is not there.
  ///
  /// - Parameters:
  ///   - current: The one that is being listed. What it has is looked at; what it may bring yet, is in it.
  ///   - isComplete: Whether that listing is through.
  ///   - entersRemoved: Whether directories count that were removed here: nobody finds a file in them. Default: yes.
  mutating func unlistedDirectory(
    onTheWayTo key: [UInt8], listing current: NodeIndex, isComplete: Bool, entersRemoved: Bool = true
  ) -> NodeIndex? {
    var (directory, rest) = knownDirectory(onTheWayTo: key)
    rest = rest.dropLast()
    for part in rest {
      let isListed = self[directory].state == .resident
      guard isListed || directory == current else { return directory }
      // Rarely asked, and mostly of names that are findable.
      while !indexNames(of: directory) {}
      guard let name = part.withUnsafeBufferPointer({ find($0, in: directory, .store) }), record(of: name).isInStore
      else { return isListed || isComplete ? nil : directory }
      let record = record(of: name)
      guard self[record.node].kind == .directory, !isComplete || record.epoch == self[directory].listingEpoch,
        entersRemoved || record.standing != .removed || !self[record.node].isOrphan
      else { return nil }
      directory = record.node
    }
    return self[directory].state == .resident || directory == current ? nil : directory
  }

  /// Where the way to a key of the store begins: the root, or a directory on it that was moved here, and whose place
  /// was not looked at, with what is left of the key.
  func knownDirectory(onTheWayTo key: [UInt8]) -> (NodeIndex, ArraySlice<ArraySlice<UInt8>>) {
    let slash = UInt8(ascii: "/")
    guard restored.hasKeys else { return (.root, key.split(separator: slash)[...]) }
    for above in StoreKey.directories(above: key) {
      let node = restored.items(at: above).first { self[$0].kind == .directory && !self[$0].isOrphan }
      if let node { return (node, key.dropFirst(above.count).split(separator: slash)[...]) }
    }
    return (.root, key.split(separator: slash)[...])
  }

  /// The store has a name of a written file no more: if it has no other that is known, one that was not looked for yet
  /// is its place.
  mutating func awaitStoreName(of node: NodeIndex, insteadOf name: NameIndex, isComplete: Bool) {
    guard !restored.storeNames(of: node).isEmpty, otherStoreNames(of: node, than: name) == nil,
      let (key, directory) = unmetStoreName(of: node, than: name, isComplete: isComplete)
    else { return }
    restored.awaitName(at: key, of: node)
    // What is kept of those that a first listing brings is put back with them.
    let current = record(of: name).directory
    if self[current].state == .resident || !isIn(current, directory) { setAwaitsSaved(true, of: directory) }
  }

  /// The store has given one of several names of a written file to another item: it is the volume's own from now on,
  /// before that one.
  private mutating func keepShared(_ name: NameIndex, against listed: ListedItem) {
    let node = record(of: name).node
    awaitStoreName(of: node, insteadOf: name, isComplete: false)
    noteConflict(.changedOnBothSides, of: node, theirs: listed)
    keepHere(name)
    // The store counts it no more.
    var attributes = attributes(of: node)
    attributes.linkCount = attributes.linkCount &+ 1
    setAttributes(attributes, of: node)
  }

  /// What was written to, and is nowhere in the store, is in conflict: unless it stands before what the store has.
  mutating func noteGoneThere(_ node: NodeIndex) {
    if let kind = conflicts.kind(of: node), kind == .changedOnBothSides || kind == .madeOnBothSides,
      case .hidden = theirs(of: node)
    {
      return
    }
    noteConflict(.changedHereGoneThere, of: node, theirs: nil)
  }

  // MARK: - Names that the store has given to other items

  /// What becomes of an item whose name the store has given to another one.
  enum KeptName {
    /// Nothing in it was changed: it goes.
    case goes
    /// The store has a directory there, too: both are one from now on, as they would be after the next mount.
    case joined
    /// The name is the volume's own: what the store has there is behind it.
    case kept
  }

  /// Keeps a directory in which something was changed; and of a written file with several names this one.
  ///
  /// - Parameter joins: Whether nothing here is the store's new directory already.
  mutating func keepNamed(
    _ name: NameIndex, against listed: ListedItem, joins: Bool, use: ItemUse
  ) -> KeptName {
    let node = record(of: name).node
    if record(of: name).isInStore, record(of: name).isPresent, self[node].kind == .file, isDirty(node, use),
      otherStoreNames(of: node, than: name) != nil
        || unmetStoreName(of: node, than: name, isComplete: false, isFound: false) != nil
    {
      keepShared(name, against: listed)
      return .kept
    }
    guard record(of: name).isPresent, self[node].kind == .directory, isDirty(node, use) else { return .goes }
    if joins, listed.attributes.kind == .directory {
      adopt(listed, for: node)
      return .joined
    }
    keepHere(name)
    noteConflict(.changedHereGoneThere, of: node, theirs: nil)
    noteOwnDirectory(node)
    return .kept
  }
}
