/// What becomes of one name when its directory is listed: of what the store listed before (the base), what it lists
/// now, and what was done to the name on the volume in between. First listings, later ones and refreshes all decide by
/// this function, a name at a time, because a directory may have a million of them.
struct NameMerge: Equatable {
  var change: NameChange
  /// Both sides have changed the same thing, and this one's change stays.
  var conflict: ConflictKind?

  /// What the volume knows of a name that the store has listed before.
  struct Base {
    var item: ListedItem
    /// A newer version that the store had when it was listed last, while the resident content stayed what it is.
    var retained: ListedItem?
    /// Whether the content is complete on the volume.
    var isResident = false
    /// Whether it was written to on the volume, and the store does not have that.
    var isDirty = false
    /// Whether it holds nothing, nobody has it open, and another name leads to the file that is listed now.
    var canJoin = false
    /// Whether a written file has another name in the store.
    var isShared = false
    /// Whether one of these stays, and callers find the file by another name.
    var staysElsewhere = false

    /// What is here are the bytes of a version. Of one of which nothing else is known nothing explains that its ctime
    /// has moved: bytes may have been written, and size and mtime put back.
    fileprivate func relation(to listed: ListedItem) -> SourceRelation {
      let relation = item.relation(to: listed)
      let isUnexplained = item.attributes.isBare && !item.version.isSame(as: listed.version)
      return relation == .metadata && (isResident || isDirty) && isUnexplained ? .version : relation
    }

    /// It stays what it is although the store has this.
    fileprivate func retains(_ listed: ListedItem) -> NameChange {
      .retained(isNew: retained.map { !$0.version.isSame(as: listed.version) } ?? true)
    }
  }

  /// What was done to the store's name on the volume.
  enum LocalChange {
    case none
    /// Removed: nothing of the item is left on the volume.
    case removed
    /// Moved: the item has another name, made on the volume.
    case moved
  }

  /// - Parameters:
  ///   - base: nil: the store has not listed the name before.
  ///   - listed: nil: the store does not list it now.
  ///   - isMade: Whether another item has the name on the volume: it was made, or moved, there.
  ///   - keeps: Whether a resident file stays what it is when the store has another version of it.
  static func merge(
    base: Base?, listed: ListedItem?, local: LocalChange, isMade: Bool, keeps: Bool
  ) -> NameMerge {
    switch (base, listed) {
    case (nil, nil): NameMerge(change: .nothing)
    case (nil, .some): appeared(isMade: isMade)
    case (let base?, nil): vanished(base, local, isMade: isMade)
    case (let base?, let listed?):
      local == .none ? present(base, listed, keeps: keeps) : hidden(base, listed, local: local, isMade: isMade)
    }
  }

  /// What becomes of a name that the store has not listed before: of nearly all, so without a look at anything else.
  static func appeared(isMade: Bool) -> NameMerge {
    isMade ? NameMerge(change: .hidden, conflict: .madeOnBothSides) : NameMerge(change: .appeared)
  }

  /// Whether an item that the store has no more under any name keeps the names that it was given on the volume: if its
  /// content is here, which is nowhere else.
  static func staysUnbound(isResident: Bool, isDirty: Bool) -> Bool { isResident || isDirty }

  private static func vanished(_ base: Base, _ local: LocalChange, isMade: Bool) -> NameMerge {
    switch local {
    // As a rename there: what was written has its other names.
    case .none where base.isDirty && base.staysElsewhere: NameMerge(change: .vanished)
    case .none where base.isDirty: NameMerge(change: .keptHere, conflict: .changedHereGoneThere)
    case .none: NameMerge(change: .vanished)
    // As an editor saves: what was put in its place is another version of it, which the store does not have.
    case .removed where isMade: NameMerge(change: .vanished, conflict: .changedHereGoneThere)
    case .removed: NameMerge(change: .vanished)
    // What becomes of the names that were made for it here is decided when it is nowhere in the store (`staysUnbound`).
    case .moved: NameMerge(change: .vanished, conflict: .changedHereGoneThere)
    }
  }

