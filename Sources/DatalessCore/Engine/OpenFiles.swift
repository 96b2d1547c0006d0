/// Which files are open, how, and what was read through those that are watched: files that were dataless when opened,
/// and with `observe: reads` resident ones, too.
///
/// Each open has a record, and holds a *lease* on the content that it reads: content that its file gives up goes when
/// the last lease on it has ended (`giveUp`, `close`).
///
/// Rules of the kernel for the modes of one inode's opens (measured): cached or direct after passthrough, and
/// passthrough after cached, fail with EIO; all passthrough opens must name the same backing file. So a resident file
/// is opened for passthrough only if all its other opens are. A dataless open never meets a passthrough one: eviction
/// needs that none is left.
struct OpenFiles {
  /// Those that are watched have a table of their own, in which their numbers are their handles.
  private var files = OpenFileTable(blank: OpenFile.blank)
  private var watchedFiles = OpenFileTable(blank: WatchedFile.blank)
  private var uses: [NodeIndex: NodeUse] = [:]
  private var leases = ContentLeases()
  /// Opens of files that are not closed yet, and all since the volume was mounted.
  private(set) var openNow = OpenModes()
  private(set) var sinceMount = OpenModes()
  /// Who is to be told that a node is not open any more.
  private var closeWaiters = CloseWaiters()
  /// Directories that a walk of the daemon's own goes through: no opens, so that they can be evicted.
  private var held: [NodeIndex: Int] = [:]

  // MARK: - Looking

  /// Whether content is read that has no file any more.
  var leaseContentGivenUp: Bool { leases.hasGivenUp }

  func count(of node: NodeIndex) -> Int { uses[node]?.all ?? 0 }

  /// Which nodes are open or held now: two references, where a copy of the whole is a dozen.
  var nodesInUse: NodesInUse { NodesInUse(uses: uses, held: held) }

  struct NodesInUse {
    fileprivate let uses: [NodeIndex: NodeUse]
    fileprivate let held: [NodeIndex: Int]
    func contains(_ node: NodeIndex) -> Bool { uses[node] != nil || held[node] != nil }
  }

  /// Some of the items that are open.
  func openNodes(atMost limit: Int) -> [NodeIndex] {
    Array(uses.lazy.filter { $0.value.all > 0 }.map(\.key).prefix(limit))
  }

  /// What was opened so far was for something else.
  mutating func forgetOpens() { sinceMount = openNow }

  mutating func hold(_ directory: NodeIndex) { held[directory, default: 0] += 1 }

  mutating func letGo(_ directory: NodeIndex) {
    guard let count = held[directory], count > 1 else {
      held[directory] = nil
      return
    }
    held[directory] = count - 1
  }

  /// An open file; nil for a handle that none has.
  subscript(handle: UInt64) -> OpenFile? {
    guard OpenHandle.isWatched(handle) else { return files[OpenHandle.number(handle)] }
    return watchedFiles.look(at: handle) { $0.file }
  }

  /// Whether an open must be passthrough: others of the node are, so that the kernel would refuse any other kind.
  func mustPassThrough(_ node: NodeIndex) -> Bool {
    guard openNow.passthrough > 0, let use = uses[node] else { return false }
    return use.passthrough > 0
  }

  /// Whether an open may be passthrough: only beside others of its kind.
  func canPassThrough(_ node: NodeIndex) -> Bool {
    guard let use = uses[node] else { return true }
    return use.direct == 0 && use.cached == 0
  }

  // MARK: - Opening

  mutating func openDirectory(_ node: NodeIndex) { uses[node, default: NodeUse()].begin(.cached) }

  /// An open that the page cache serves. - Returns: Its handle.
  mutating func open(_ node: NodeIndex, openFlags: Int32, content: ContentID) -> UInt64 {
    openNow.pageCache += 1
    sinceMount.pageCache += 1
    let file = OpenFile(node: node, openFlags: openFlags, mode: .cached, content: content)
    begin(file)
    return OpenHandle.cached(files.insert(file))
  }

