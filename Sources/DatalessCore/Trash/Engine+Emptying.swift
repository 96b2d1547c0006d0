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
    let step = state.withLock { $0.emptySome(timer.now) }
    removeContents(step.contents)
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
    removals.pending.count > 0 || state.withLock { $0.contents.hasUnnamedContent || $0.openFiles.leaseContentGivenUp }
  }

  /// Removes content that no file has and nobody reads any more. On a volume that is kept when it is durable that no
  /// file has it.
  func removeContent(_ id: ContentID) { removeContents([id]) }

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

  /// Calls what needs room on the content store's disk. Where there is none, it removes what is on its way out, and
  /// calls once more: whoever has removed a file may use its room.
  ///
  /// - Throws: What `body` throws.
  func usingTrashForRoom<Result>(_ body: () throws(FSError) -> Result) throws(FSError) -> Result {
    do throws(FSError) {
      return try body()
    } catch {
      guard error.errno == .noSpace || error.errno == .diskQuotaExceeded, hurryRemovals() else { throw error }
      return try body()
    }
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
