internal import SystemPackage

extension Engine {
  /// Lists known directories of the store again. Nothing is fetched, and nothing is listed that was not.
  ///
  /// One at a time; a second one waits for the first. When `completion` is called, the kernel has forgotten what it
  /// knew of whatever changed.
  ///
  /// - Parameters:
  ///   - paths: Relative to the root. The directory that holds an item is listed; for a directory, all that is listed
  ///     below it, too.
  ///   - completion: Called exactly once, on another lane, or here if the volume is ending or the store offline.
  @discardableResult
  public func refresh(
    _ paths: [[UInt8]], by origin: RefreshOrigin, completion: @escaping @Sendable (RefreshOutcome) -> Void
  ) -> Refresh {
    let refresh = Refresh(
      engine: self, paths: paths, by: origin, keeps: simulation.profile.residentChanges == .keep, completion: completion
    )
    let (error, isFirst): (FSError?, Bool) = state.withLock { state in
      if let ending = state.ending { return (ending, false) }
      if state.simulation.isOffline { return (FSError(.timedOut, "the store is offline"), false) }
      state.reclamation.pin()
      return (nil, state.refreshes.add(refresh))
    }
    if let error { refresh.abort(error) }
    if isFirst { metadata.submit { refresh.begin() } }
    return refresh
  }

  func refreshEnded(_ refresh: Refresh) {
    let (next, isLeft) = state.withLock { state in
      (state.refreshes.remove(refresh), !state.refreshes.isRunning && state.namespace.news.hasUndecided)
    }
    unpin()
    if let next { metadata.submit { next.begin() } }
    // Directories that it has found gone were gone through before it had ended.
    guard isLeft else { return }
    metadata.submit { [self] in
      settleUnbound()
      disposeOfOrphans()
    }
  }

  /// Begins, changes or ends the poll, as the simulation has it. Called at the start and when it was changed.
  public func schedulePoll() {
    if let poll = state.withLock({ $0.refreshes.setPoll($0.simulation.poll) }) { schedule(poll) }
  }

  private func schedule(_ poll: RefreshQueue.Poll) {
    timer.schedule(at: timer.now + poll.interval) { [self] in
      guard state.withLock({ $0.refreshes.isWanted(poll) && $0.ending == nil }) else { return }
      refresh([[]], by: .poll) { [self] _ in
        if state.withLock({ $0.refreshes.isWanted(poll) }) { schedule(poll) }
      }
    }
  }

  /// The index of a node that is a listed directory; nil for any other.
  func listedDirectory(_ node: NodeID) -> NodeIndex? {
    state.withLock { state in
      guard let index = state.namespace.index(of: node), state.namespace[index].isListed else { return nil }
      return index
    }
  }

  func id(of node: NodeIndex) -> NodeID { state.withLock { $0.namespace.id(of: node) } }
  func path(of node: NodeIndex) -> [UInt8] { state.withLock { $0.namespace.path(of: node) } }

  /// Starts the new listing of a directory; nil when it is not a listed one (any more).
  ///
  /// - Parameter isOwn: As `EngineState.beginRefresh`.
  func beginRefresh(
    of directory: NodeIndex, recurses: Bool, isOwn: Bool = false
  ) -> (RefreshFindings.Place, StoreBinding?)? {
    var yielder = LockYielder(timer)
    while true {
      switch state.withLock({ $0.beginRefresh(of: directory, recurses: recurses, isOwn: isOwn) }) {
      case .begun(let place, let item): return (place, item)
      case .notListed: return nil
      case .indexing: yielder.yieldIfDue()
      }
    }
  }

  /// Decides about what the store has no more, when a refresh has listed all.
  ///
  /// - Returns: The listed directories among that, which have become the volume's own because of what was changed in
  ///   them: the rest of them is to go. And those of the store's that are seen again where they lay behind such.
  func takeDecidedDirectories() -> (own: [NodeIndex], shown: [NodeIndex]) {
    dropUnbound()
    return state.withLock { ($0.namespace.takeOwnDirectories(), $0.namespace.takeShownDirectories()) }
  }

  /// Takes some entries of a directory that is listed again; as `EngineState.observe`.
  func observe(
    _ batch: ListingBatch, _ range: Range<Int>, in place: RefreshFindings.Place, findings: inout RefreshFindings
  ) -> Bool {
    let isCurrent = state.withLock { $0.observe(batch, range, in: place, findings: &findings, now: timer.now) }
    tellChangedNodes()
    return isCurrent
  }

  /// The kernel keeps attributes until it is told otherwise.
  func tellChangedNodes() {
    let changed = state.withLock { $0.namespace.news.takeChanged() }
    if !changed.isEmpty { forgetAttributes(of: changed) }
  }
}