  private static func present(_ base: Base, _ listed: ListedItem, keeps: Bool) -> NameMerge {
    let relation = base.relation(to: listed)
    let isOther = relation == .version || relation == .other
    // Whether a directory has another name by now, is known when all are listed (`Namespace.keepNamed`).
    let keepsFile = keeps && base.isResident && listed.attributes.kind == .file
    // Of several names one is another file's: which of them that is, would be known no more.
    if relation == .other, base.isDirty, base.isShared {
      return NameMerge(change: .otherItemHidden, conflict: .changedOnBothSides)
    }
    if isOther, base.item.attributes.kind != .directory, base.isDirty || keepsFile {
      return NameMerge(change: base.retains(listed), conflict: base.isDirty ? .changedOnBothSides : nil)
    }
    switch relation {
    case .same: return NameMerge(change: base.canJoin ? .joined : .unchanged)
    case .metadata: return NameMerge(change: base.canJoin ? .joined : .metadata)
    case .version: return NameMerge(change: .version)
    case .other: return NameMerge(change: .otherItem)
    }
  }

  /// The store still has a name that was taken from its item here.
  private static func hidden(
    _ base: Base, _ listed: ListedItem, local: LocalChange, isMade: Bool
  ) -> NameMerge {
    switch base.item.relation(to: listed) {
    case .same: NameMerge(change: .unchanged)
    case .metadata: NameMerge(change: .metadata)
    case .version where local == .removed:
      NameMerge(change: .version, conflict: isMade ? .changedOnBothSides : .goneHereChangedThere)
    case .version where base.isDirty: NameMerge(change: base.retains(listed), conflict: .changedOnBothSides)
    // Who moves it here and who changes it there do not disturb each other.
    case .version: NameMerge(change: .version)
    // What was removed or moved here is gone there; this is an item that nobody here has seen.
    case .other:
      isMade ? NameMerge(change: .otherItemHidden, conflict: .madeOnBothSides) : NameMerge(change: .otherItem)
    }
  }
}

/// What a listing changes of one name of the store.
enum NameChange: Equatable {
  /// The store has not had it and does not have it.
  case nothing
  case unchanged
  /// The same bytes; owner, mode or times are others.
  case metadata
  /// The name leads to the node that another name of the same file has.
  case joined
  /// Another version of the item: the name leads to another node. A file's node never changes its bytes.
  case version
  /// The node stays what it is, although the store has another version, or another item, under the name.
  case retained(isNew: Bool)
  /// Another item has the name: for the caller to say which node that is. A name that was hidden is there again.
  case otherItem
  /// The same behind a name that was made on the volume.
  case otherItemHidden
  /// A new name.
  case appeared
  /// A new name behind one that was made on the volume.
  case hidden
  /// The name goes.
  case vanished
  /// The name is the volume's own from now on: what it leads to is nowhere else any more.
  case keptHere

  /// Whether it is done with the merge: of the others the caller says which node it is, and `place`s that.
  var isApplied: Bool {
    switch self {
    case .appeared, .hidden, .otherItem, .otherItemHidden: false
    case .nothing, .unchanged, .metadata, .joined, .version, .retained, .vanished, .keptHere: true
    }
  }
}

extension ItemAttributes {
  /// These attributes, where they were changed on the volume, and the store's new ones, where they were not.
  ///
  /// - Parameters:
  ///   - base: The store's, before either was changed.
  ///   - theirs: The store's now.
  func merged(base: ItemAttributes, theirs: ItemAttributes) -> ItemAttributes {
    func pick<Value: Equatable>(_ field: KeyPath<ItemAttributes, Value>) -> Value {
      self[keyPath: field] == base[keyPath: field] ? theirs[keyPath: field] : self[keyPath: field]
    }
    var merged = theirs
    merged.mode = pick(\.mode)
    merged.uid = pick(\.uid)
    merged.gid = pick(\.gid)
    merged.size = pick(\.size)
    merged.blocks = pick(\.blocks)
    merged.accessTime = pick(\.accessTime)
    merged.modificationTime = pick(\.modificationTime)
    merged.changeTime = pick(\.changeTime)
    // Names come and go on either side.
    let links = Int64(theirs.linkCount) + Int64(linkCount) - Int64(base.linkCount)
    // LIMIT: a directory that both sides have moved counts twice. The directory itself is there, and has its two.
    merged.linkCount = UInt32(clamping: max(links, kind == .directory && theirs.linkCount > 1 ? 2 : 0))
    return merged
  }
}
