/// What the journal is told of names. A name of the store is told only where it is hidden, and where an item whose
/// content is here depends on it; names that were made on the volume always.
extension Namespace {
  /// What of a name is told.
  struct ToldName {
    fileprivate let isNamed: Bool
    fileprivate let isHidden: Bool
    fileprivate let node: NodeIndex
    fileprivate let key: [UInt8]?
    fileprivate let isLost: Bool
  }

  /// How a name stands before it is changed; nil if no journal is kept.
  ///
  /// - Parameter isLost: Whether the store's name leads to its item no more then: that is told now, because the item
  ///   may have no other. Default: no.
  func told(_ name: NameIndex, isLost: Bool = false) -> ToldName? {
    guard keepsJournal else { return nil }
    if isLost { tellStoreNameLost(name) }
    let record = record(of: name)
    return ToldName(
      isNamed: record.isLocal && record.isPresent, isHidden: !record.isLocal && record.standing == .removed,
      node: record.node, key: keyOfKept(record.node), isLost: isLost)
  }

  /// Tells what has become of a name. - Parameter before: As it stood.
  func tell(_ name: NameIndex, since before: ToldName?) {
    guard let before, let now = told(name) else { return }
    if now.isNamed != before.isNamed || now.isHidden != before.isHidden || now.node != before.node {
      tellChange(of: name, before, now)
    }
    // Of several names the catalog knows one as its place, which may be this one. In a directory that the store has no
    // more it has had no key.
    let isUncertain = before.isLost && self[before.node].kind != .directory
    guard before.key != nil || isUncertain else { return }
    tellBinding(of: before.node, since: isUncertain ? nil : before.key)
  }

  /// Tells the store's key of an item if it is another one than before. Where two names change in one refresh, the item
  /// may have had none in between (`mv a b` and a new `a` in the store), so it has one again then.
  ///
  /// - Parameter formerKey: nil for an item that had none.
  func tellBinding(of node: NodeIndex, since formerKey: [UInt8]?) {
    guard keepsJournal, let item = boundItem(node), let key = item.binding?.key, key != formerKey else { return }
    append(.bound(item, formerKey: formerKey ?? key))
  }

  private func tellChange(of name: NameIndex, _ before: ToldName, _ now: ToldName) {
    let text = Array(text(of: name))
    let directory = changedItem(record(of: name).directory)
    if before.isNamed, !now.isNamed { append(.unnamed(name: text, in: directory)) }
    if before.isHidden, !now.isHidden { append(.unhidden(name: text, in: directory)) }
    if now.isNamed { append(.named(changedItem(now.node), name: text, in: directory)) }
    if now.isHidden { append(.hidden(changedItem(now.node), name: text, in: directory)) }
  }

  /// Tells the metadata of an item as it is now.
  func tellAttributes(of node: NodeIndex) {
    if keepsJournal {
      append(.attributes(of: changedItem(node), attributes(of: node), listed: storeAttributes(of: node)))
    }
  }

  /// Whether attributes of an item are kept beside the store's: those that programs have set, and of a directory the
  /// times, too; or what was written to it.
  func hasOwnAttributes(_ node: NodeIndex) -> Bool {
    otherAttributes.contains(node) || self[node].isDirty || (self[node].kind == .directory && !isAsListed(node))
  }

  /// Tells that the store has other metadata of an item of which attributes are kept.
  func tellListed(of node: NodeIndex) {
    guard self[node].isDirty else { return tellAttributes(of: node) }
    append(.listed(of: changedItem(node), attributes(of: node), listed: listed(of: node).attributes))
  }

  /// Tells that the store has an item no more: it is the volume's own, and has no place there.
  func tellUnbound(_ node: NodeIndex) {
    guard keepsJournal, !isBound(node) else { return }
    let item = ChangedItem(id(of: node), inode: self[node].inode, binding: nil)
    append(.made(item, attributes(of: node), target: []))
  }

  /// The store's metadata of an item; nil for what was made on the volume, and for what the store has no more.
  func storeAttributes(of node: NodeIndex) -> ItemAttributes? {
    isMade(node) || !hasBinding(node) ? nil : listed(of: node).attributes
  }

  /// An item, as changes name it.
  func changedItem(_ node: NodeIndex) -> ChangedItem {
    let binding = binding(of: node)
    let directories = keepsJournal && binding != nil ? storeDirectories(of: node) : []
    return ChangedItem(node: id(of: node), inode: self[node].inode, binding: binding, directories: directories)
  }

  /// The store's key of an item that is told when its binding changes.
  func keyOfKept(_ node: NodeIndex) -> [UInt8]? { tellsBinding(of: node) ? binding(of: node)?.key : nil }

  /// An item that the store has, and whose binding is to be known: a directory, a file whose content is here, and what
  /// was removed here, or has other attributes or other names.
  func boundItem(_ node: NodeIndex) -> ChangedItem? { tellsBinding(of: node) ? changedItem(node) : nil }

  private func tellsBinding(of node: NodeIndex) -> Bool {
    let record = self[node]
    guard isBound(node) else { return false }
    if record.kind == .directory || (record.kind == .file && record.isLocal) { return true }
    // What is kept of an item of which but a hidden name was met comes with another one, and has its own version.
    return !restored.isBare(node) && isChangedItem(node)
  }

  /// Whether an item was removed here, or has other attributes or other names than in the store.
  func isChangedItem(_ node: NodeIndex) -> Bool {
    self[node].isUnlinked || otherAttributes.contains(node) || hasOtherNames(node)
  }

  /// Whether a name of an item was made or taken away on the volume.
  private func hasOtherNames(_ node: NodeIndex) -> Bool {
    var name = self[node].firstName
    for _ in 0..<Self.namesMax where name != .end {
      let record = record(of: name)
      if record.standing == .removed || (record.isLocal && record.isPresent) { return true }
      name = record.nextOfNode
    }
    return false
  }

  /// LIMIT: names of one item that are looked at.
  private static var namesMax: Int { 256 }
}
