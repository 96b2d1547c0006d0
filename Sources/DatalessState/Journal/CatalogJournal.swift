public import DatalessCore
internal import Synchronization
internal import SystemPackage

/// Brings the engine's changes into the catalog: in their order, many in one transaction, content before them.
///
/// Appending takes a mutex for a few statements. Commits are made on the lane, or by whoever has to have one
/// (`commit`), one at a time.
public final class CatalogJournal: JournalSink {
  private let catalog: Catalog
  private let content: (any ContentStore)?
  private let lane: any BlockingLane
  private let timer: any TimerLane
  private let interval: Nanoseconds
  private let queue = Mutex(CommitQueue())
  /// Held while a transaction is made: by threads only that may wait for the disk.
  private let writer: Mutex<CatalogWriter>
  private let search: LeftoverSearch
  /// Called after a commit that has left removed trees to be gone through.
  private let trashed = Mutex<(@Sendable () -> Void)?>(nil)
  private let written = Mutex<(@Sendable () -> Void)?>(nil)
  /// Removed trees that wait for their commit.
  private let queuedTrees = Atomic<Int>(0)
  /// As `CatalogTrash.count`, after the last transaction.
  private let treesLeft: Atomic<Int>
  /// By how many bytes the catalog will grow at most by what is not committed yet.
  private let queuedGrowth = Atomic<Int64>(0)

  public let keepsChanges = true
  /// As `CatalogWriter.hadItems`.
  let hadItems: Bool

  init(
    _ catalog: Catalog, _ writer: CatalogWriter, search: LeftoverSearch, content: (any ContentStore)?,
    lane: any BlockingLane, timer: any TimerLane, interval: Nanoseconds
  ) {
    self.search = search
    self.catalog = catalog
    treesLeft = Atomic(writer.trashCount)
    hadItems = writer.hadItems
    self.writer = Mutex(writer)
    self.content = content
    self.lane = lane
    self.timer = timer
    self.interval = interval
  }

  /// Changes that are not on the disk yet. They grow only while the disk is full or slow.
  public var backlog: Int { queue.withLock { $0.count } }

  /// Why the last commit failed; nil if it did not.
  public var failure: FSError? { queue.withLock { $0.failure } }

  public func append(_ change: StateChange, _ number: ChangeNumber) {
    let trees = change.removedTrees
    if trees > 0 { queuedTrees.add(trees, ordering: .relaxed) }
    queuedGrowth.add(change.growth, ordering: .relaxed)
    perform(queue.withLock { $0.append(change, number) })
  }

  public func whenDurable(_ number: ChangeNumber, _ completion: @escaping @Sendable (FSError?) -> Void) {
    let (isDone, step) = queue.withLock { $0.wait(for: number, isUrgent: true, completion) }
    if isDone { completion(nil) }
    perform(step)
  }

  public func afterNextCommit(_ number: ChangeNumber, _ body: @escaping @Sendable () -> Void) {
    let completion: CommitQueue.Completion = { error in if error == nil { body() } }
    let (isDone, step) = queue.withLock { $0.wait(for: number, isUrgent: false, completion) }
    if isDone { body() }
    perform(step)
  }

  /// Calls `body` once, on any thread, when content is written that nobody has flushed. It must not wait.
  public func whenContentIsWritten(_ body: @escaping @Sendable () -> Void) { written.withLock { $0 = body } }

  /// Commits all that was appended before the call, on the calling thread. - Throws: ENOSPC, EDQUOT, EIO.
  public func commit() throws(FSError) {
    let (ended, failure, hasTrash) = writer.withLock { writer in
      let (committed, failure) = commitInParts(queue.withLock { $0.begin() }, &writer)
      return (queue.withLock { $0.end(failure, committed: committed) }, failure, writer.trashCount > 0)
    }
    if hasTrash, failure == nil { trashed.withLock { $0 }?() }
    for answer in ended.answers { answer.completion(answer.error) }
    perform(ended.step)
    if let failure { throw failure }
  }

  public func makeRoom() throws(FSError) -> Bool {
    // What others have given back on the disk is not known without a look.
    defer { catalog.renewReserve() }
    try commit()
    return trashCount > 0 || search.progress != nil
  }

  public func hasRoom(for bytes: Int64, removing: Bool) -> Bool {
    let allowance = removing ? catalog.allowance.removing : catalog.allowance.making
    return allowance == .max || bytes <= allowance - queuedGrowth.load(ordering: .relaxed)
  }

  /// LIMIT: into how many parts what finds no room is divided, again and again.
  private static let parts = 8

  /// Commits a batch; where there is no room for all of it at once, in parts, so that those that find room have it:
  /// each begins with a WAL of its own.
  ///
  /// - Returns: How many entries are durable; and why the others are not.
  private func commitInParts(
    _ batch: [CommitQueue.Entry], _ writer: inout CatalogWriter
  ) -> (committed: Int, failure: FSError?) {
    var (done, size) = (0, batch.count)
    var retried = -1
    while done < batch.count {
      let part = Array(batch[done..<min(done + size, batch.count)])
      guard let failure = commit(part, &writer) else {
        done += part.count
        continue
      }
      guard failure.errno == .noSpace || failure.errno == .diskQuotaExceeded else { return (done, failure) }
      // The WAL was begun anew since.
      guard part.count > 1 || retried < done else { return (done, failure) }
      if part.count == 1 { retried = done }
      size = (part.count + Self.parts - 1) / Self.parts
    }
    return (done, nil)
  }

