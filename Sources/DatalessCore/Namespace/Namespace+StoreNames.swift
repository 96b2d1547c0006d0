/// What the journal is told of the names that the store has for a file whose content was written here: its place in the
/// catalog is one of them, and who reads the catalog without a mount has to know them all.
extension Namespace {
  /// LIMIT: names of one file that are looked at under one hold of the lock.
  private static var storeNamesMax: Int { 256 }

  /// A file has become dirty: tells the names under which the store has it, if those are several. What is kept of it
  /// may have had the place of another one, which was removed here.
  func tellStoreNames(of node: NodeIndex) {
    if self[node].kind == .file, listed(of: node).attributes.mayHaveSeveralNames { tellBinding(of: node, since: nil) }
    guard let item = itemOfSeveralNames(node) else { return }
    let names = storeNames(of: node, limit: Self.storeNamesMax)
    if names.count > 1 { tell(names, of: item) }
  }

  /// The store has a file under a name from now on. With the second one both are told: nothing has told the first.
  func tellStoreName(_ name: NameIndex) {
    let node = record(of: name).node
    guard let item = itemOfSeveralNames(node) else { return }
    let names = storeNames(of: node, limit: 3)
    // Others may be kept that were not met yet.
    let isFurther = names.count > 1 || !restored.storeNames(of: node, isFound: false).isEmpty
    if isFurther { tell(names.count == 2 ? names : [name], of: item) }
  }

  /// A name is about to lead to its item no more. Before it does not, because the item may have no other.
  func tellStoreNameLost(_ name: NameIndex) {
    let record = record(of: name)
    guard record.isInStore, let item = itemOfSeveralNames(record.node) ?? bareItem(record.node),
      let key = storeKey(of: name)
    else { return }
    append(.storeName(of: item, key: key, isThere: false))
  }

  /// A file of which nothing is here but names that are hidden: it may have been written to.
  private func bareItem(_ node: NodeIndex) -> ChangedItem? {
    guard keepsJournal, self[node].kind == .file, restored.isBare(node), hasSeveralNames(node) else { return nil }
    let item = changedItem(node)
    return item.binding == nil ? nil : item
  }

  /// The store has an item no more of which nothing but its name there is known: what is kept of it has another name,
  /// in a directory that nobody has looked into yet.
  func tellPlaceLost(_ node: NodeIndex) {
    let item = ChangedItem(id(of: node), inode: self[node].inode, binding: nil)
    append(.storeName(of: item, key: presentName(of: node).flatMap { storeKey(of: $0) } ?? [], isThere: false))
  }

  private func tell(_ names: [NameIndex], of item: ChangedItem) {
    for name in names {
      if let key = storeKey(of: name) { append(.storeName(of: item, key: key, isThere: true)) }
    }
  }

  private func itemOfSeveralNames(_ node: NodeIndex) -> ChangedItem? {
    guard keepsJournal, self[node].kind == .file, self[node].isDirty,
      hasSeveralNames(node) || !restored.storeNames(of: node, isFound: false).isEmpty
    else { return nil }
    let item = changedItem(node)
    return item.binding == nil ? nil : item
  }

  private func storeNames(of node: NodeIndex, limit: Int) -> [NameIndex] {
    var found: [NameIndex] = []
    var name = self[node].firstName
    for _ in 0..<Self.storeNamesMax where name != .end && found.count < limit {
      let record = record(of: name)
      if record.isInStore { found.append(name) }
      name = record.nextOfNode
    }
    return found
  }

  /// The store's key of a file under one of its names; nil in a directory that the store has not.
  func storeKey(of name: NameIndex) -> [UInt8]? {
    guard let key = binding(of: record(of: name).directory)?.key else { return nil }
    return (key.isEmpty ? [] : key + [UInt8(ascii: "/")]) + Array(text(of: name))
  }

  /// A directory that was moved here, and whose place was not looked at, has another one in the store: what was moved
  /// out of it is there, too.
  mutating func moveKeys(from formerKey: [UInt8], of directory: NodeIndex) {
    guard let key = binding(of: directory)?.key, key != formerKey else { return }
    let nameless = Set(restored.nodesWithKeys.filter { self[$0].isOrphan })
    for node in restored.moveKeys([(from: formerKey, to: key)], where: { !nameless.contains($0) }) { noteUnbound(node) }
  }
}
