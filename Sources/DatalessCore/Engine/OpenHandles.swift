/// Which nodes are open, and what was read through the handles that are watched: those of files that were dataless when
/// opened, and with `observe: reads` those of resident files, too.
///
/// Other handles of resident files need no record of their own: they have fixed numbers and count only for their node.
///
/// Rules of the kernel for the modes of one inode's opens (measured): cached or direct after passthrough, and
/// passthrough after cached, fail with EIO; all passthrough opens must name the same backing file. So a resident file
/// is opened for passthrough only if all its other opens are. A dataless open never meets a passthrough one: eviction
/// needs that none is left.
struct OpenHandles {
  struct Handle {
    let node: NodeIndex
    let process: ProcessID
    let openFlags: Int32
    let io: ReadMode
    /// Whether pages of the file may have been in the kernel's cache when it was opened, or were read past us before.
    let pagesBefore: Bool
    var readers = HandleReaders()
    var triggered = false
  }

  /// How a node is open, by the mode of each open: the kernel refuses some mixtures with EIO.
  fileprivate struct Counts {
    var direct = 0
    var cached = 0
    var passthrough = 0
    /// Decided for passthrough, but without a backing yet: they can still become cached ones.
    var undecided = 0
    /// Which watched handle put pages into the kernel's cache: 0 none, `.max` more than one.
    var pageReader: UInt64 = 0
    var all: Int { direct + cached + passthrough + undecided }
  }

  private var counts: [NodeIndex: Counts] = [:]
  /// Opens of files that are not closed yet, and all since the volume was mounted.
  private(set) var openNow = OpenModes()
  private(set) var sinceMount = OpenModes()
  private var handles: [UInt64: Handle] = [:]
  private var nextHandle: UInt64 = 1
  private var closeWaiters: [NodeIndex: [UInt64: @Sendable () -> Void]] = [:]
  private var nextCloseWaiter: UInt64 = 1
  /// Directories that a walk of the daemon's own goes through: no opens, so that they can be evicted.
  private var held: [NodeIndex: Int] = [:]

  /// The handle number of every passthrough open; cached opens have 0.
  static let passthroughHandle = UInt64.max

  func count(of node: NodeIndex) -> Int { counts[node]?.all ?? 0 }

  /// Which nodes are open or held now: two references, where a copy of the whole is a dozen.
  var nodesInUse: NodesInUse { NodesInUse(counts: counts, held: held) }

  struct NodesInUse {
    fileprivate let counts: [NodeIndex: Counts]
    fileprivate let held: [NodeIndex: Int]
    func contains(_ node: NodeIndex) -> Bool { (counts[node]?.all ?? 0) > 0 || held[node] != nil }
  }

  mutating func hold(_ directory: NodeIndex) { held[directory, default: 0] += 1 }

  mutating func letGo(_ directory: NodeIndex) {
    guard let count = held[directory], count > 1 else {
      held[directory] = nil
      return
    }
    held[directory] = count - 1
  }

  /// Whether an open must be passthrough: others of the node are, so that the kernel would refuse any other kind.
  func mustPassThrough(_ node: NodeIndex) -> Bool { counts[node].map { $0.passthrough > 0 } ?? false }

  /// Whether an open may be passthrough: only beside others of its kind.
  func canPassThrough(_ node: NodeIndex) -> Bool {
    guard let open = counts[node] else { return true }
    return open.direct == 0 && open.cached == 0
  }

  mutating func openDirectory(_ node: NodeIndex) { counts[node, default: Counts()].cached += 1 }

  mutating func open(_ node: NodeIndex) {
    counts[node, default: Counts()].cached += 1
    openNow.pageCache += 1
    sinceMount.pageCache += 1
  }

  mutating func openPassthrough(_ node: NodeIndex) {
    counts[node, default: Counts()].undecided += 1
    openNow.passthrough += 1
    sinceMount.passthrough += 1
  }

  /// Settles an undecided open that has a backing.
  ///
  /// - Returns: Whether it is passthrough; false if another open of the node had none and is cached, so that this one
  ///   is.
  mutating func confirm(_ node: NodeIndex) -> Bool {
    guard var open = counts[node], open.undecided > 0 else { return false }
    let passes = open.cached == 0 && open.direct == 0
    open.undecided -= 1
    if passes { open.passthrough += 1 } else { open.cached += 1 }
    counts[node] = open
    if !passes { countAsCached() }
    return passes
  }

