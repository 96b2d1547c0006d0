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
  private let engine: Engine
  private let paths: [[UInt8]]
  private let startedAt: MonotonicTime
  private let completion: @Sendable (RefreshOutcome) -> Void
  private let isCancelled = Atomic<Bool>(false)
  private let isComplete = OnceFlag()
  /// Used by one lane thread at a time; the lock only carries the state from one to the next.
  private let work: Mutex<Work?>
  private let counts = Mutex(RefreshCounts())

  private struct Work {
    var findings: RefreshFindings
    /// Directories to be listed, the next one last.
    var directories: [(node: NodeIndex, recurses: Bool)] = []
    var walked: Set<NodeIndex> = []
    /// Paths that were asked for and were not known.
    var unknown: [[UInt8]] = []
    var failures: [(path: [UInt8], error: FSError)] = []
    var failureCount: Int64 = 0
    var rounds = 0
    var hasBegun = false
  }

  /// Entries of each kind of step under one lock: some tens of microseconds, those that are recorded included.
  private static let batchSize = 64
  private static let failuresMax = 1000
  /// LIMIT: renamed directories are gone through in so many rounds; a store that renames them meanwhile has no end.
  private static let roundsMax = 16

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
    work = Mutex(Work(findings: RefreshFindings(by: by, keeps: keeps)))
  }

  /// How far it has come.
  public var progress: RefreshCounts { counts.withLock { $0 } }

  /// Asks it to end with EINTR; what it has found so far stays. One that waits for another answers at once.
  public func cancel() {
    isCancelled.store(true, ordering: .releasing)
    if engine.state.withLock({ $0.refreshes.isWaiting(self) }) {
      abort(FSError(.interrupted, "the refresh was given up"))
    }
  }

  /// Ends it at once for whoever waits for it.
  func abort(_ error: FSError) {
    isCancelled.store(true, ordering: .releasing)
    guard isComplete.claim() else { return }
    completion(RefreshOutcome(counts: progress, failures: [], failureCount: 0, error: error))
  }

  /// One step. Runs on the metadata lane.
  func step() {
    guard var work = self.work.withLock({ $0.take() }) else { return }
    if !work.hasBegun {
      work.hasBegun = true
      findStart(&work)
    }
    var ending: FSError?
    if let next = work.directories.popLast() {
      ending = list(next.node, recurses: next.recurses, &work)
    } else if work.rounds < Self.roundsMax, work.findings.hasOpenEnds {
      work.rounds += 1
      settle(&work)
    } else {
      return finish(work, nil)
    }
    work.directories += work.findings.subdirectories.reversed().map { ($0, true) }
    work.findings.subdirectories.removeAll()
    counts.withLock { $0 = work.findings.counts }
    if let ending { return finish(work, ending) }
    self.work.withLock { $0 = work }
    engine.metadata.submit { self.step() }
  }

  // MARK: - Where to look

  /// A path means the directory that holds it, whose listing tells of the item itself; and for a directory, all that is
  /// listed below it.
  private func findStart(_ work: inout Work) {
    for path in paths {
      switch engine.resolve(path) {
      case .found(let node):
        if let node = engine.listedDirectory(node) { work.directories.append((node, true)) }
      case .absent: work.unknown.append(path)
      case .insideDataless: continue
      }
    }
    var known = Set(work.directories.map(\.node))
    // Taken from the end: what holds an item first, since its listing may say that the item is another one now.
    for path in paths {
      var parent = path
      while !parent.isEmpty {
        parent = parent.lastIndex(of: UInt8(ascii: "/")).map { Array(parent[..<$0]) } ?? []
        guard case .found(let found) = engine.resolve(parent), let node = engine.listedDirectory(found) else {
          continue
        }
        if known.insert(node).inserted { work.directories.append((node, false)) }
        break
      }
    }
  }

  // MARK: - One directory

  /// - Returns: Why the whole refresh cannot go on.
  private func list(_ node: NodeIndex, recurses: Bool, _ work: inout Work) -> FSError? {
    if let error = stopped { return error }
    if recurses, !work.walked.insert(node).inserted { return nil }
    let isRoot = node == .root
    guard let (place, item) = engine.beginRefresh(of: node, recurses: recurses) else { return nil }
    do throws(FSError) {
      if isRoot {
        let listed = try engine.store.currentRoot()
        engine.state.withLock { $0.refreshRoot(listed, findings: &work.findings, now: engine.timer.now) }
      }
      var isCurrent = true
      var yielder = LockYielder(engine.timer)
      try engine.store.list(item) { (batch: ListingBatch) throws(FSError) in
        var start = 0
        while start < batch.count, isCurrent {
          if let error = stopped { throw error }
          let end = min(start + Self.batchSize, batch.count)
          isCurrent = engine.observe(batch, start..<end, in: place, findings: &work.findings)
          start = end
          yielder.yieldIfDue()
        }
        counts.withLock { $0 = work.findings.counts }
      }
      var cursor: NameCursor? = isCurrent ? .start : nil
      while let position = cursor {
        cursor = engine.state.withLock {
          $0.collectVanished(place, from: position, limit: 1024, &work.findings)
        }
        yielder.yieldIfDue()
      }
      engine.tellChangedNodes()
      work.findings.counts.directories += 1
      return nil
    } catch {
      if let error = stopped { return error }
      // It has changed since its own entry was listed: the next refresh will see what it is.
      let isRace: [Errno] = [.noSuchFileOrDirectory, .staleNFSFileHandle, .notDirectory]
      if isRoot || !isRace.contains(error.errno) { fail(engine.path(of: node), error, in: &work) }
      return nil
    }
  }

  private var stopped: FSError? {
    if let error = engine.state.withLock({ $0.ending }) { return error }
    guard isCancelled.load(ordering: .acquiring) else { return nil }
    return FSError(.interrupted, "the refresh was given up")
  }

  private func fail(_ path: [UInt8], _ error: FSError, in work: inout Work) {
    work.failureCount += 1
    if work.failures.count < Self.failuresMax { work.failures.append((path, error)) }
  }

  // MARK: - What changed

  /// Names that came are matched with names that went, then put in; then what went is taken away.
  private func settle(_ work: inout Work) {
    var deferred = work.findings.deferred
    let vanished = work.findings.vanished
    work.findings.deferred = []
    work.findings.vanished = []
    var formers: [StoreIdentity: RefreshFindings.Former] = [:]
    if !deferred.isEmpty {
      let wanted = Set(deferred.map { StoreIdentity($0.item.attributes) })
      inSteps(of: 256, vanished) { state, part in state.noteFormer(part, wanted: wanted, formers: &formers) }
      inSteps(of: 64, deferred) { state, part in
        state.noteFormer(part.compactMap { state.name(of: $0) }, wanted: wanted, formers: &formers)
      }
      askGenerations(&deferred, formers)
    }
    inSteps(of: 32, deferred) { state, part in
      for item in part { state.settle(item, formers: &formers, findings: &work.findings, now: engine.timer.now) }
    }
    inSteps(of: 64, vanished) { state, part in
      for name in part { state.dropVanished(name, findings: &work.findings, now: engine.timer.now) }
    }
    engine.tellChangedNodes()
  }

  /// Asks the store for what tells a renamed item from a new one with its inode number, where something was noted to
  /// compare with.
  private func askGenerations(
    _ deferred: inout [RefreshFindings.Deferred], _ formers: [StoreIdentity: RefreshFindings.Former]
  ) {
    var yielder = LockYielder(engine.timer)
    for index in deferred.indices {
      yielder.yieldIfDue()
      let binding: StoreBinding? = engine.state.withLock { state in
        let item = deferred[index]
        guard state.needsGeneration(item, formers) else { return nil }
        let directory = state.namespace.binding(of: item.place.directory)
        return directory.map { StoreBinding(key: $0.childKey(item.name), version: item.item.version) }
      }
      if let binding { deferred[index].generation = engine.store.generation(of: binding) }
    }
  }

  private func inSteps<Element>(
    of size: Int, _ elements: [Element], _ body: (inout EngineState, ArraySlice<Element>) -> Void
  ) {
    var start = 0
    var yielder = LockYielder(engine.timer)
    while start < elements.count {
      let end = min(start + size, elements.count)
      engine.state.withLock { body(&$0, elements[start..<end]) }
      start = end
      yielder.yieldIfDue()
    }
  }

  // MARK: - The end

  /// Frees what nobody can reach any more, has the kernel forget what it knew, and answers when it has.
  private func finish(_ work: Work, _ error: FSError?) {
    var work = work
    for path in work.unknown {
      if case .absent = engine.resolve(path) {
        fail(path, FSError(.noSuchFileOrDirectory, "no such file or directory on this volume"), in: &work)
      }
    }
    engine.dispose(
      engine.state.withLock { state in
        state.namespace.dropUnbound(use: state.itemUse)
        return state.namespace.takeOrphans()
      })
    let directories = work.findings.changedNames
    let left = Countdown(directories.count) { [self, work] in complete(work, error) }
    for (directory, names) in directories {
      engine.kernel.invalidateDirectory(engine.id(of: directory), names: { names }) { left.one() }
    }
  }

  private func complete(_ work: Work, _ error: FSError?) {
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
    engine.refreshEnded(self)
    guard isComplete.claim() else { return }
    completion(
      RefreshOutcome(counts: counts, failures: work.failures, failureCount: work.failureCount, error: error))
  }
}

extension RefreshFindings {
  var hasOpenEnds: Bool { !deferred.isEmpty || !vanished.isEmpty }
}

/// Calls an action when the last of several parts is done; at once when there are none.
private final class Countdown: Sendable {
  private let left: Atomic<Int>
  private let action: @Sendable () -> Void

  init(_ count: Int, _ action: @escaping @Sendable () -> Void) {
    left = Atomic(count)
    self.action = action
    if count == 0 { action() }
  }

  func one() { if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { action() } }
}
