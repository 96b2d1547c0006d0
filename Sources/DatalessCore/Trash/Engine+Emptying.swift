internal import Glibc
internal import Synchronization
internal import SystemPackage

/// What was removed, on its way out.
extension Engine {
  /// Begins to empty removed trees, unless that goes on already.
  func emptyTrash() {
    guard state.withLock({ $0.trash.begin() }) else { return }
    metadata.submit { [self] in
      var yielder = LockYielder(timer)
      while emptySome() { yielder.yieldIfDue() }
      if limitsRoom.load(ordering: .relaxed) { settleRoom() }
    }
  }

  /// - Returns: Whether there is more.
  private func emptySome() -> Bool {
    let step = removals.announcing {
      let step = state.withLock { $0.emptySome(timer.now) }
      removeContents(step.contents)
      return step
    }
    // Files that are still open have a link less.
    if !step.known.isEmpty { forgetAttributes(of: step.known) }
    if step.hasUnpinned { giveBackLeftovers() }
    return step.hasMore
  }

  /// What is still to be given back.
  public var trashStatus: TrashStatus {
    let left = state.withLock { $0.trash.left }
    let contents = removals.pending
    return TrashStatus(items: left.items + contents.count, bytes: left.bytes.saturatingAdd(contents.bytes))
  }

  // MARK: - Content

  /// Whether the content store has content that no item has, or will have: it is to be removed, somebody reads it
  /// still, or it came in part. Asked at the end, after which nobody removes it.
  public var leavesContent: Bool {
    removals.pending.count > 0
      || state.withLock { $0.contents.hasUnnamedContent || $0.openFiles.leaseContentGivenUp } || hasOrphanContent
  }

  /// LIMIT: nodes that are looked at under one lock.
  private static let looked = 65_536

  /// Whether a file has fetched content that has no name any more, and that the kernel still knows: an older version,
  /// of which the kernel may never say that it has forgotten it.
  private var hasOrphanContent: Bool {
    var next: NodeIndex? = .root
    while let start = next {
      let (found, rest) = state.withLock { state in
        var found = false
        let rest = state.namespace.visitNodes(from: start, limit: Self.looked) { _, record in
          // What was unlinked is among the orphans of the catalog.
          if record.kind == .file, record.isOrphan, record.isLocal, !record.isDirty, !record.isUnlinked { found = true }
        }
        return (found, rest)
      }
      if found { return true }
      next = rest
    }
    return false
  }

  /// Removes content that no file has and nobody reads any more. On a volume that is kept when it is durable that no
  /// file has it.
  func removeContent(_ id: ContentID) { removeContents([id]) }

  /// Content that an earlier run has left, and that no item has: it goes as what is removed now, counted with it.
  public func removeLeftovers(_ ids: [ContentID]) { removeContents(ids) }

  /// As `removeContent`. One after the other, on a lane on which nobody's call waits.
  func removeContents(_ ids: [ContentID]) {
    let isTracked = limitsRoom.load(ordering: .relaxed)
    let batch = ids.filter { $0 != .none }.map { id in
      ContentRemovals.Entry(id: id, bytes: Room.pages((try? content.size(of: id)) ?? 0), isTracked: isTracked)
    }
    guard !batch.isEmpty else { return }
    if isTracked { state.withLock { state in for entry in batch { state.room.beginRemoval(entry.bytes) } } }
    removals.announce(batch)
    let begin: @Sendable () -> Void = { [self] in
      if removals.add(batch) { trashLane.submit { [self] in removeSome(isFirst: true) } }
    }
    guard configuration.journal.keepsChanges else { return begin() }
    configuration.journal.afterNextCommit(state.withLock { $0.journal.last }, begin)
  }

  /// Removes the next contents, and has the lane go on when it has done what others want of it.
  private func removeSome(isFirst: Bool) {
    if isFirst, !limitsRoom.load(ordering: .relaxed) { removals.gather() }
    let batch = removals.next()
    guard !batch.isEmpty else { return }
    removeNow(batch)
    trashLane.submit { [self] in removeSome(isFirst: false) }
  }

  private func removeNow(_ batch: [ContentRemovals.Entry]) {
    content.remove(batch.map(\.id))
    removals.end(batch)
    let tracked = batch.filter(\.isTracked)
    if !tracked.isEmpty { endRemoval(tracked.reduce(0) { $0 + $1.bytes }, count: tracked.count) }
  }

