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
  /// Held while the file system is synchronized, by threads only that nobody waits for: an error is told to one of two.
  private let sealing = Mutex<Void>(())
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
    try seal { clinux_sync_file_system($0) }
  }

  /// - Parameter synchronize: Has the file system of a descriptor on the disk. 0, or the errno below 0.
  func seal(_ synchronize: (CInt) -> Int) throws(FSError) {
    let outcome: Result<Void, FSError> = sealing.withLock { _ in
      do throws(FSError) { return .success(try sealAlone(synchronize)) } catch { return .failure(error) }
    }
    try outcome.get()
  }

  private func sealAlone(_ synchronize: (CInt) -> Int) throws(FSError) {
    let identity = self.identity
    let epoch = try journal.write("cannot begin an epoch") { writer, connection in
      let epoch = try epochs.withLock { try $0.next(connection, identity) }
      writer.epoch = epoch.begun
      return epoch
    }
    epochs.withLock { $0.commit(epoch.begun) }
    let result = synchronize(directory.files.directory)
    guard result == 0 else {
      epochs.withLock { $0.refuse(epoch.ended) }
      // If this fails, too, the next run finds content whose size is right, and believes it while the mount lives.
      try? journal.write("cannot forget an epoch") { _, connection in
        try epochs.withLock { try $0.forgetRefused(connection) }
      }
      throw FSError(Errno(rawValue: CInt(-result)), "cannot synchronize '\(directory.path)'")
    }
    try journal.write("cannot seal an epoch") { _, connection in
      try epochs.withLock { try $0.seal(epoch.ended, connection) }
    }
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
  /// Each row is read, and the index beside them: where a bit has turned, one of the two would not find what is named.
  ///
  /// - Returns: How much was removed.
  /// - Throws: EIO: the catalog is damaged, and nothing was removed.
  @discardableResult
  public func reconcile() throws(FSError) -> Int {
    var unnamed = Set(
      found.withLock { found in
        defer { found = [] }
        return found
      })
    if unnamed.isEmpty { return 0 }
    // Others read the catalog in between.
    var last = Int64.min
    while let next = try catalog.read("cannot look for leftovers", { try Self.rows($0, after: last, &unnamed) }) {
      last = next
    }
    last = .min
    while let next = try catalog.read("cannot look for leftovers", { try Self.index($0, after: last, &unnamed) }) {
      last = next
    }
    for id in unnamed { content.remove(id) }
    return unnamed.count
  }

  private static let reconciledAtATime = Int64(4096)

  /// - Returns: The last row; nil if there are no more.
  private static func rows(
    _ connection: CatalogConnection, after last: Int64, _ unnamed: inout Set<ContentID>
  ) throws -> Int64? {
    var end: Int64?
    try connection.forEach(
      "SELECT \(ItemRow.columns) FROM item NOT INDEXED WHERE id > ? ORDER BY id LIMIT ?", .integer(last),
      .integer(reconciledAtATime)
    ) { row in
      let item = try ItemRow(row)
      if let content = item.content { unnamed.remove(content) }
      end = item.id
    }
    return end
  }

  private static func index(
    _ connection: CatalogConnection, after last: Int64, _ unnamed: inout Set<ContentID>
  ) throws -> Int64? {
    var end: Int64?
    try connection.forEach(
      "SELECT content FROM item INDEXED BY item_content WHERE content IS NOT NULL AND content > ? ORDER BY content LIMIT ?",
      .integer(last), .integer(reconciledAtATime)
    ) { row in
      let content = try row.integer(0)
      unnamed.remove(ContentID(rawValue: UInt64(bitPattern: content)))
      end = content
    }
    return end
  }

  /// Whether content that was written in an epoch is complete.
  func isTrusted(_ epoch: Int64) -> Bool { epochs.withLock { $0.isTrusted(epoch) } }
}
