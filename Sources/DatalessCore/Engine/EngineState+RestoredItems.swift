/// What is kept of an item, put back on its node.
extension EngineState {
  /// A saved item is met for the first time.
  mutating func meet(
    _ item: SavedItem, _ node: NodeIndex, isBare: Bool, isShared: Bool = false, step: inout RestoreStep
  ) {
    step.adopted.append((item.id, namespace.id(of: node)))
    // What has no other name is never met again.
    let hasOthers = item.isElsewhere || (item.isDirty ? item.mayHaveSeveralNames : item.hasSeveralNames)
    let isAwaited = isBare && hasOthers
    let isMetAgain = item.isNamed || isShared || isAwaited || (item.isHidden && !isBare) || !item.storeNames.isEmpty
    if isMetAgain {
      // A directory has one in the store.
      let hasOneName = namespace[node].kind == .directory || !(isShared || item.mayHaveSeveralNames)
      let names = hasOneName || !item.storeNames.isEmpty ? item.nameCount : nil
      namespace.restored.note(item.id, as: node, isBare: isBare, names: names)
    }
    if isBare, let conflict = item.extendedAttributes[KeptAttribute.conflict] {
      restoreAttribute(KeptAttribute.conflict, conflict, of: node)
    }
    guard isBare else { return restore(item, on: node, &step) }
    if item.isDirty, item.content != nil { namespace.restored.noteWritten(node) }
    if !item.isNamed { namespace.setUnlinked(true, of: node) }
    // It was removed while a program had it open, and that run has come to no end. What is kept of a file that has
    // another name in the store is that one's, too.
    if !isMetAgain { drop(item, of: node, &step) }
  }

  /// What is kept of an item's content is of no use.
  mutating func drop(_ item: SavedItem, of node: NodeIndex, _ step: inout RestoreStep) {
    guard let content = item.content else { return }
    journal.endRestoring()
    journal.append(.contentDropped(of: namespace.changedItem(node), content))
    journal.beginRestoring()
    step.dropped.append(content)
  }

  mutating func restore(_ item: SavedItem, on node: NodeIndex, _ step: inout RestoreStep) {
    guard item.isDirty || item.isOfVersion(namespace.listed(of: node)) else {
      // The store has other bytes by now.
      return drop(item, of: node, &step)
    }
    let listed = namespace.listed(of: node)
    // What was written is of an older version than the store has by now.
    let isOlder = item.isDirty && item.version != nil && !item.isOfVersion(listed)
    // A listing has brought that one before: with it as the base both sides would agree by the next listing, and nobody
    // would be told of it any more.
    if isOlder, let base = item.baseOfWriting(insteadOf: listed) { namespace.adopt(base, for: node) }
    restore(item, on: node, isOlder: isOlder)
    guard isOlder else { return }
    journal.endRestoring()
    namespace.noteConflict(.changedOnBothSides, of: node, theirs: listed)
    journal.beginRestoring()
  }

  /// Puts back what is kept of an item.
  ///
  /// - Parameter isOlder: Whether it was written, and the store has another version by now: mode and owner are not that
  ///   one's, as when the volume is mounted meanwhile.
  mutating func restore(_ item: SavedItem, on node: NodeIndex, isOlder: Bool = false) {
    let listed = namespace.listed(of: node).attributes
    // Resident it is, too, without content: what the store has by now is an empty file.
    let (isMade, record) = (namespace.isMade(node), namespace[node])
    let isLocal = record.isLocal && record.contentCell.reference != .none
    var attributes = namespace.attributes(of: node)
    if let saved = item.attributes {
      attributes = isOlder ? saved : item.listed.map { saved.merged(base: $0, theirs: listed) } ?? saved
    }
    // The file in the content store has the last word: a crash came before it was told.
    if item.isDirty { attributes.size = item.contentSize }
    if namespace[node].kind == .file, !item.isDirty, !isMade {
      // What was written is gone, and with it its size: what is read is the store's.
      (attributes.size, attributes.blocks) = (listed.size, listed.blocks)
    }
    // It had no name any more when that was told, and the store has given it one since.
    if namespace[node].kind != .directory { attributes.linkCount = max(attributes.linkCount, 1) }
    if !isMade || attributes != namespace.attributes(of: node) {
      namespace.setAttributes(attributes, of: node, isTold: false)
    }
    if namespace[node].kind == .file, item.isDirty || item.content != nil, !isLocal {
      updateContent(of: node) { $0.restore(item.content ?? .none, isDirty: item.isDirty && item.content != nil) }
    }
    for (name, value) in item.extendedAttributes { restoreAttribute(name, value, of: node) }
    namespace.restored.setStoreNames(item.storeNames, of: node, isHidden: item.isHidden)
    if !item.target.isEmpty { extras.setTarget(item.target, of: node) }
    if item.lastUse != 0, namespace[node].kind == .file, namespace[node].lastUse == 0 {
      namespace.noteUse(item.lastUse, of: node)
    }
    bookRestored(node)
  }

  /// What an item takes counts as if it had been made now; a name that it gets, when it gets it.
  mutating func bookRestored(_ node: NodeIndex) {
    let own = namespace.isMade(node) ? ChangeCosts.item : 0
    costs.set(own + Int64(extras.target(of: node)?.count ?? 0), of: node, namespace[node].uid)
    attributeCosts.set(Int64(extras.bytes(of: node)), of: node, namespace[node].uid)
  }
}