  /// An open that is to be passthrough, once there is a backing: `confirm` or `demote`. - Returns: Its handle.
  mutating func openPassthrough(_ node: NodeIndex, openFlags: Int32, content: ContentID) -> UInt64 {
    openNow.passthrough += 1
    sinceMount.passthrough += 1
    let file = OpenFile(node: node, openFlags: openFlags, mode: .undecided, content: content)
    begin(file)
    return OpenHandle.passthrough(files.insert(file))
  }

  /// An open whose reads are watched.
  ///
  /// - Parameters:
  ///   - content: What is local of it; `none` for a dataless file.
  ///   - pagesBefore: Whether the kernel may have pages of the file in its cache.
  /// - Returns: Its handle, which is its number in the log.
  mutating func openWatched(
    _ node: NodeIndex, process: ProcessID, openFlags: Int32, content: ContentID, io: ReadMode, pagesBefore: Bool
  ) -> UInt64 {
    openNow.add(1, to: io)
    sinceMount.add(1, to: io)
    let file = OpenFile(node: node, openFlags: openFlags, mode: .watched, content: content)
    begin(file)
    return watchedFiles.insert(WatchedFile(file: file, process: process, io: io, pagesBefore: pagesBefore))
  }

  private mutating func begin(_ file: OpenFile) {
    // In place: one search in the dictionary.
    Self.begin(file, &uses[file.node, default: NodeUse()], leases: &leases)
  }

  private static func begin(_ file: OpenFile, _ use: inout NodeUse, leases: inout ContentLeases) {
    use.begin(file.mode)
    leases.begin(file.content, &use.latest)
  }

  /// Settles an undecided open that has a backing.
  ///
  /// - Returns: Whether it is passthrough; false if another open of the node had none and is cached, so that this one
  ///   is.
  mutating func confirm(_ handle: UInt64) -> Bool {
    guard let file = self[handle], file.mode == .undecided, let place = uses.index(forKey: file.node) else {
      return false
    }
    let passes = uses.values[place].cached == 0 && uses.values[place].direct == 0
    settle(handle, place, mode: passes ? .passthrough : .cached)
    return passes
  }

  /// Settles an undecided open that has no backing.
  ///
  /// - Returns: Whether it is a cached one now; false if it is still undecided, because others are passthrough: there
  ///   is a backing that it can share.
  mutating func demote(_ handle: UInt64) -> Bool {
    guard let file = self[handle], file.mode == .undecided, let place = uses.index(forKey: file.node) else {
      return true
    }
    guard uses.values[place].passthrough == 0 else { return false }
    settle(handle, place, mode: .cached)
    return true
  }

  private mutating func settle(_ handle: UInt64, _ place: Dictionary<NodeIndex, NodeUse>.Index, mode: OpenFile.Mode) {
    files.change(OpenHandle.number(handle)) { $0.mode = mode }
    uses.values[place].end(.undecided)
    uses.values[place].begin(mode)
    guard mode == .cached else { return }
    openNow.passthrough -= 1
    openNow.pageCache += 1
    sinceMount.passthrough -= 1
    sinceMount.pageCache += 1
  }

  // MARK: - Leases

  /// An open reads content from now on: it stays until the open is closed, or reads other content.
  ///
  /// - Returns: Content to be removed, whose last lease has ended.
  mutating func lease(_ content: ContentID, by handle: UInt64) -> ContentID? {
    guard let file = self[handle], file.content != content, let place = uses.index(forKey: file.node) else {
      return nil
    }
    if file.mode == .watched {
      watchedFiles.change(handle) { $0.file.content = content }
    } else {
      files.change(OpenHandle.number(handle)) { $0.content = content }
    }
    let ended = leases.end(file.content, &uses.values[place].latest)
    leases.begin(content, &uses.values[place].latest)
    return ended
  }

  /// A file has lost its content. - Returns: Whether it may be removed now; else the close that ends the last lease on
  /// it returns it.
  mutating func giveUp(_ content: ContentID, of node: NodeIndex) -> Bool { leases.giveUp(content, uses[node]?.latest) }

  // MARK: - Watching

