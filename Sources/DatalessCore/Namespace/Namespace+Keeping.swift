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
    case .file: return use.isOpenForWriting(node)
    case .directory: return use.savedBelow.mayHaveChanges(id(of: node), awaitsSaved: self[node].awaitsSaved)
    default: return false
    }
  }

  /// The store has a file, which is here by one name, under a further one that is about to be listed.
  mutating func share(_ node: NodeIndex, with listed: ListedItem) {
    guard self[node].kind == listed.attributes.kind else { return }
    switch self.listed(of: node).relation(to: listed) {
    // The name moves the time of change, by which the store's version is known.
    case .same, .metadata: adopt(listed, for: node)
    case .version, .other: if !self[node].isDirty { return }
    }
    shareNames(of: node, listed)
  }

  /// The store has a further name for what was written to here, and perhaps another version of it.
  mutating func noteWritten(_ node: NodeIndex, _ listed: ListedItem) {
    guard !self.listed(of: node).version.isSame(as: listed.version) else { return }
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

  /// What becomes of a directory whose name the store has given to another item.
  enum KeptDirectory {
    /// Nothing in it was changed: it goes.
    case goes
    /// The store has a directory there, too: both are one from now on, as they would be after the next mount.
    case joined
    /// The name is the volume's own: what the store has there is behind it.
    case kept
  }

  /// Keeps a directory in which something was changed.
  ///
  /// - Parameter joins: Whether nothing here is the store's new directory already.
  mutating func keepDirectory(
    _ name: NameIndex, against listed: ListedItem, joins: Bool, use: ItemUse
  ) -> KeptDirectory {
    let node = record(of: name).node
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
