public import DatalessCore
internal import CDatalessLinux
public import DatalessStores
internal import Synchronization
internal import SystemPackage

/// What a volume is kept in, opened: its journal, its content, and what is saved of each directory.
public final class StateVolume: Sendable {
  /// Where the engine's changes go.
  public let journal: CatalogJournal
  public let content: DiskContentStore
  /// The highest inode number that was given to an item of the volume's own; 0 if there was none.
  public let highestInode: UInt64
  /// The first number of what is made on the volume from now on, as `EngineConfiguration.firstMadeNumber` has it.
  public var nextMadeNumber: UInt64 { highestInode & ~(1 << 62) + 1 }
  /// Whether the run before this one ended with `close`. If not, `reconcile` has something to look for.
  public let wasClean: Bool

  let directory: StateDirectory
  let catalog: Catalog
  private let identity: MountIdentity?
  private let epochs: Mutex<Epochs>
  /// Content that was there when the volume was opened; empty after a clean end.
  private let found: Mutex<[ContentID]>
  private let isClosed = Atomic<Bool>(false)

  /// How long changes may be in memory only.
  public static let interval = Nanoseconds(1_000_000_000)

  /// Opens what a directory has, or makes it.
  ///
  /// - Parameters:
  ///   - source: What SOURCE is called; another one than the first time is refused.
  ///   - root: SOURCE's root, as it is now.
  ///   - lane: For commits; waited for by nobody else.
  /// - Throws: EINVAL (of another SOURCE), EIO (damaged: run `check`), EPROTONOSUPPORT (of a newer format), EROFS,
  ///   ENOSPC, EACCES.
  public init(
    _ directory: StateDirectory, source: String, root: ItemAttributes, lane: any BlockingLane, timer: any TimerLane,
    interval: Nanoseconds = StateVolume.interval
  ) throws(FSError) {
    self.directory = directory
    let opened = try StateOpening(directory, source: source, root: root)
    catalog = opened.catalog
    content = opened.content
    identity = opened.identity
    wasClean = opened.wasClean
    epochs = Mutex(opened.epochs)
    found = Mutex(opened.found)
    highestInode = opened.writer.highestInode
    journal = CatalogJournal(
      opened.catalog, opened.writer, content: opened.content, lane: lane, timer: timer, interval: interval)
    for id in opened.orphaned { opened.content.remove(id) }
  }

  /// Has fetched content on the disk, so that a power loss does not take it. May take long; on a thread that nobody
  /// waits for.
  ///
  /// - Throws: EIO, ENOSPC; then nothing is worse than before.
  public func seal() throws(FSError) {
    let identity = self.identity
    let epoch = try journal.write("cannot begin an epoch") { writer, connection in
      try epochs.withLock { epochs in
        let last = try epochs.next(connection, identity)
        writer.epoch = epochs.current
        return last
      }
    }
    let result = clinux_sync_file_system(directory.files.directory)
    guard result == 0 else { throw FSError(Errno(rawValue: CInt(-result)), "cannot synchronize '\(directory.path)'") }
    try journal.write("cannot seal an epoch") { _, connection in try Epochs.seal(epoch, connection) }
  }

  /// Ends the volume: everything is on the disk, and the next run need not look for leftovers. Later calls do nothing;
  /// changes that are appended afterwards are lost.
  ///
  /// - Throws: ENOSPC, EDQUOT, EIO: changes that are not on the disk are lost, unless it is called again.
  public func close() throws(FSError) {
    guard !isClosed.load(ordering: .acquiring) else { return }
    try journal.commit()
    try seal()
    try journal.write("cannot end the volume") { _, connection in try connection.set(.isClean, to: [1]) }
    try catalog.close()
    isClosed.store(true, ordering: .releasing)
  }

  /// Removes content that a crash has left and that nobody names. At most once after each opening; on a thread that may
  /// wait for the disk. What was made since the opening is not looked at.
  ///
  /// - Returns: How much was removed.
  @discardableResult
  public func reconcile() throws(FSError) -> Int {
    let ids = found.withLock { found in
      defer { found = [] }
      return found
    }
    var removed = 0
    for start in stride(from: 0, to: ids.count, by: Self.reconciledAtATime) {
      let some = ids[start..<min(start + Self.reconciledAtATime, ids.count)]
      let unnamed = try catalog.read("cannot look for leftovers") { connection in
        try some.filter { try connection.item(with: $0) == nil }
      }
      for id in unnamed { content.remove(id) }
      removed += unnamed.count
    }
    return removed
  }

  private static let reconciledAtATime = 1024

  /// Whether content that was written in an epoch is complete.
  func isTrusted(_ epoch: Int64) -> Bool { epochs.withLock { $0.isTrusted(epoch) } }
}