  /// The handles that are open and watched, in no order: those in one part of them, as many as a hold of the lock may
  /// look through; nil behind the last part.
  func watched(inPart part: Int) -> [UInt64]? { watchedFiles.numbers(inSegment: part) }

  /// Looks at a watched open. - Returns: nil for any other.
  func watched<Part>(_ handle: UInt64, _ part: (WatchedFile) -> Part) -> Part? {
    OpenHandle.isWatched(handle) ? watchedFiles.look(at: handle, part) : nil
  }

  /// Notes a read of `process` that was answered with `range`. - Parameter isMapped: The page cache asked, not one
  /// read(2).
  mutating func noteRead(_ handle: UInt64, by process: ProcessID, range: Range<Int64>, isMapped: Bool) {
    guard OpenHandle.isWatched(handle) else { return }
    let node = watchedFiles.change(handle) { watched in
      watched.readers.note(process, range, isMapped: isMapped)
      return watched.file.node
    }
    guard isMapped, let node, let place = uses.index(forKey: node) else { return }
    uses.values[place].notePages(by: handle)
  }

  /// Whether the kernel had pages of the file that this open could use without a request, because others had asked for
  /// them.
  func isCachedBefore(_ handle: UInt64, _ watched: WatchedFile) -> Bool {
    let reader = uses[watched.file.node]?.pageReader ?? 0
    return watched.pagesBefore || (reader != 0 && reader != handle)
  }

  mutating func noteTrigger(_ handle: UInt64) {
    guard OpenHandle.isWatched(handle) else { return }
    watchedFiles.change(handle) { $0.triggered = true }
  }

  // MARK: - Closing

  /// What follows from a close.
  struct Closed {
    /// Whether nobody has the node open any more.
    var isLast = false
    /// Whom to tell that.
    var waiters: [@Sendable () -> Void] = []
    /// Content to be removed, whose last lease has ended.
    var content: ContentID?
  }

  mutating func closeDirectory(_ node: NodeIndex) -> Closed {
    guard let place = uses.index(forKey: node) else { return Closed() }
    uses.values[place].end(.cached)
    return closed(node, place, content: nil)
  }

  /// Closes a file. Of a handle that is closed already, or of another node, nothing follows.
  mutating func close(_ node: NodeIndex, handle: UInt64) -> Closed {
    guard let file = remove(node, handle), let place = uses.index(forKey: node) else { return Closed() }
    uses.values[place].end(file.mode)
    return closed(node, place, content: leases.end(file.content, &uses.values[place].latest))
  }

  private mutating func remove(_ node: NodeIndex, _ handle: UInt64) -> OpenFile? {
    if OpenHandle.isWatched(handle) {
      let watched = watchedFiles.remove(handle) { $0.file.node == node ? ($0.file, $0.io) : nil }
      guard let (file, io) = watched else { return nil }
      openNow.add(-1, to: io)
      return file
    }
    let file = files.remove(OpenHandle.number(handle)) { $0.node == node ? $0 : nil }
    guard let file else { return nil }
    if file.mode == .cached { openNow.pageCache -= 1 } else { openNow.passthrough -= 1 }
    return file
  }

  private mutating func closed(
    _ node: NodeIndex, _ place: Dictionary<NodeIndex, NodeUse>.Index, content: ContentID?
  ) -> Closed {
    guard uses.values[place].all == 0 else { return Closed(content: content) }
    uses.remove(at: place)
    return Closed(isLast: true, waiters: closeWaiters.take(of: node), content: content)
  }

  /// Asks to be told when the node's last handle closes. - Returns: A number to take it back by.
  mutating func waitForClose(of node: NodeIndex, _ action: @escaping @Sendable () -> Void) -> UInt64 {
    closeWaiters.add(node, action)
  }

  /// Asks no longer.
  mutating func stopWaiting(_ number: UInt64, forCloseOf node: NodeIndex) { closeWaiters.remove(number, of: node) }

  /// Who waits for a close, of all nodes.
  var closeWaiterCount: Int { closeWaiters.count }
}
