internal import SystemPackage

/// Conflicts: what a merge has found is told, and resolving one changes names and nothing else.
extension EngineState {
  /// Takes over what merges have found since this was called last: a file whose content is another than the store's
  /// remembers what that has.
  mutating func tellConflicts(_ now: MonotonicTime) {
    guard namespace.conflicts.hasNews else { return }
    for news in namespace.conflicts.takeNews() {
      guard let node = namespace.index(of: news.node) else { continue }
      if news.hasEnded { tell(.ended, node, kind: news.kind, theirs: nil, at: now) }
      // It was found, and has ended since.
      guard !news.hasEnded, namespace.conflicts.kind(of: node) == news.kind else { continue }
      if news.kind == .changedHereGoneThere, namespace[node].kind == .directory, journal.keepsChanges,
        let acl = extras.accessACL(of: node)
      {
        tellAttribute(KeptAttribute.accessACL, acl, of: node)
      }
      if news.kind == .changedOnBothSides, let theirs = news.theirs, case .nothing = namespace.theirs(of: node) {
        updateContent(of: node) { $0.retain(insteadOf: theirs) }
      }
      tell(.found, node, kind: news.kind, theirs: news.theirs?.attributes, at: now)
    }
  }

  private func tell(
    _ change: Event.ConflictRecord.Change, _ node: NodeIndex, kind: ConflictKind, theirs: ItemAttributes?,
    at now: MonotonicTime
  ) {
    let name = kind == .goneHereChangedThere ? namespace.removedName(of: node) : namespace.nameInConflict(node)
    guard let name else { return }
    events.record(
      .conflict(
        Event.ConflictRecord(
          change, path: namespace.path(ofName: name), kind: kind, mine: mine(of: node, kind), theirs: theirs, time: now)
      )
    )
  }

  private func mine(of node: NodeIndex, _ kind: ConflictKind) -> ItemAttributes? {
    kind == .goneHereChangedThere ? nil : namespace.attributes(of: node)
  }

  // MARK: - Looking

  /// A conflict that there is still; nil if the item has gone since, or is none of its sides any more.
  func describeConflict(_ node: NodeIndex) -> ConflictDescription? {
    guard let kind = namespace.conflicts.kind(of: node), !namespace[node].isFree, !isRemoved(node) else { return nil }
    guard kind != .goneHereChangedThere else {
      guard let name = namespace.removedName(of: node) else { return nil }
      return ConflictDescription(
        node: namespace.id(of: node), path: namespace.path(ofName: name), kind: kind, mine: nil,
        theirs: namespace.listed(of: node).attributes)
    }
    guard !namespace[node].isOrphan, let name = namespace.nameInConflict(node) else { return nil }
    return ConflictDescription(
      node: namespace.id(of: node), path: namespace.path(ofName: name), kind: kind, mine: mine(of: node, kind),
      theirs: theirs(of: node, kind))
  }

  private func theirs(of node: NodeIndex, _ kind: ConflictKind) -> ItemAttributes? {
    switch kind {
    case .metadataOnBothSides, .goneHereChangedThere: return namespace.listed(of: node).attributes
    // What the store has at its name may be another item by now.
    case .changedHereGoneThere:
      return cameBehind(node).map { namespace.listed(of: namespace.record(of: $0).node).attributes }
    case .changedOnBothSides, .madeOnBothSides:
      if let retained = contents.retained(of: node) { return retained.attributes }
      guard case .hidden(let name) = namespace.theirs(of: node) else { return nil }
      return namespace.listed(of: namespace.record(of: name).node).attributes
    }
  }

  /// The name of the store that has come behind one of an item's: no program has removed what it leads to.
  private func cameBehind(_ node: NodeIndex) -> NameIndex? {
    guard case .hidden(let name) = namespace.theirs(of: node),
      !namespace[namespace.record(of: name).node].isUnlinked
    else { return nil }
    return name
  }

  // MARK: - Resolving

