internal import SystemPackage
internal import Synchronization

/// One refresh: known directories of the store are listed again, and what changed is put into the namespace.
///
/// A directory at a time on the metadata lane, its entries by small batches under the engine's lock. Names that are
/// new, or that another item has, wait until all directories are listed: only then can a rename be told from an item
/// that came and one that went. A dataless directory is not listed: nobody has seen what is in it.
public final class Refresh: Sendable {
  let by: RefreshOrigin
  let keeps: Bool
  let engine: Engine
  let paths: [[UInt8]]
  private let startedAt: MonotonicTime
  private let completion: @Sendable (RefreshOutcome) -> Void
  private let isCancelled = Atomic<Bool>(false)
  private let isComplete = OnceFlag()
  /// Used by one thread at a time; the lock only carries the state from one to the next.
  let work: Mutex<RefreshWork?>
  private let task = LaneTask()
  private let counts = Mutex(RefreshCounts())

  /// Entries of each kind of step under one lock: some tens of microseconds, those that are recorded included.
  private static let batchSize = 64

  init(
    engine: Engine, paths: [[UInt8]], by: RefreshOrigin, keeps: Bool,
    completion: @escaping @Sendable (RefreshOutcome) -> Void
  ) {
    self.engine = engine
    self.paths = paths
    self.by = by
    self.keeps = keeps
    self.completion = completion
    startedAt = engine.timer.now
    work = Mutex(RefreshWork(findings: RefreshFindings(by: by, keeps: keeps)))
  }

  /// How far it has come.
  public var progress: RefreshCounts { counts.withLock { $0 } }

  /// Asks it to end with EINTR; what it has found so far stays. One that waits for another answers at once.
  public func cancel() {
    isCancelled.store(true, ordering: .releasing)
    task.cancel()
    if engine.state.withLock({ $0.refreshes.isWaiting(self) }) {
      abort(FSError(.interrupted, "the refresh was given up"))
    }
  }

  /// Ends it at once for whoever waits for it.
  func abort(_ error: FSError) {
    isCancelled.store(true, ordering: .releasing)
    task.cancel()
    guard isComplete.claim() else { return }
    completion(RefreshOutcome(counts: progress, failures: [], failureCount: 0, error: error))
  }

  /// Goes on with it. Runs on the metadata lane.
  func step() {
    switch engine.store {
    case .blocking(let store): step(store)
    case .async(let store): task.begin(on: engine.metadataTasks) { await self.run(store) }
    }
  }

  /// One step.
  private func step(_ store: any BackingStore) {
    guard var work = self.work.withLock({ $0.take() }) else { return }
    var ending: FSError?
    switch nextStep(&work) {
    case .list(let node, let recurses): ending = list(node, recurses: recurses, from: store, work: &work)
    case .settle:
      var settling = RefreshSettling(engine, &work.findings)
      settling.askGenerations(store)
      settling.settle(&work.findings)
    case .ask: return ask(work.findings.look) { self.engine.metadata.submit { self.step() } }
    case .finish: return finish(work, nil)
    }
    endStep(&work)
    if let ending { return finish(work, ending) }
    self.work.withLock { $0 = work }
    engine.metadata.submit { self.step() }
  }

