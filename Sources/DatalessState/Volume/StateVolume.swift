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

  /// Files of which a loss of power had taken the name and left the bytes: they have been given names in the root,
  /// `lost+found-...`, when the volume was opened.
  public let namedFiles: Int
  /// Why changes that were committed once are missing in the catalog; nil if none are, as far as that is known.
  public let missingChanges: String?
  /// What an earlier run has kept of uses; those of files come with what is saved of these.
  public let keptUses: KeptUses

  let directory: StateDirectory
  let catalog: Catalog
  private let identity: MountIdentity?
  /// The number of this session (`SessionMark`); nil where the disk had no room for it.
  private let session: UInt64?
  /// As `CatalogConnection.sizesFrom`.
  let sizesFrom: Int64?
  let notes = TroubleNotes()
  private let epochs: Mutex<Epochs>
  /// Held while the file system is synchronized, by threads only that nobody waits for: an error is told to one of two.
  private let sealing = Mutex<Void>(())
  /// Content of this run that may not be on the disk.
  private let unflushed = Mutex<Set<ContentID>>([])
  /// Content that was there when the volume was opened; empty after a clean end.
  private let found: Mutex<[ContentID]>
  /// Whether nobody's content may be left of an earlier run.
  private let isReconciled: Atomic<Bool>
  private let search: LeftoverSearch
  /// Who removes content of an earlier run that nobody names; nil: it is removed here.
  private let remover = Mutex<(@Sendable ([ContentID]) -> Void)?>(nil)
  private let isClosed = Atomic<Bool>(false)
  /// Directories that are not where they are kept, and may be met elsewhere.
  let absent = Mutex<Set<Int64>>([])
  let lastKept: Atomic<UInt32>
  /// Whether somebody goes through removed trees; and how much of them is left, as `CatalogTrash.count`.
  private let emptiesTrash = Atomic<Bool>(false)

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
    isReconciled = Atomic(opened.found.isEmpty)
    search = LeftoverSearch(isNeeded: !opened.found.isEmpty)
    highestInode = opened.writer.highestInode
    namedFiles = opened.named
    missingChanges = opened.flaw
    (session, sizesFrom) = (opened.session, opened.sizesFrom)
    keptUses = opened.uses
    lastKept = Atomic(opened.uses.last)
    journal = CatalogJournal(
      opened.catalog, opened.writer, search: search, content: opened.content, lane: lane, timer: timer,
      interval: interval)
    for id in opened.orphaned { opened.content.remove(id) }
    journal.whenTrashed { [weak self] in self?.emptyTrash() }
  }

  /// Directories of removed trees that the catalog still has, as far as they are known: 0 when nothing is left, and
  /// what was found in the last of them is counted where content is removed (`removeLeftovers`).
  public var trashCount: Int {
    let count = journal.trashCount
    return count == 0 && emptiesTrash.load(ordering: .acquiring) ? 1 : count
  }

  /// How many items were looked at for content that an earlier run has left (`reconcile`); nil when nothing is looked
  /// for any more.
  public var searchedItems: Int64? { search.progress }

  /// Has somebody remove content of an earlier run that nobody names, who then sees to it that it goes.
  ///
  /// - Parameter body: Called on threads that may wait for the disk.
  public func removeLeftovers(with body: @escaping @Sendable ([ContentID]) -> Void) {
    remover.withLock { $0 = body }
  }

  private func remove(_ ids: [ContentID]) {
    guard !ids.isEmpty else { return }
    if let body = remover.withLock({ $0 }) { return body(ids) }
    for id in ids { content.remove(id) }
  }

  /// Goes through trees that were removed whole and that this run has not looked into, in the background: on the
  /// journal's lane, some rows at a time. What cannot be done now is done by the next run.
  public func emptyTrash() {
    guard !emptiesTrash.exchange(true, ordering: .acquiringAndReleasing) else { return }
    journal.submit { [weak self] in self?.emptySomeTrash() }
  }

  private static let emptiedAtATime = 256

  private func emptySomeTrash() {
    var (isAll, hasFailed) = (true, false)
    if !isClosed.load(ordering: .acquiring) {
      do throws(FSError) {
        let (contents, left) = try journal.write("cannot empty the trash") { writer, connection in
          (try writer.emptyTrash(connection, limit: Self.emptiedAtATime), writer.trashCount)
        }
        remove(contents)
        isAll = left == 0
      } catch {
        // Tried again after the next commit.
        hasFailed = true
      }
    }
    guard isAll else { return journal.submit { [weak self] in self?.emptySomeTrash() } }
    emptiesTrash.store(false, ordering: .releasing)
    // Somebody may have committed a removal meanwhile, and left it to this run.
    if !hasFailed, !isClosed.load(ordering: .acquiring), journal.hasTrees { emptyTrash() }
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

  /// Has the content on the disk that this run has written, file by file: not what others write to the file system, for
  /// which synchronizing it would wait.
  ///
  /// - Parameter goesOn: Asked before each file.
  /// - Returns: Whether all is there; else a later call goes on.
  /// - Throws: EIO, ENOSPC, EDQUOT.
  @discardableResult
  public func flush(while goesOn: () -> Bool = { true }) throws(FSError) -> Bool {
    try flush(isLast: false, while: goesOn)
  }

  /// - Parameter isLast: Whether nothing is written any more.
  private func flush(isLast: Bool, while goesOn: () -> Bool) throws(FSError) -> Bool {
    let identity = self.identity
    let epoch = try journal.write("cannot begin an epoch") { writer, connection -> (ended: Int64, begun: Int64)? in
      let written = writer.takeWritten()
      // Also if the transaction fails.
      unflushed.withLock { $0.formUnion(written) }
      guard !written.isEmpty, !isLast else { return nil }
      let epoch = try epochs.withLock { try $0.next(connection, identity) }
      writer.epoch = epoch.begun
      return epoch
    }
    let ended = epochs.withLock { epochs in
      defer { if let epoch { epochs.commit(epoch.begun) } }
      return epoch?.ended ?? (isLast ? epochs.current : epochs.current - 1)
    }
    let ids = unflushed.withLock { $0 }
    if ids.isEmpty, !isLast { return true }
    do throws(FSError) {
      guard try content.sync(ids, while: goesOn) else { return false }
    } catch {
      epochs.withLock { $0.refuse(ended) }
      try? journal.write("cannot forget an epoch") { _, connection in
        try epochs.withLock { try $0.forgetRefused(connection) }
      }
      throw error
    }
    unflushed.withLock { $0.subtract(ids) }
    try journal.write("cannot seal an epoch") { _, connection in
      try epochs.withLock { try $0.sealOwn(ended, connection) }
    }
    return true
  }

  /// Ends the volume: all changes are on the disk, and the next run need not look for leftovers. Later calls do
  /// nothing; changes that are appended afterwards are lost.
  ///
  /// Content that is not on the disk when there is no more time gets there by itself, as of any file: after a loss of
  /// power before that, or a start of the machine, what was fetched is dataless again.
  ///
  /// - Parameters:
  ///   - leavesContent: Whether content is still there that no item has: what was to be removed, or came in part. Then
  ///     the next run does look for it, as it does for what this one has not looked for to the end.
  ///   - goesOn: As `flush`.
  /// - Throws: ENOSPC, EDQUOT, EIO: changes that are not on the disk are lost, unless it is called again.
  public func close(leavesContent: Bool = false, while goesOn: () -> Bool = { true }) throws(FSError) {
    guard !isClosed.load(ordering: .acquiring) else { return }
    dropAbsent()
    try journal.commit()
    // Between its commit and the removal of content, emptying leaves content, too.
    let isClean =
      !leavesContent && isReconciled.load(ordering: .acquiring) && !emptiesTrash.load(ordering: .acquiring)
    if isClean { removeUnreachable() }
    try journal.write("cannot end the volume") { _, connection in
      if isClean { try connection.set(.isClean, to: [1]) }
      if let session { try connection.set(.endedSession, to: session) }
    }
    _ = try flush(isLast: true, while: goesOn)
    // Before the log goes: without it, an end that nobody knows of would look like changes that are missing.
    var isMarked = true
    do throws(Errno) {
      if let session { try SessionMark.write(session, isClosed: true, of: directory.marker, directory.files) }
    } catch {
      isMarked = false
    }
    try catalog.close(keepsLog: !isMarked)
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
    defer { search.end() }
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
      search.note(Self.reconciledAtATime)
    }
    last = .min
    while let next = try catalog.read("cannot look for leftovers", { try Self.index($0, after: last, &unnamed) }) {
      last = next
    }
    remove(Array(unnamed))
    isReconciled.store(true, ordering: .releasing)
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

  func isOfEarlierRun(_ epoch: Int64) -> Bool { epochs.withLock { epoch < $0.first } }
}
