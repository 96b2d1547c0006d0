/// What the store has under no name any more.
extension Namespace {
  /// A listing is through: items that the store has no more lose the names that they were given on the volume, unless
  /// their content is here. That is nowhere else then, nor are older versions that links lead to: they are to be dirty
  /// (`takeOnlyHere`).
  ///
  /// - Returns: Whether there were any.
  @discardableResult
  mutating func dropUnbound(use: ItemUse) -> Bool {
    var hasDropped = false
    for node in takeOlder() where self[node].isClean {
      countNames(of: node)
      noteOnlyHere(node)
    }
    for node in takeUnbound() {
      let isResident = isResidentFile(node)
      guard !NameMerge.staysUnbound(isResident: isResident, isDirty: isDirty(node, use)) else {
        noteGoneThere(node)
        // What the store has under its number later is not it.
        countNames(of: node)
        if self[node].isClean { noteOnlyHere(node) } else { tellUnbound(node) }
        noteOwnDirectory(node)
        continue
      }
      hasDropped = dropLocalNames(of: node) || hasDropped
      noteUnbound(node)
    }
    tellLost()
    return hasDropped
  }

  /// The store has a directory no more that is known by names that were made on the volume alone.
  ///
  /// - Parameter isKept: Whether anything in it is nowhere else, and it stays therefore.
  mutating func loseRestoredKey(of node: NodeIndex, isKept: Bool) {
    // Nor is what was written in it under any name there.
    if let key = restored.key(of: node) { restored.losePlace(key) }
    restored.setKey(nil, of: node)
    guard isKept else {
      dropLocalNames(of: node)
      return
    }
    noteConflict(.changedHereGoneThere, of: node, theirs: nil)
    tellUnbound(node)
  }

  /// An item that the store has no more loses the names that it was given on the volume. What the store has behind one
  /// of them, and was in conflict with it, is seen again: nobody here has removed that.
  ///
  /// - Returns: Whether it had any.
  @discardableResult
  mutating func dropLocalNames(of node: NodeIndex) -> Bool {
    let names = localNames(of: node)
    let isInConflict = [.changedOnBothSides, .madeOnBothSides].contains(conflicts.kind(of: node))
    let shown = isInConflict ? inConflict(behind: names) : []
    // As long as it has a name by which that is told.
    if isInConflict { endConflict(of: node) }
    for name in names {
      news.noteGone((directory: id(of: record(of: name).directory), name: Array(text(of: name))))
      setStanding(.gone, of: name)
    }
    for name in shown { showAgain(name) }
    return !names.isEmpty
  }

  /// Names of the store behind some that were made here: those that came when these were there. Of what an earlier run
  /// has kept it is not known which came and which were removed here: then the first.
  private func inConflict(behind names: [NameIndex]) -> [NameIndex] {
    let hidden = names.compactMap { hiddenBehind($0) }
    let came = hidden.filter { !self[record(of: $0).node].isUnlinked }
    return came.isEmpty ? Array(hidden.prefix(1)) : came
  }

  /// A name of the store that nothing stands before any more.
  mutating func showAgain(_ name: NameIndex) {
    let node = record(of: name).node
    setStanding(.present, of: name)
    setUnlinked(false, of: node)
    if self[node].isListed { news.noteShown(id(of: node)) }
    // Of what is known by its name alone the listing under way says more.
    guard !listed(of: node).attributes.isBare else { return }
    if self[node].kind != .directory, attributes(of: node).linkCount == 0 {
      // Its removal was counted.
      var attributes = attributes(of: node)
      attributes.linkCount = 1
      return setAttributes(attributes, of: node)
    }
    // What was told of it last may be what a program had made of an older version.
    tellAttributes(of: node)
  }
}