  private func commit(_ batch: [CommitQueue.Entry], _ writer: inout CatalogWriter) -> FSError? {
    do throws(FSError) {
      // Before the transaction, because it may take long: others read the catalog meanwhile.
      for id in Set(batch.flatMap(\.change.contentGivenUp)) { try flush(id) }
      try catalog.write("cannot keep changes") { connection in
        for entry in batch { try writer.apply(entry.change, connection) }
        // Content first: the transaction is committed after this.
        for id in writer.takeContentToFlush() { try flush(id) }
      }
      writer.commit()
      for id in writer.takeLeftContent() { content?.remove(id) }
      // Left first: in between, a tree is counted twice, and never not.
      treesLeft.store(writer.trashCount, ordering: .releasing)
      queuedTrees.subtract(batch.reduce(0) { $0 + $1.change.removedTrees }, ordering: .releasing)
      queuedGrowth.subtract(batch.reduce(0) { $0 + $1.change.growth }, ordering: .releasing)
      if writer.hasWritten { written.withLock { $0.take() }?() }
      return nil
    } catch {
      writer.rollBack()
      return error
    }
  }

  private func flush(_ id: ContentID) throws(FSError) {
    guard let content else { return }
    do throws(FSError) {
      try content.sync(id)
    } catch {
      // What was removed behind our back must not keep everything else from the disk. What cannot be looked at is
      // there.
      do throws(FSError) {
        _ = try content.size(of: id)
      } catch let missing {
        if missing.errno == .noSuchFileOrDirectory { return }
      }
      throw error
    }
  }

  /// Something else that changes the catalog, in between. On the calling thread.
  func write<Result: Sendable>(
    _ what: String, _ body: (inout CatalogWriter, CatalogConnection) throws -> Result
  ) throws(FSError) -> Result {
    let outcome: Swift.Result<Result, FSError> = writer.withLock { writer in
      do throws(FSError) {
        let result = try catalog.write(what) { connection in try body(&writer, connection) }
        writer.commit()
        treesLeft.store(writer.trashCount, ordering: .releasing)
        return .success(result)
      } catch {
        writer.rollBack()
        return .failure(error)
      }
    }
    return try outcome.get()
  }

  /// Has somebody go through removed trees. - Parameter body: Called on the lane, and by whoever commits.
  func whenTrashed(_ body: @escaping @Sendable () -> Void) { trashed.withLock { $0 = body } }

  /// Removed trees that are not committed yet, and what `CatalogTrash.count` says of the others. Waits for nobody.
  var trashCount: Int { queuedTrees.load(ordering: .acquiring) + treesLeft.load(ordering: .acquiring) }

  /// Whether removed trees are left that are committed.
  var hasTrees: Bool { treesLeft.load(ordering: .acquiring) > 0 }

  /// Runs something on the lane, behind what waits there.
  func submit(_ body: @escaping @Sendable () -> Void) { lane.submit(body) }

  /// Which item a node is, as far as that is known.
  func item(of node: NodeID) -> Int64? { writer.withLock { $0.item(of: node) } }
  func node(of item: Int64) -> NodeID? { writer.withLock { $0.node(of: item) } }
  var nodes: KnownItems { writer.withLock { $0.items.nodes } }

  func adopt(_ item: Int64, as node: NodeID) { writer.withLock { $0.adopt(item, as: node) } }

  private func perform(_ step: CommitQueue.Step) {
    switch step {
    case .none: break
    case .schedule:
      timer.schedule(at: timer.now + interval) { [weak self] in
        guard let self else { return }
        self.perform(self.queue.withLock { $0.timePassed() })
      }
    case .run:
      lane.submit { [weak self] in
        // Whoever waits has been told why.
        try? self?.commit()
      }
    }
  }
}

extension StateChange {
  /// By how many bytes the catalog grows at most, about: rows with their indices. What takes rows away gives back
  /// nothing before it is committed.
  fileprivate var growth: Int64 {
    switch self {
    case .together(let changes): changes.reduce(0) { $0 + $1.growth }
    case .made(_, _, let target, _): 256 + Int64(target.count)
    case .named(_, let name, _), .hidden(_, let name, _): Self.growth(ofName: name.count)
    case .attribute(_, let name, let value): 64 + Int64(name.count + (value?.count ?? 0))
    case .storeName(_, let key, _): 64 + Int64(key.count)
    case .content(let item, _): item.binding == nil ? 0 : 256
    case .attributes(let item, _, _): item.binding == nil ? 0 : 160
    case .bound, .trashed, .vanished, .gone, .dirty: 32
    case .listed, .contentDropped, .unnamed, .unhidden, .forgotten, .followed: 0
    }
  }

  /// Trees that are to be gone through by this.
  fileprivate var removedTrees: Int {
    switch self {
    case .together(let changes): changes.reduce(0) { $0 + $1.removedTrees }
    case .trashed(_, let isKnown): isKnown ? 0 : 1
    case .vanished: 1
    default: 0
    }
  }

  /// Content of the store's files that becomes dirty: its clean bytes are given up by this, so it is whole before.
  fileprivate var contentGivenUp: [ContentID] {
    switch self {
    case .together(let changes): changes.flatMap(\.contentGivenUp)
    case .dirty(let item, let content): item.binding == nil ? [] : [content]
    default: []
    }
  }
}
