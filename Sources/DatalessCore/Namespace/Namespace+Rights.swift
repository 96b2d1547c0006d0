/// Mode, owner and group that were changed here, and in the store.
extension Namespace {
  /// The store has other attributes of an item: what was changed on both sides is in conflict.
  mutating func noteClash(of node: NodeIndex, with listed: ListedItem) {
    guard !isAsListed(node), !self[node].isOrphan else { return }
    if attributes(of: node).clashes(base: self.listed(of: node).attributes, with: listed.attributes) {
      noteConflict(.metadataOnBothSides, of: node, theirs: listed)
    }
  }

  /// An item has another version in the store: mode, owner and group stay what they were changed to here.
  ///
  /// - Parameters:
  ///   - base: What the older one had in the store.
  ///   - mine: What it had here.
  ///   - isInConflict: Whether these were in conflict before, of which nobody has decided.
  ///   - hasNames: Whether it has the names that were made for the older one here, and none of them stays with that.
  mutating func carryMetadata(
    _ mine: ItemAttributes, base: ItemAttributes, to newer: NodeIndex, isInConflict: Bool, hasNames: Bool
  ) {
    let theirs = attributes(of: newer)
    guard mine != base, theirs == listed(of: newer).attributes else { return }
    let both = mine.merged(base: base, theirs: theirs)
    var merged = theirs.withRights(of: both)
    if hasNames { merged.linkCount = both.linkCount }
    // Told also where nothing of it is left: what was set is of the older version.
    setAttributes(merged, of: newer)
    if mine.clashes(base: base, with: theirs) || (isInConflict && merged.withRights(of: theirs) != merged) {
      noteConflict(.metadataOnBothSides, of: newer, theirs: listed(of: newer))
    } else if isInConflict {
      // Both sides agree by now. What is kept of the older one is the newer one's.
      noteConflict(.metadataOnBothSides, of: newer, theirs: listed(of: newer))
      endConflict(of: newer)
    }
  }
}

extension ItemAttributes {
  /// The rights of others in the place of these.
  func withRights(of other: ItemAttributes) -> ItemAttributes {
    var changed = self
    changed.mode = mode & ~0o7777 | other.mode & 0o7777
    changed.uid = other.uid
    changed.gid = other.gid
    return changed
  }

  /// Whether the same of the rights was changed on both sides, to something else.
  func clashes(base: ItemAttributes, with theirs: ItemAttributes) -> Bool {
    func clash(_ field: KeyPath<ItemAttributes, UInt32>) -> Bool {
      let (mine, theirs, base) = (self[keyPath: field], theirs[keyPath: field], base[keyPath: field])
      return mine != base && theirs != base && mine != theirs
    }
    return clash(\.mode) || clash(\.uid) || clash(\.gid)
  }
}
