/// What happened in the namespace and others have yet to be told of: lists of nodes, each handed over once.
///
/// It says nothing of the namespace itself, so that whoever takes a list looks at what each node is by then.
struct NamespaceNews {
  /// Nodes whose metadata a renewed listing has changed, for the kernel to be told before anybody is answered.
  private var changed: [NodeID] = []
  /// Nodes that have lost the store's last name for them, and had names that were made on the volume.
  private var unbound: [NodeID] = []
  /// Nodes that have lost the store's last name for them, and had no other. They may get one yet.
  private var lost: [NodeID] = []
  /// Older versions that names made here lead to.
  private var older: [NodeID] = []
  /// Files whose content is nowhere else, and not dirty yet.
  private var onlyHere: [NodeID] = []
  /// Listed directories that the store has no more, and that have become the volume's own.
  private var own: [NodeID] = []
  /// Listed directories that callers see again: as long as they did not, nobody took what was new in them.
  private var shown: [NodeID] = []
  /// Names made on the volume that went, and their directories: the kernel may know them.
  private var gone: [Namespace.GoneName] = []
  /// Files of which something is here, and of which the store has other metadata.
  private var rights: [NodeID] = []
  /// Whether `versions` and `rights` are wanted.
  private(set) var tellsVersions = false
  /// Nodes of a name before and after it became another version.
  private var versions: [Namespace.NewVersion] = []

  /// Whether a change of metadata is still to be told to the kernel.
  var hasChanged: Bool { !changed.isEmpty }

  mutating func noteChanged(_ node: NodeID) { changed.append(node) }
  mutating func noteUnbound(_ node: NodeID) { unbound.append(node) }
  mutating func noteLost(_ node: NodeID) { lost.append(node) }
  mutating func noteOlder(_ node: NodeID) { older.append(node) }
  mutating func noteOnlyHere(_ node: NodeID) { onlyHere.append(node) }
  mutating func noteOwn(_ directory: NodeID) { own.append(directory) }
  mutating func noteShown(_ directory: NodeID) { shown.append(directory) }

  /// From now on nodes are told that take the place of an older version.
  mutating func tellVersions() { tellsVersions = true }

  mutating func note(_ version: @autoclosure () -> Namespace.NewVersion) {
    if tellsVersions { versions.append(version()) }
  }

  /// Who may do what with a file that is here may be others' business than before.
  mutating func noteRights(_ node: NodeID) { if tellsVersions { rights.append(node) } }

  /// The nodes whose metadata changed since this was asked last. There may be very many: they are handed over as they
  /// are.
  mutating func takeChanged() -> [NodeID] { Self.take(&changed) }
  mutating func takeUnbound() -> [NodeID] { Self.take(&unbound) }
  var notedUnbound: [NodeID] { unbound }
  /// Whether something is to be decided about (`Namespace.dropUnbound`).
  var hasUndecided: Bool { !unbound.isEmpty || !lost.isEmpty || !older.isEmpty }
  var hasOwn: Bool { !own.isEmpty }
  mutating func takeLost() -> [NodeID] { Self.take(&lost) }
  mutating func takeOlder() -> [NodeID] { Self.take(&older) }
  mutating func takeOnlyHere() -> [NodeID] { Self.take(&onlyHere) }
  mutating func takeOwn() -> [NodeID] { Self.take(&own) }
  mutating func takeShown() -> [NodeID] { Self.take(&shown) }
  mutating func noteGone(_ name: Namespace.GoneName) { gone.append(name) }
  mutating func takeGone() -> [Namespace.GoneName] {
    defer { gone = [] }
    return gone
  }
  mutating func takeRights() -> [NodeID] { Self.take(&rights) }
  mutating func takeVersions() -> [Namespace.NewVersion] { Self.take(&versions) }

  private static func take<Item>(_ list: inout [Item]) -> [Item] {
    var taken: [Item] = []
    swap(&taken, &list)
    return taken
  }
}

extension Namespace {
  /// A name that leads nowhere any more, whatever directory was listed when that came out.
  typealias GoneName = (directory: NodeID, name: [UInt8])