  /// All steps: the lane is free whenever the store is waited for.
  private func run(_ store: any AsyncBackingStore) async {
    guard var work = self.work.withLock({ $0.take() }) else { return }
    while true {
      var ending: FSError?
      switch nextStep(&work) {
      case .list(let node, let recurses): ending = await list(node, recurses: recurses, from: store, work: &work)
      case .settle:
        var settling = RefreshSettling(engine, &work.findings)
        await settling.askGenerations(store)
        // A store that was told to give up has not told.
        ending = stopped
        if ending == nil { settling.settle(&work.findings) }
      case .ask:
        let look = work.findings.look
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
          ask(look) { continuation.resume() }
        }
        guard let anew = self.work.withLock({ $0.take() }) else { return }
        work = anew
        continue
      case .finish: return finish(work, nil)
      }
      endStep(&work)
      if let ending { return finish(work, ending) }
      // A store that knew the answer has not waited: others are to have the lane all the same.
      await Task.yield()
    }
  }

  private func nextStep(_ work: inout RefreshWork) -> RefreshWork.Step {
    if work.begin() { findStart(&work) }
    let step = work.next()
    guard case .finish = step, work.take(engine.takeDecidedDirectories()) else { return step }
    return work.next()
  }

  private func endStep(_ work: inout RefreshWork) {
    work.takeSubdirectories()
    counts.withLock { $0 = work.findings.counts }
  }

  // MARK: - One directory

  /// - Returns: Why the whole refresh cannot go on.
  private func list(
    _ node: NodeIndex, recurses: Bool, from store: any BackingStore, work: inout RefreshWork
  ) -> FSError? {
    if let error = stopped { return error }
    guard var listing = beginListing(node, recurses: recurses, work: &work) else { return nil }
    do throws(FSError) {
      if node == .root, work.findings.look == nil { takeRoot(try store.currentRoot(), &work) }
      if let item = listing.item {
        try store.list(item) { (batch: ListingBatch) throws(FSError) in
          try observe(batch, in: &listing, work: &work)
        }
      }
      if asksInheritable(work) {
        note(listing.item.map { StoreQuestion.attribute(PosixACL.defaultName).ask(store, $0) }, of: listing.place)
      }
      endListing(&listing, &work)
      return nil
    } catch {
      return listingFailed(node, error: error, work: &work)
    }
  }

  private func list(
    _ node: NodeIndex, recurses: Bool, from store: any AsyncBackingStore, work: inout RefreshWork
  ) async -> FSError? {
    if let error = stopped { return error }
    guard var listing = beginListing(node, recurses: recurses, work: &work) else { return nil }
    do throws(FSError) {
      if node == .root, work.findings.look == nil { takeRoot(try await store.currentRoot(), &work) }
      if let item = listing.item {
        let pages = try await store.list(item)
        while let batch = try await pages.next() { try observe(batch, in: &listing, work: &work) }
      }
      if asksInheritable(work) {
        var answer: Result<[UInt8], FSError>?
        if let item = listing.item { answer = await StoreQuestion.attribute(PosixACL.defaultName).ask(store, item) }
        note(answer, of: listing.place)
      }
      endListing(&listing, &work)
      return nil
    } catch {
      return listingFailed(node, error: error, work: &work)
    }
  }

  /// What is made in a directory inherits the ACL that the store has for it now.
  private func asksInheritable(_ work: RefreshWork) -> Bool {
    engine.writing != .readOnly && work.findings.look == nil && stopped == nil
  }

  /// - Parameter answer: nil: the store has the directory no more: what it inherits stays.
  private func note(_ answer: Result<[UInt8], FSError>?, of place: RefreshFindings.Place) {
    if answer != nil { engine.keepAccessACL(of: engine.id(of: place.directory)) }
    engine.state.withLock { state in
      guard state.isCurrent(place) else { return }
      state.noteInheritable(answer ?? .failure(FSError(.noData, "no such attribute")), of: place.directory)
    }
  }

  /// A directory that is being listed again.
  private struct Listing {
    let place: RefreshFindings.Place
    /// nil: the store has it no more, and so nothing in it.
    let item: StoreBinding?
    var yielder: LockYielder
    /// False when somebody else has listed it since.
    var isCurrent = true
  }

  /// nil if there is nothing to list.
  private func beginListing(_ node: NodeIndex, recurses: Bool, work: inout RefreshWork) -> Listing? {
    if recurses, !work.walked.insert(node).inserted { return nil }
    if let look = work.findings.look, !engine.mayConcern(look, node) { return nil }
    guard isWanted(node, recurses: recurses, &work) else { return nil }
    guard let (place, item) = engine.beginRefresh(of: node, recurses: recurses, isOwn: work.own.contains(node)) else {
      return nil
    }
    return Listing(place: place, item: item, yielder: LockYielder(engine.timer))
  }

  private func takeRoot(_ listed: ItemAttributes, _ work: inout RefreshWork) {
    engine.state.withLock { $0.refreshRoot(listed, findings: &work.findings, now: engine.timer.now) }
  }

  private func observe(
    _ batch: ListingBatch, in listing: inout Listing, work: inout RefreshWork
  ) throws(FSError) {
    var start = 0
    while start < batch.count, listing.isCurrent {
      if let error = stopped { throw error }
      let end = min(start + Self.batchSize, batch.count)
      listing.isCurrent = engine.observe(batch, start..<end, in: listing.place, findings: &work.findings)
      start = end
      listing.yielder.yieldIfDue()
    }
    counts.withLock { $0 = work.findings.counts }
  }

  private func endListing(_ listing: inout Listing, _ work: inout RefreshWork) {
    // Paths take longer than numbers.
    let limit = work.findings.look == nil ? 1024 : Self.batchSize
    var cursor: NameCursor? = listing.isCurrent ? .start : nil
    while let position = cursor {
      cursor = engine.state.withLock {
        $0.collectVanished(listing.place, from: position, limit: limit, &work.findings)
      }
      listing.yielder.yieldIfDue()
    }
    engine.tellChangedNodes()
    if work.findings.look == nil { work.findings.counts.directories += 1 }
  }

  /// - Returns: Why the whole refresh cannot go on.
  private func listingFailed(_ node: NodeIndex, error: FSError, work: inout RefreshWork) -> FSError? {
    if let error = stopped { return error }
    // It has changed since its own entry was listed: the next refresh will see what it is.
    let isRace: [Errno] = [.noSuchFileOrDirectory, .staleNFSFileHandle, .notDirectory]
    if node == .root || !isRace.contains(error.errno) { work.fail(engine.path(of: node), error) }
    if isRace.contains(error.errno), work.findings.look == nil { engine.loseUnseen(node) }
    return nil
  }

  var stopped: FSError? {
    if let error = engine.state.withLock({ $0.ending }) { return error }
    guard isCancelled.load(ordering: .acquiring) else { return nil }
    return FSError(.interrupted, "the refresh was given up")
  }

  // MARK: - The end

  /// Frees what nobody can reach any more, has the kernel forget what it knew, and answers when it has.
  private func finish(_ work: RefreshWork, _ error: FSError?) {
    var work = work
    for path in work.unknown {
      if case .absent = engine.resolve(path) {
        work.fail(path, FSError(.noSuchFileOrDirectory, "no such file or directory on this volume"))
      }
    }
    engine.adoptNewVersions()
    engine.dropUnbound()
    engine.nameUnreached(listing: nil)
    let orphans = engine.state.withLock { state in
      state.refreshes.endSettling()
      return state.namespace.takeOrphans()
    }
    engine.dispose(orphans)
    engine.keepOnlyCopies()
    engine.lookAtDoubted()
    let directories = work.findings.changedNames
    let left = Countdown(directories.count) { [self, work] in complete(work, error) }
    for (directory, names) in directories {
      engine.kernel.invalidateDirectory(engine.id(of: directory), names: { names }) { left.one() }
    }
  }

  private func complete(_ work: RefreshWork, _ error: FSError?) {
    engine.kernel.catchUp()
    let counts = work.findings.counts
    self.counts.withLock { $0 = counts }
    let now = engine.timer.now
    // A poll that finds nothing is no event.
    if by != .poll || counts.hasChanges || work.failureCount > 0 {
      let outcome: Outcome = error.map { $0.errno == .interrupted ? .cancelled : .failed($0.errno) } ?? .ok
      engine.events.record(
        .refreshFinished(
          Event.RefreshFinished(
            by: by, counts: counts, failures: work.failureCount, outcome: outcome, duration: now - startedAt,
            time: now)))
    }
    if let question = work.question { engine.presenters?.end(question) }
    engine.fetchPinned()
    engine.refreshEnded(self)
    guard isComplete.claim() else { return }
    completion(
      RefreshOutcome(counts: counts, failures: work.failures, failureCount: work.failureCount, error: error))
  }
}
