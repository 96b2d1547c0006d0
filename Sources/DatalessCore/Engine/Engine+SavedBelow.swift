/// Finding out whether anything was changed in an earlier run below directories that the store has no more.
extension Engine {
  /// Whether earlier runs have kept something.
  var keepsState: Bool { configuration.savedState != nil }

  /// Decides about what the store has no more under any name, and has names on the volume.
  ///
  /// - Parameter isRefresh: Whether the refresh that runs asks. Nobody else decides while there is one.
  func dropUnbound(isRefresh: Bool = true) {
    var asked: [NodeIndex] = []
    for _ in 0..<Self.timesAsked {
      let saved = savedBelow(asked)
      var hasDropped = false
      let more: [NodeIndex]? = state.withLock { state in
        guard isRefresh || !state.refreshes.isRunning else { return nil }
        let directories = keepsState ? state.namespace.unboundDirectories : []
        guard Set(directories).isSubset(of: asked) else { return directories }
        hasDropped = state.namespace.dropUnbound(use: state.itemUse(saved))
        state.tellConflicts(timer.now)
        return nil
      }
      // The kernel may know names that are gone.
      if hasDropped { tellGoneNames() }
      guard let more else { return }
      asked = more
    }
  }

  /// The kernel may know names that are gone, and listings that have them.
  func tellGoneNames() { tellNames(state.withLock { $0.namespace.takeGoneNames() }) }

  /// The kernel may know another answer for names, and listings that are others.
  func tellNames(_ changed: [Namespace.GoneName]) {
    kernel.expireNames()
    for (directory, names) in Dictionary(grouping: changed, by: \.directory).sorted(by: { $0.key < $1.key }) {
      kernel.invalidateDirectory(directory, names: { names.map(\.name) }, completion: {})
    }
  }

  /// LIMIT: how often directories are asked about that have come meanwhile. Those that are left are decided about next.
  private static let timesAsked = 16

  /// The same outside of a refresh: one that is under way may find such an item under another name yet, and decides
  /// when it has listed all. Files whose content is nowhere else become dirty. Metadata lane.
  func settleUnbound() {
    dropUnbound(isRefresh: false)
    keepOnlyCopies()
    emptyOwnDirectories()
    lookAtDoubted()
  }

  /// What was listed in directories that have become the volume's own, and was not changed, goes: as when a refresh
  /// finds them gone, which lists them once more, as empty. What lost a directory with the one that it was moved out of
  /// is known when that is gone through, behind the refresh.
  private func emptyOwnDirectories() {
    let hasAny = state.withLock { !$0.refreshes.isRunning && $0.namespace.news.hasOwn }
    if hasAny { _ = refresh([], by: .poll) { _ in } }
  }

  /// Asks of directories what the namespace does not know. Metadata lane; waits for the disk. What cannot be read may
  /// be changes.
  func savedBelow(_ directories: [NodeIndex]) -> SavedBelow {
    var answers = SavedBelow()
    guard let saved = configuration.savedState, !directories.isEmpty else { return answers }
    // The walks keep places of names between two holds of the lock.
    state.withLock { $0.reclamation.pin() }
    defer { unpin() }
    var yielder = LockYielder(timer)
    for directory in directories {
      yielder.yieldIfDue()
      guard let id = state.withLock({ $0.toBeAsked(directory) }) else { continue }
      answers.note(hasChanges(below: directory, saved), of: id)
    }
    return answers
  }

  private func hasChanges(below directory: NodeIndex, _ saved: any SavedState) -> Bool {
    var walk = UnreadWalk(from: directory)
    var yielder = LockYielder(timer)
    while true {
      yielder.yieldIfDue()
      switch state.withLock({ walk.next($0.namespace, limit: 1024) }) {
      case .more: continue
      case .done: return false
      case .unread(let item):
        if (try? saved.hasChanges(below: item)) ?? true { return true }
      }
    }
  }
}

extension EngineState {
  /// LIMIT: names of a listing that are decided about under one lock.
  static var vanishedAtATime: Int { 2048 }

  /// Directories that a renewed listing has not seen. - Parameter position: As `Namespace.dropVanishedNames`.
  mutating func vanishedDirectories(_ attempt: AttemptID, from position: NameCursor) -> [NodeIndex] {
    guard let running = attempts[attempt] else { return [] }
    var found: [NodeIndex] = []
    _ = namespace.visitVanishedNames(of: running.node, from: position, limit: Self.vanishedAtATime) { namespace, name in
      let node = namespace.record(of: name).node
      if namespace[node].kind == .directory { found.append(node) }
    }
    return found
  }

  /// Directories whose names a renewed listing gives to other items.
  func replacedDirectories(_ batch: ListingBatch, _ range: Range<Int>, attempt: AttemptID) -> [NodeIndex] {
    guard let directory = attempts[attempt]?.node, namespace[directory].isRelisted else { return [] }
    var found: [NodeIndex] = []
    _ = batch.visit(range) { text, item in
      guard let name = namespace.find(text, in: directory, .store), namespace.record(of: name).isInStore else {
        return true
      }
      let node = namespace.record(of: name).node
      let isOther = namespace[node].kind == .directory && namespace.listed(of: node).relation(to: item) == .other
      if isOther { found.append(node) }
      return true
    }
    return found
  }

  /// Also one in which something is known to be dirty: the store may have that elsewhere, too.
  fileprivate func toBeAsked(_ directory: NodeIndex) -> NodeID? {
    namespace[directory].isFree ? nil : namespace.id(of: directory)
  }
}

/// Goes through the known directories below one, for those that an earlier run has kept something of and into which
/// nobody has looked.
private struct UnreadWalk {
  enum Step {
    case more
    case unread(ChangedItem)
    case done
  }

  /// Where to go on: names of directories, one in the other.
  private var names: [NameIndex] = []
  private var start: NodeIndex?

  init(from directory: NodeIndex) { start = directory }

  /// Looks at some more. - Parameter limit: Names.
  mutating func next(_ namespace: borrowing Namespace, limit: Int) -> Step {
    if let directory = start.take() { return enter(directory, namespace) }
    for _ in 0..<limit {
      guard let name = names.popLast() else { return .done }
      guard name != .end else { continue }
      let record = namespace.record(of: name)
      names.append(record.nextSibling)
      guard record.isPresent, namespace[record.node].kind == .directory else { continue }
      if case .unread(let item) = enter(record.node, namespace) { return .unread(item) }
    }
    return .more
  }

  private mutating func enter(_ directory: NodeIndex, _ namespace: borrowing Namespace) -> Step {
    if namespace[directory].awaitsSaved { return .unread(namespace.changedItem(directory)) }
    // What was evicted keeps the names in it.
    names.append(namespace[directory].firstChild)
    return .more
  }
}
