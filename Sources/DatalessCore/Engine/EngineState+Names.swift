internal import SystemPackage

/// What changes of names on the volume have in common.
extension EngineState {
  /// LIMIT: bytes of a name that is made here, as other file systems have it.
  static var nameMax: Int { 255 }
  /// LIMIT: names of one file, as ext4 has it, and links of a directory.
  static var linkMax: UInt32 { 65_000 }
  static var directoryLinkMax: UInt32 { UInt32(Int32.max) }
  /// LIMIT: levels of directories that are made or moved here, as many as a path of PATH_MAX bytes can have.
  static var levelsMax: Int { 2048 }

  /// Where a name is to be changed.
  enum NamePlace {
    case ready(NodeIndex)
    /// More of the directory's names have to be indexed first, or looked at: a bounded number under one lock.
    case again
    case needsListing(NodeID)
    /// Whether a directory is empty that is to go has to be known first.
    case needsEmptiness(NodeID)
    case failed(Errno)
  }

  mutating func place(of name: UnsafeBufferPointer<UInt8>, in parent: NodeID) -> NamePlace {
    guard writing != .readOnly else { return .failed(.readOnlyFileSystem) }
    guard let directory = namespace.index(of: parent) else { return .failed(.staleNFSFileHandle) }
    let record = namespace[directory]
    guard record.kind == .directory else { return .failed(.notDirectory) }
    guard !record.isOrphan, !isDetached(directory) else { return .failed(.noSuchFileOrDirectory) }
    guard name.count <= Self.nameMax else { return .failed(.fileNameTooLong) }
    guard !name.isEmpty, !name.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 }) else {
      return .failed(.invalidArgument)
    }
    guard record.state == .resident else { return .needsListing(parent) }
    return namespace.indexNames(of: directory) ? .ready(directory) : .again
  }

  /// Whether a directory can go: `ready` if it is empty.
  mutating func emptiness(of directory: NodeIndex) -> NamePlace {
    guard namespace[directory].state == .resident else { return .needsEmptiness(namespace.id(of: directory)) }
    switch namespace.isEmpty(directory, limit: 512) {
    case nil: return .again
    case .some(true): return .ready(directory)
    case .some(false): return .failed(.directoryNotEmpty)
    }
  }

  /// Changes attributes of an item. - Parameter isTold: As `Namespace.setAttributes`.
  mutating func changeAttributes(
    of node: NodeIndex, isTold: Bool = true, _ change: (inout ItemAttributes) -> Void
  ) {
    var attributes = namespace.attributes(of: node)
    change(&attributes)
    namespace.setAttributes(attributes, of: node, isTold: isTold)
  }

  /// Names of a directory have changed. - Parameter links: Directories in it that came, or went.
  mutating func touch(_ directory: NodeIndex, links: Int64 = 0) {
    let now = timeOfDay()
    changeAttributes(of: directory) { attributes in
      attributes.modificationTime = now
      attributes.changeTime = now
      // A store that counts no subdirectories says 1.
      guard attributes.linkCount > 1 else { return }
      attributes.linkCount = UInt32(clamping: max(Int64(attributes.linkCount) + links, 2))
    }
    if links < 0, namespace[directory].linkCount == 2 { heights.clear(directory) }
  }

  // MARK: - Levels

  /// Whether a directory with so many levels below it may lie in another one.
  func hasRoom(below directory: NodeIndex, for height: Int) -> Bool {
    namespace.level(of: directory) + 1 + height <= Self.levelsMax
  }

  /// A directory with so many levels below it lies in another one from now on.
  mutating func noteHeight(_ height: Int, below directory: NodeIndex) {
    var (directory, height) = (directory, height + 1)
    while height <= Self.levelsMax, heights.raise(directory, to: height), directory != .root,
      let name = namespace.presentName(of: directory)
    {
      directory = namespace.record(of: name).directory
      height += 1
    }
  }

  // MARK: - Names

  /// Gives an item a name, which its owner pays for until it is given back: names that are gone stay as long as
  /// somebody has their directory open. - Returns: nil when the tables are full.
  mutating func giveName(
    _ text: UnsafeBufferPointer<UInt8>, to node: NodeIndex, in directory: NodeIndex
  ) -> NameIndex? {
    // Of a name that is gone, and is there still because somebody lists the directory, the record is used again.
    let former = namespace.find(text, in: directory, .local).map { namespace.record(of: $0).node }
    guard let name = namespace.give(text, to: node, in: directory) else { return nil }
    namespace.noteStandsBefore(name)
    if namespace.record(of: name).isLocal {
      let cost = ChangeCosts.name(text.count)
      if let former { costs.add(-cost, to: former, of: 0) }
      costs.add(cost, to: node, of: namespace[node].uid)
    }
    return name
  }

  /// Takes a name away from its item. - Returns: What the record of that says.
  mutating func takeAway(_ name: NameIndex) -> Event.VolumeChange.Removed {
    let node = namespace.record(of: name).node
    catchUp(node)
    let record = namespace[node]
    let now = timeOfDay()
    namespace.noteStandsBeforeNoMore(name)
    if record.kind == .directory { namespace.endRemovals(below: node) }
    namespace.remove(name)
    changeAttributes(of: node) { attributes in
      attributes.linkCount = record.kind == .directory ? 0 : max(attributes.linkCount, 1) - 1
      attributes.changeTime = now
    }
    if namespace[node].isOrphan { namespace.setUnlinked(true, of: node) }
    // It may have other names in the store, which are not listed yet.
    let isLast = namespace[node].isOrphan && namespace[node].linkCount == 0
    return Event.VolumeChange.Removed(
      kind: record.kind, inode: record.inode, wasDataless: record.isDataless,
      lostBytes: isLast && record.isDirty ? record.size : 0, linksLeft: namespace[node].linkCount)
  }

  /// Tells what is to be known of an item that is about to get a name here.
  func tellMade(_ node: NodeIndex) {
    guard journal.keepsChanges else { return }
    journal.append(
      .made(
        namespace.changedItem(node), namespace.attributes(of: node), target: extras.target(of: node) ?? [],
        listed: namespace.storeAttributes(of: node)))
  }

  mutating func record(
    _ change: Event.VolumeChange.Change, _ node: NodeIndex, path: [UInt8], by caller: Caller, at now: MonotonicTime
  ) {
    trash.noteChange()
    let record = namespace[node]
    events.record(
      .changed(
        Event.VolumeChange(change, path: path, inode: record.inode, kind: record.kind, by: caller, time: now)))
  }

  /// What has lost its last name by the operation under way and can be disposed of now. Others are, when nobody has
  /// them any more.
  ///
  /// - Parameter earlier: How many had lost theirs before: a refresh's, perhaps very many, which are that one's.
  mutating func takeDisposable(after earlier: Int) -> [NodeID] {
    namespace.takeOrphans(after: earlier).filter { id in
      guard let node = namespace.index(of: id), namespace[node].isOrphan else { return false }
      let record = namespace[node]
      return record.kind == .directory ? record.firstChild != .end : !isUnlinkedInUse(node)
    }
  }

  /// Whether an item that was removed on the volume lives on: somebody has it open, or the kernel knows it.
  func isUnlinkedInUse(_ node: NodeIndex) -> Bool {
    namespace[node].isUnlinked && (namespace[node].lookups > 0 || openFiles.count(of: node) > 0)
  }

  /// Whether an item that was removed on the volume holds content that nobody can ask for any more, or keeps another
  /// version in mind.
  func holdsUnlinked(_ node: NodeIndex) -> Bool {
    namespace[node].isUnlinked && (namespace[node].isLocal || contents.retained(of: node) != nil)
      && !isUnlinkedInUse(node)
  }
}

extension Engine {
  /// Changes names under one hold of the lock, as soon as those that it needs are indexed; what it changes is one
  /// change of the journal.
  ///
  /// - Parameter body: Returns nil if more have to be indexed: it is called again then. Else it has done all, or
  ///   nothing.
  func changeNames<Answer>(_ body: (inout EngineState) -> Answer?) -> Answer {
    var yielder = LockYielder(timer)
    var search = RoomSearch()
    while true {
      let (answer, isRefused, disposable, eager): (Answer?, Bool, [NodeID], [NodeID]) = state.withLock { state in
        state.journal.beginOperation()
        defer { state.journal.endOperation() }
        let orphans = state.namespace.orphanCount
        let answer = body(&state)
        state.tellConflicts(timer.now)
        return (
          answer, state.journal.hasRefused, answer == nil ? [] : state.takeDisposable(after: orphans),
          state.eager.takeNoted()
        )
      }
      guard let answer else {
        yielder.yieldIfDue()
        continue
      }
      if isRefused, makeRoomForChanges(&search) { continue }
      if !disposable.isEmpty { dispose(disposable) }
      if !eager.isEmpty { fetchEagerly(eager) }
      return answer
    }
  }
}