  /// Resolves a conflict, all or nothing.
  ///
  /// - Parameter tree: What was found in the directory that is to go; nil: nobody has looked.
  /// - Returns: nil if more names have to be indexed first: call again.
  mutating func resolveConflict(
    _ id: NodeID, _ choice: ConflictChoice, tree: ConflictTree?, at now: MonotonicTime
  ) -> ConflictStep? {
    guard let node = namespace.index(of: id), let kind = namespace.conflicts.kind(of: node) else {
      return ConflictStep.none
    }
    guard indexNames(around: node) else { return nil }
    guard let found = describeConflict(node) else {
      namespace.resolveConflict(of: node)
      return ConflictStep.none
    }
    var resolving = Resolving(node: node, kind: kind, tree: tree, now: now)
    if let error = resolve(&resolving, choice) {
      return resolving.unknown.map { ConflictStep.needsLook($0) } ?? .failed(error)
    }
    namespace.resolveConflict(of: node)
    var resolved: [ResolvedConflict] = []
    for conflict in [found] + resolving.inside {
      let copy = resolved.isEmpty ? resolving.copy : nil
      resolved.append(ResolvedConflict(path: conflict.path, kind: conflict.kind, copy: copy))
      events.record(
        .conflict(
          Event.ConflictRecord(
            .resolved(choice, copy: copy), path: conflict.path, kind: conflict.kind, mine: conflict.mine,
            theirs: conflict.theirs, time: now)))
    }
    return .resolved(resolved, names: resolving.names, hasTree: resolving.hasTree)
  }

  /// Makes the names findable that are beside an item's, a bounded number under one lock.
  private mutating func indexNames(around node: NodeIndex) -> Bool {
    let names = namespace.presentNames(of: node) + [namespace.storeName(of: node)].compactMap(\.self)
    return names.allSatisfy { namespace.indexNames(of: namespace.record(of: $0).directory) }
  }

  private mutating func resolve(_ resolving: inout Resolving, _ choice: ConflictChoice) -> FSError? {
    let node = resolving.node
    switch resolving.kind {
    case .goneHereChangedThere:
      guard let name = namespace.removedName(of: node) else { return nil }
      guard choice != .keepMine else {
        namespace.tellKnown(name)
        return nil
      }
      return showAgain(name, &resolving)
    case .metadataOnBothSides:
      return choice == .keepMine ? nil : takeTheirRights(of: node, choice)
    case .changedHereGoneThere:
      // What the store has there may be another item by now.
      if choice != .takeTheirs { return cameBehind(node).flatMap { resolve(&resolving, choice, hidden: $0) } }
      if case .hidden(let name) = namespace.theirs(of: node) { return resolve(&resolving, choice, hidden: name) }
      return takeAway(&resolving)
    case .changedOnBothSides, .madeOnBothSides:
      if let theirs = contents.retained(of: node) { return resolve(&resolving, choice, retained: theirs) }
      guard case .hidden(let name) = namespace.theirs(of: node) else { return nil }
      return resolve(&resolving, choice, hidden: name)
    }
  }

  private func takeTheirRightsError(_ choice: ConflictChoice) -> FSError? {
    guard choice == .keepBoth else { return nil }
    return FSError(
      .invalidArgument,
      "only its mode, owner or group are in conflict, and a file has one of each: keep yours or theirs")
  }

  private mutating func takeTheirRights(of node: NodeIndex, _ choice: ConflictChoice) -> FSError? {
    if let error = takeTheirRightsError(choice) { return error }
    let listed = namespace.listed(of: node).attributes
    changeAttributes(of: node) { $0 = $0.withRights(of: listed) }
    // The kernel grants what it knows.
    namespace.news.noteChanged(namespace.id(of: node))
    return nil
  }

  /// What was removed here is there again.
  private mutating func showAgain(_ name: NameIndex, _ resolving: inout Resolving) -> FSError? {
    guard namespace.madeBeside(name) == nil else {
      return FSError(.fileExists, "another item has its name by now. Rename that first")
    }
    show(name, &resolving)
    return nil
  }

  private mutating func show(_ name: NameIndex, _ resolving: inout Resolving) {
    let node = namespace.record(of: name).node
    namespace.resolveConflict(of: node)
    namespace.showAgain(name)
    noteName(name, &resolving)
    touch(namespace.record(of: name).directory, links: namespace[node].kind == .directory ? 1 : 0)
  }

  func noteName(_ name: NameIndex, _ resolving: inout Resolving) {
    let directory = namespace.id(of: namespace.record(of: name).directory)
    resolving.names.append((directory, Array(namespace.text(of: name))))
  }

  // MARK: - The store's version is behind a name of the volume's own

