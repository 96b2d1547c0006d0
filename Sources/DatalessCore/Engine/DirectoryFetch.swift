internal import Synchronization
internal import SystemPackage

/// The listing of one directory, from the backing store into the namespace.
///
/// Entries go in by small batches, so that the engine's lock is never held for long; nobody sees them before the last.
final class DirectoryFetch: AttemptJob {
  private let engine: Engine
  private let attempt: AttemptID
  private let node: NodeIndex
  /// nil for a directory that the store does not have.
  private let item: StoreBinding?
  private let isCancelled = Atomic<Bool>(false)
  private let task = LaneTask()

  /// Entries inserted under one lock: about 50 us.
  private static let batchSize = 128

  init(engine: Engine, attempt: AttemptID, node: NodeIndex, item: StoreBinding?) {
    self.engine = engine
    self.attempt = attempt
    self.node = node
    self.item = item
  }

  func cancel() {
    isCancelled.store(true, ordering: .releasing)
    task.cancel()
  }

  /// Lists the directory. Runs on the metadata lane, or on a request thread.
  func list(from store: any BackingStore) {
    guard let item else { return listSaved() }
    let started = engine.timer.now
    do throws(FSError) {
      try engine.restore(attempt)
      // A directory holds no bytes: asked only where nothing else can tell it from another one when it is renamed.
      let generation = item.version.birth == 0 ? store.generation(of: item) : 0
      guard engine.beginListing(attempt) else { return }
      var entries = 0
      try store.list(item) { (batch: ListingBatch) throws(FSError) in
        try insert(batch)
        entries += batch.count
      }
      if engine.writing != .readOnly {
        engine.noteInheritable(StoreQuestion.attribute(PosixACL.defaultName).ask(store, item), of: attempt)
        engine.keepAccessACL(of: attempt, item)
      }
      try finish(entries: entries, generation: generation, started: started)
    } catch {
      failed(error, started)
    }
  }

  /// What is kept of a directory is listed without the store, if that has it no more.
  private func failed(_ error: FSError, _ started: MonotonicTime) {
    do throws(FSError) {
      guard try engine.keepsWithoutStore(attempt, error) else { throw error }
      listSaved()
    } catch {
      engine.failed(attempt, error, storeTime: engine.timer.now - started)
    }
  }

  /// Lists a directory that the store does not have. Metadata lane.
  func listSaved() {
    let started = engine.timer.now
    do throws(FSError) {
      try engine.restore(attempt)
      guard engine.beginListing(attempt) else { return }
      try finish(entries: 0, generation: 0, started: started)
    } catch {
      engine.failed(attempt, error, storeTime: engine.timer.now - started)
    }
  }

  /// Lists the directory, in a task on the metadata lane. Any thread.
  func beginList(from store: any AsyncBackingStore) {
    task.begin(on: engine.metadataTasks) { await self.list(from: store) }
  }

  private func list(from store: any AsyncBackingStore) async {
    guard let item else { return listSaved() }
    let started = engine.timer.now
    do throws(FSError) {
      try engine.restore(attempt)
      // A directory holds no bytes: asked only where nothing else can tell it from another one when it is renamed.
      var generation: UInt32 = 0
      if item.version.birth == 0 { generation = await store.generation(of: item) }
      guard engine.beginListing(attempt) else { return }
      var entries = 0
      let listing = try await store.list(item)
      while let batch = try await listing.next() {
        try insert(batch)
        entries += batch.count
      }
      if engine.writing != .readOnly {
        engine.noteInheritable(await StoreQuestion.attribute(PosixACL.defaultName).ask(store, item), of: attempt)
        engine.keepAccessACL(of: attempt, item)
      }
      try finish(entries: entries, generation: generation, started: started)
    } catch {
      failed(error, started)
    }
  }

  private func finish(entries: Int, generation: UInt32, started: MonotonicTime) throws(FSError) {
    try engine.restoreDirectories(attempt)
    engine.dropVanishedNames(attempt)
    engine.nameUnreached(listing: node)
    engine.adoptNewVersions()
    engine.disposeOfOrphans()
    engine.listed(attempt, entries: entries, generation: generation, storeTime: engine.timer.now - started)
  }

  private func insert(_ batch: ListingBatch) throws(FSError) {
    var start = 0
    while start < batch.count {
      let end = min(start + Self.batchSize, batch.count)
      try insert(batch, start..<end)
      start = end
    }
  }

  private func insert(_ batch: ListingBatch, _ range: Range<Int>) throws(FSError) {
    guard !isCancelled.load(ordering: .acquiring) else { throw FSError(.interrupted, "the listing was given up") }
    try engine.restoreShared(batch, range, for: attempt)
    guard engine.insert(batch, range, attempt: attempt) else {
      throw FSError(.noSpace, "the namespace holds as many names as it can")
    }
  }
}

extension Engine {
  /// What is made in a directory gets this ACL, unless another one is set. It comes with the listing, so that whoever
  /// makes something never waits for a store.
  ///
  /// - Parameter answer: The store's.
  func noteInheritable(_ answer: Result<[UInt8], FSError>, of attempt: AttemptID) {
    state.withLock { state in
      guard let running = state.attempts[attempt] else { return }
      state.noteInheritable(answer, of: running.node)
    }
  }

  /// Starts the listing, when the names that an earlier one left are findable: a renewed one looks for each.
  ///
  /// - Returns: False when the attempt was given up meanwhile.
  func beginListing(_ attempt: AttemptID) -> Bool {
    var yielder = LockYielder(timer)
    while true {
      yielder.yieldIfDue()
      let hasBegun: Bool? = state.withLock { state in
        guard let running = state.attempts[attempt] else { return nil }
        return state.namespace.beginListing(of: running.node)
      }
      guard let hasBegun else { return false }
      if hasBegun { return true }
    }
  }

  /// Inserts listed entries, unless the attempt was given up.
  func insert(_ batch: ListingBatch, _ range: Range<Int>, attempt: AttemptID) -> Bool {
    let saved = savedBelow(keepsState ? state.withLock { $0.replacedDirectories(batch, range, attempt: attempt) } : [])
    let (fits, hasChanged): (Bool, Bool) = state.withLock { state in
      guard let running = state.attempts[attempt] else { return (true, false) }
      // Made once: closures for each entry keep the count of references busy.
      let use = state.itemUse(saved)
      let directory = running.node
      let fits = batch.visit(range) { name, item in state.namespace.insert(name, item, in: directory, use: use) }
      state.tellConflicts(timer.now)
      return (fits, state.namespace.news.hasChanged)
    }
    if hasChanged { tellChangedNodes() }
    return fits
  }

  /// Marks names that a renewed listing no longer has, in bounded steps.
  func dropVanishedNames(_ attempt: AttemptID) {
    var cursor: NameCursor? = .start
    var yielder = LockYielder(timer)
    while let position = cursor {
      yielder.yieldIfDue()
      let saved = savedBelow(keepsState ? state.withLock { $0.vanishedDirectories(attempt, from: position) } : [])
      cursor = state.withLock { state in
        guard let running = state.attempts[attempt] else { return nil }
        defer { state.tellConflicts(timer.now) }
        let unseen = keepsState ? state.writtenUnseen(running.node, from: position) : []
        let next = state.namespace.dropVanishedNames(
          of: running.node, from: position, limit: EngineState.vanishedAtATime, use: state.itemUse(saved))
        for file in unseen { state.takeOwnNumber(file) }
        return next
      }
    }
    settleUnbound()
  }
}