  /// Settles an undecided open that has no backing.
  ///
  /// - Returns: Whether it is a cached one now; false if it is still undecided, because others are passthrough: there
  ///   is a backing that it can share.
  mutating func demote(_ node: NodeIndex) -> Bool {
    guard var open = counts[node], open.undecided > 0 else { return true }
    guard open.passthrough == 0 else { return false }
    open.undecided -= 1
    open.cached += 1
    counts[node] = open
    countAsCached()
    return true
  }

  private mutating func countAsCached() {
    openNow.passthrough -= 1
    openNow.pageCache += 1
    sinceMount.passthrough -= 1
    sinceMount.pageCache += 1
  }

  /// An open whose reads are watched.
  ///
  /// - Parameters:
  ///   - io: How the kernel will read: directly, or through the page cache where it cannot.
  ///   - pagesBefore: Whether the kernel may have pages of the file in its cache.
  mutating func openWatched(
    _ node: NodeIndex, process: ProcessID, openFlags: Int32, io: ReadMode, pagesBefore: Bool
  ) -> UInt64 {
    counts[node, default: Counts()].direct += 1
    openNow.add(1, to: io)
    sinceMount.add(1, to: io)
    let number = nextHandle
    nextHandle += 1
    handles[number] = Handle(
      node: node, process: process, openFlags: openFlags, io: io, pagesBefore: pagesBefore)
    return number
  }

  /// The numbers of handles that are open and watched, in no order.
  func watched(atMost limit: Int) -> [UInt64] { Array(handles.keys.prefix(limit)) }

  subscript(number: UInt64) -> Handle? { handles[number] }

  /// Notes a read of `process` that was answered with `range`. - Parameter isMapped: The page cache asked, not one
  /// read(2).
  mutating func noteRead(_ number: UInt64, by process: ProcessID, range: Range<Int64>, isMapped: Bool) {
    guard number != 0, let slot = handles.index(forKey: number) else { return }
    handles.values[slot].readers.note(process, range, isMapped: isMapped)
    guard isMapped else { return }
    let node = handles.values[slot].node
    guard let earlier = counts[node]?.pageReader, earlier != number else { return }
    counts[node]?.pageReader = earlier == 0 ? number : .max
  }

  /// Whether the kernel had pages of the file that this handle could use without a request, because others had asked
  /// for them.
  func isCachedBefore(_ number: UInt64) -> Bool {
    guard let handle = handles[number] else { return false }
    let reader = counts[handle.node]?.pageReader ?? 0
    return handle.pagesBefore || (reader != 0 && reader != number)
  }

  mutating func noteTrigger(_ number: UInt64) {
    guard number != 0, let slot = handles.index(forKey: number) else { return }
    handles.values[slot].triggered = true
  }

  /// Closes one handle. - Returns: Its record, if it had one, and whom to tell that the node is no longer open.
  mutating func close(
    _ node: NodeIndex, handle number: UInt64, isDirectory: Bool
  ) -> (handle: Handle?, waiters: [@Sendable () -> Void]) {
    let handle = number == 0 || number == Self.passthroughHandle ? nil : handles.removeValue(forKey: number)
    var open = counts[node] ?? Counts()
    switch number {
    case 0:
      open.cached -= 1
      if !isDirectory { openNow.pageCache -= 1 }
    case Self.passthroughHandle:
      open.passthrough -= 1
      openNow.passthrough -= 1
    default:
      open.direct -= 1
      if let handle { openNow.add(-1, to: handle.io) }
    }
    if open.all > 0 {
      counts[node] = open
      return (handle, [])
    }
    counts[node] = nil
    let waiters = closeWaiters.removeValue(forKey: node) ?? [:]
    return (handle, waiters.sorted { $0.key < $1.key }.map(\.value))
  }

  /// Asks to be told when the node's last handle closes. - Returns: A number to take it back by.
  mutating func waitForClose(of node: NodeIndex, _ action: @escaping @Sendable () -> Void) -> UInt64 {
    let number = nextCloseWaiter
    nextCloseWaiter += 1
    closeWaiters[node, default: [:]][number] = action
    return number
  }

  /// Asks no longer.
  mutating func stopWaiting(_ number: UInt64, forCloseOf node: NodeIndex) {
    closeWaiters[node]?[number] = nil
    if closeWaiters[node]?.isEmpty == true { closeWaiters[node] = nil }
  }

  /// Who waits for a close, of all nodes.
  var closeWaiterCount: Int { closeWaiters.values.reduce(0) { $0 + $1.count } }
}