  /// Those since this was asked last.
  mutating func takeGoneNames() -> [GoneName] { news.takeGone() }

  /// A name leads to another version of its item, or another item, than before.
  struct NewVersion {
    let old: NodeID
    let new: NodeID
    /// Whether something of the old one was here.
    let wasLocal: Bool
  }

  mutating func noteVersion(_ old: NodeIndex, _ new: NodeIndex) {
    let (former, newer, wasLocal) = (id(of: old), id(of: new), self[old].isLocal)
    news.note(NewVersion(old: former, new: newer, wasLocal: wasLocal))
  }

  /// A node may have lost the store's last name for it.
  mutating func noteUnbound(_ node: NodeIndex) {
    guard !isBound(node) else { return }
    // It was removed here before: nothing in it is fetched by the names there any more.
    if self[node].isOrphan, self[node].kind == .directory { addOrphan(node) }
    if !self[node].isOrphan {
      news.noteUnbound(id(of: node))
    } else if restored.isAwaited(node) {
      tellPlaceLost(node)
    } else if keepsJournal, self[node].kind == .directory || isChangedItem(node) {
      news.noteLost(id(of: node))
    }
  }

  /// Tells of what the store has no more, and nobody finds, that its place is another's: else what was set on it would
  /// be set on that after the next mount. What was renamed has another name by now.
  mutating func tellLost() {
    for node in news.takeLost().compactMap({ index(of: $0) }) where self[node].isOrphan && !isBound(node) {
      if self[node].kind == .directory {
        append(.vanished(changedItem(node)))
      } else {
        tellPlaceLost(node)
        // All names that it had are known, and were met.
        if !restored.isAwaited(node) { append(.gone(ChangedItem(id(of: node), inode: self[node].inode, binding: nil))) }
      }
    }
  }

  /// The nodes that the store has no more, and that have names on the volume, since this was asked last.
  mutating func takeUnbound() -> [NodeIndex] { withoutStore(news.takeUnbound()) }

  /// The directories among them, before they are taken.
  var unboundDirectories: [NodeIndex] { withoutStore(news.notedUnbound).filter { self[$0].kind == .directory } }

  /// The store has another version of a node, of which a link was made here. An earlier run may have made it, in a
  /// directory into which nobody has looked yet.
  mutating func noteOlder(_ node: NodeIndex) {
    if !self[node].isOrphan {
      news.noteOlder(id(of: node))
    } else if restored.isAwaited(node) {
      restored.noteOlder(node)
    }
  }

  /// The older versions that the store has no more, and that have names on the volume, since this was asked last.
  mutating func takeOlder() -> [NodeIndex] { withoutStore(news.takeOlder()) }

  /// A file's content is nowhere else.
  mutating func noteOnlyHere(_ node: NodeIndex) { news.noteOnlyHere(id(of: node)) }

  /// Files whose content is nowhere else, and is to be dirty.
  mutating func takeOnlyHere() -> [NodeID] {
    news.takeOnlyHere().filter { node in
      index(of: node).map { self[$0].isClean && !self[$0].isOrphan && !isBound($0) } ?? false
    }
  }

  /// A directory, if it is one, that the store has no more stays here, and with it what was changed in it. All else
  /// that was listed in it is to go.
  mutating func noteOwnDirectory(_ node: NodeIndex) { if self[node].isListed { news.noteOwn(id(of: node)) } }

  /// The directories that have become the volume's own since this was asked last.
  mutating func takeOwnDirectories() -> [NodeIndex] { withoutStore(news.takeOwn()).filter { self[$0].isListed } }

  /// The directories of the store's that callers see again since this was asked last, and that were listed before.
  mutating func takeShownDirectories() -> [NodeIndex] {
    news.takeShown().compactMap { index(of: $0) }.filter { self[$0].isListed && !self[$0].isOrphan && isBound($0) }
  }

  private func withoutStore(_ nodes: [NodeID]) -> [NodeIndex] {
    nodes.compactMap { index(of: $0) }.filter { !self[$0].isOrphan && !isBound($0) }
  }
}