  private mutating func resolve(
    _ resolving: inout Resolving, _ choice: ConflictChoice, hidden: NameIndex
  ) -> FSError? {
    switch choice {
    case .keepMine: namespace.tellKnown(hidden)
    case .takeTheirs:
      if let error = takeAway(&resolving) { return error }
      show(hidden, &resolving)
    case .keepBoth:
      guard let name = namespace.nameInConflict(resolving.node) else { return nil }
      if let error = makeCopyName(beside: name, &resolving) { return error }
      namespace.remove(name)
      show(hidden, &resolving)
    }
    return nil
  }

  // MARK: - The file is the store's, and was written to

  private mutating func resolve(
    _ resolving: inout Resolving, _ choice: ConflictChoice, retained: ListedItem
  ) -> FSError? {
    let node = resolving.node
    // Open for writing when it was listed, and not written to yet: what it is to be is not known.
    guard namespace[node].isDirty else { return isBusy(node) }
    if choice == .takeTheirs, let error = isBusy(node) { return error }
    let count = namespace.presentNames(of: node).count
    guard namespace.hasRoom(for: Self.nameMax, names: count + 1) else { return Self.isFull }
    if choice == .keepBoth, let name = namespace.nameInConflict(node),
      let error = makeCopyName(beside: name, &resolving)
    {
      return error
    }
    guard let theirs = namespace.node(for: retained, older: node) else { return Self.isFull }
    updateContent(of: node) { $0.endRetaining() }
    switch choice {
    case .keepMine:
      tellMade(node)
      guard namespace.setBehind(node, theirs) else { return Self.isFull }
    case .takeTheirs:
      // What has a name that was made here is not forgotten before theirs has that.
      let isNamed = namespace.isNamedHere(node)
      if journal.keepsChanges, !isNamed { journal.append(.forgotten(namespace.changedItem(node))) }
      take(theirs, &resolving)
      if journal.keepsChanges, isNamed { journal.append(.forgotten(namespace.changedItem(node))) }
      // As what was removed: its content goes when nobody has it any more.
      namespace.setUnlinked(true, of: node)
      changeAttributes(of: node, isTold: false) { $0.linkCount = 0 }
    case .keepBoth:
      take(theirs, &resolving)
      changeAttributes(of: node) { $0.linkCount = 1 }
    }
    return nil
  }

  private static let isFull = FSError(.noSpace, "the namespace holds as many names as it can")

  /// The store's version takes the names of a file.
  private mutating func take(_ theirs: NodeIndex, _ resolving: inout Resolving) {
    let node = resolving.node
    let made = namespace.presentNames(of: node).filter { name in
      name != resolving.copyName && namespace.record(of: name).isLocal
    }
    for name in namespace.giveStoreNames(of: node, to: theirs) { noteName(name, &resolving) }
    if !made.isEmpty { tellMade(theirs) }
    for name in made {
      namespace.relink(name, to: theirs)
      noteName(name, &resolving)
    }
    namespace.noteVersion(node, theirs)
  }

  // MARK: - Another name for what is here

  /// LIMIT: names that are tried.
  private static let copiesMax = 10_000

  /// Gives an item another name beside one that it has.
  private mutating func makeCopyName(beside name: NameIndex, _ resolving: inout Resolving) -> FSError? {
    let (node, directory) = (resolving.node, namespace.record(of: name).directory)
    let (text, time) = (Array(namespace.text(of: name)), timeOfDay())
    for attempt in 1...Self.copiesMax {
      let copy = ConflictCopyName.make(of: text, at: time, attempt: attempt)
      let isFree = copy.withUnsafeBufferPointer {
        namespace.find($0, in: directory) == nil && namespace.find($0, in: directory, .store) == nil
      }
      guard isFree else { continue }
      let cost = ChangeCosts.name(copy.count)
      if let errno = costs.refusal(of: cost, for: namespace[node].uid) {
        return FSError(errno, "there is no room for another name")
      }
      tellMade(node)
      guard let made = copy.withUnsafeBufferPointer({ giveName($0, to: node, in: directory) }) else {
        return Self.isFull
      }
      resolving.copyName = made
      resolving.copy = namespace.path(ofName: made)
      noteName(made, &resolving)
      touch(directory)
      return nil
    }
    return FSError(.fileExists, "\(Self.copiesMax) copies are beside it already. Rename some of them")
  }
}