  /// Calls what needs room on the content store's disk, and may be called again after it has failed for want of it.
  /// Where there is none, it removes what is on its way out, and calls again: whoever has removed a file may use its
  /// room. On a thread that may wait for the disk, without the engine's lock.
  ///
  /// - Throws: What `body` throws.
  func usingTrashForRoom<Result>(_ body: () throws(FSError) -> Result) throws(FSError) -> Result {
    var search = RoomSearch()
    while true {
      do throws(FSError) {
        return try body()
      } catch {
        guard error.errno == .noSpace || error.errno == .diskQuotaExceeded, useTrash(&search) else { throw error }
      }
    }
  }

  /// Where an operation was refused because what is kept may not grow any more, gives room back for it, as for who
  /// writes, and looks how much there is. On a thread that may wait for the disk, without the engine's lock.
  ///
  /// - Returns: Whether the operation is to be tried again.
  func makeRoomForChanges(_ search: inout RoomSearch) -> Bool {
    guard useTrash(&search) else { return false }
    return (try? configuration.journal.makeRoom()) != nil
  }

  /// How long somebody goes on looking for room.
  struct RoomSearch {
    /// LIMIT: microseconds that he waits for what is on its way out, twice as long each time: 2 s in all.
    fileprivate static let (pauseFirst, pauseMax): (UInt32, UInt32) = (1_000, 1_024_000)
    /// LIMIT: how often he tries while others use what he makes.
    fileprivate static let roundsMax = 64

    /// LIMIT: pauses in which he waits for the kernel, the first of a millisecond, each twice as long: 63 ms in all.
    fileprivate static let forgetsMax = 6

    fileprivate var rounds = 0
    fileprivate var forgets = 0
    fileprivate var pause = pauseFirst
    /// Whether what was removed is known to be so after a crash, too.
    fileprivate var hasCommitted = false
  }

  /// Gives room back for somebody who found none.
  ///
  /// On a volume that is kept, content goes when it is durable that no file has it, for which nobody hurries. He does,
  /// on his own thread and not on the journal's, on which he may be himself: so he waits for nobody who waits for him.
  /// A journal that has no room either fails at once, and so does he.
  ///
  /// - Returns: Whether there may be room now.
  private func useTrash(_ search: inout RoomSearch) -> Bool {
    search.rounds += 1
    guard search.rounds <= RoomSearch.roundsMax else { return false }
    if hurryRemovals() { return true }
    guard configuration.journal.keepsChanges else { return waitForForgets(&search) }
    guard search.pause <= RoomSearch.pauseMax else { return false }
    let hasMore: Bool
    do throws(FSError) {
      hasMore = try configuration.journal.makeRoom()
    } catch {
      return false
    }
    let isFirst = !search.hasCommitted
    search.hasCommitted = true
    // Somebody else may have committed, and removed, what was to go, since he found no room.
    if hurryRemovals() || isFirst { return true }
    guard hasMore || trashStatus.items > 0 else { return waitForForgets(&search) }
    usleep(search.pause)
    search.pause *= 2
    return true
  }

  /// What was removed is on its way out when the kernel forgets it, which it tells soon after the call that has removed
  /// it, and nobody waits for.
  private func waitForForgets(_ search: inout RoomSearch) -> Bool {
    let changes = state.withLock { $0.trash.changes }
    // Somebody has waited in vain since anything was removed.
    guard search.forgets > 0 || futileSearch.load(ordering: .relaxed) != changes else { return false }
    guard search.forgets < RoomSearch.forgetsMax else {
      futileSearch.store(changes, ordering: .relaxed)
      return false
    }
    usleep(1_000 << UInt32(search.forgets))
    search.forgets += 1
    return true
  }

  // LIMIT: batches of contents that a writer removes, and milliseconds for which he waits for others who do.
  private static let hurriedMax = 32

  /// - Returns: Whether anything was removed, here or by somebody else meanwhile.
  private func hurryRemovals() -> Bool {
    var hasRemoved = false
    for _ in 0..<Self.hurriedMax {
      let batch = removals.hurry()
      guard !batch.isEmpty else { break }
      removeNow(batch)
      hasRemoved = true
    }
    for _ in 0..<Self.hurriedMax where removals.isRemoving {
      hasRemoved = true
      usleep(1_000)
    }
    return hasRemoved
  }
}
