internal import Synchronization
internal import SystemPackage

/// What an eviction of one item did.
public enum EvictionResult: Sendable {
  /// The item is dataless now. `bytes`: content dropped; `wasResident` false when there was nothing to do.
  case evicted(bytes: Int64, wasResident: Bool)
  case refused(EvictionRefusal)
}

extension Engine {
  /// How long an eviction waits for a close that is under way: close(2) returns before RELEASE arrives.
  static let closeGrace = Nanoseconds.milliseconds(250)
  private static let lookAgain = Nanoseconds.milliseconds(20)

  /// Makes one file or directory dataless. A directory's children must be dataless already.
  ///
  /// Refusals (`EvictionRefusal`): EBUSY (open handles, after waiting up to 250 ms for a close; an attempt in flight; a
  /// directory with local children), EMLINK (a file with several names), EPERM (pinned). Other kinds of items are left
  /// as they are.
  ///
  /// - Parameters:
  ///   - askedAt: When the eviction was asked for, which is what the wait for a close counts from. Default: now.
  ///   - completion: Called exactly once, possibly before this returns.
  public func evict(
    _ node: NodeID, by: String, askedAt: MonotonicTime? = nil, completion: @escaping @Sendable (EvictionResult) -> Void
  ) {
    evict(
      node, by: by, deadline: (askedAt ?? timer.now) + Self.closeGrace, cleared: nil, completion)
  }

  func evict(
    _ node: NodeID, by: String, deadline: MonotonicTime, cleared: UInt64?,
    _ completion: @escaping @Sendable (EvictionResult) -> Void
  ) {
    let now = timer.now
    let once = OnceFlag()
    let again: @Sendable () -> Void = { [self] in
      if once.claim() { evict(node, by: by, deadline: deadline, cleared: nil, completion) }
    }
    let decision: EvictionDecision = state.withLock { state in
      state.decideEviction(node, mayWait: now < deadline, cleared: cleared, again)
    }
    switch decision {
    case .wait(let position, let number):
      timer.schedule(at: deadline) { [self] in
        state.withLock { $0.openFiles.stopWaiting(number, forCloseOf: position) }
        again()
      }
    case .look(let reference, let lastOpen):
      blocking.submit { [self] in
        if !content.isUsedElsewhere(reference) {
          evict(node, by: by, deadline: deadline, cleared: lastOpen, completion)
        } else if timer.now < deadline {
          // A close may be under way here too.
          timer.schedule(at: timer.now + Self.lookAgain, again)
        } else {
          refuse(node, EvictionRefusal(.mapped, "still mapped"), kind: .file, by: by, completion)
        }
      }
    case .nothing: completion(.evicted(bytes: 0, wasResident: false))
    case .refused(let refusal, let kind): refuse(node, refusal, kind: kind, by: by, completion)
    case .file(let reference, let bytes, let path, let newVersion):
      kernel.invalidateContent(of: node) { [self] isKnown in
        endDrop(of: node)
        if !isKnown { forgetOnceKnown([node]) }
        removeContent(reference)
        guard let newVersion else { return finishEviction(of: path, kind: .file, bytes: bytes, by: by, completion) }
        adoptNewVersions()
        kernel.invalidateDirectory(newVersion.directory, names: { [newVersion.name] }) { [self] in
          finishEviction(of: path, kind: .file, bytes: bytes, by: by, isSuperseded: true, completion)
        }
      }
    case .directory(let path):
      kernel.invalidateDirectory(node, names: { [self] in names(in: node) }) { [self] in
        unpin()
        finishEviction(of: path, kind: .directory, bytes: 0, by: by, completion)
      }
    }
  }

  /// The kernel has dropped the pages of an evicted file: it may be opened again.
  func endDrop(of node: NodeID) {
    for goOn in state.withLock({ $0.pageDrops.end(of: node) }) { goOn() }
  }

  private func refuse(
    _ node: NodeID, _ refusal: EvictionRefusal, kind: MaterializationKind, by: String,
    _ completion: @Sendable (EvictionResult) -> Void
  ) {
    let (path, names) = state.withLock { state in
      state.namespace.index(of: node).map { (state.namespace.path(of: $0), state.namespace.paths(of: $0)) } ?? ([], [])
    }
    var event = Event.EvictionRecord(path: path, kind: kind, bytes: 0, errno: refusal.errno, by: by, time: timer.now)
    event.names = names
    event.reason = refusal.reason
    events.record(.evictionRefused(event))
    completion(.refused(refusal))
  }

  private func finishEviction(
    of path: [UInt8], kind: MaterializationKind, bytes: Int64, by: String, isSuperseded: Bool = false,
    _ completion: @Sendable (EvictionResult) -> Void
  ) {
    var event = Event.EvictionRecord(path: path, kind: kind, bytes: bytes, errno: nil, by: by, time: timer.now)
    event.isSuperseded = isSuperseded
    state.withLock { state in
      state.ledger.countEviction()
      let areas = state.simulation.areas
      guard by == "quota" || by == "pressure", let place = areas.place(of: path) else { return }
      event.area = areas.area(place).name
      if case .purge(let reason, _) = state.purges.stage(of: place, in: areas) { event.purge = reason }
    }
    events.record(.evictionFinished(event))
    completion(.evicted(bytes: bytes, wasResident: true))
  }

  enum EvictionDecision {
    /// For the last close, or for the deadline: then it no longer asks to be told.
    case wait(position: NodeIndex, number: UInt64)
    case nothing
    case refused(EvictionRefusal, kind: MaterializationKind)
    /// Find out first whether the content file is mapped past the daemon, as of the last passthrough open.
    case look(ContentID, lastOpen: UInt64)
    /// `newVersion`: the name that leads to another version now.
    case file(
      ContentID, bytes: Int64, path: [UInt8], newVersion: (directory: NodeID, name: [UInt8])?)
    case directory(path: [UInt8])
  }

  /// The names that the kernel may know of a directory that has become dataless, a page at a time: those that a listing
  /// has dropped since, too, while the notifier was busy.
  private func names(in node: NodeID) -> [[UInt8]] {
    guard let position = state.withLock({ $0.namespace.index(of: node) }) else { return [] }
    var names: [[UInt8]] = []
    var cursor: NameCursor? = .start
    while let start = cursor {
      cursor = state.withLock { $0.namespace.copyNames(of: position, from: start, limit: 256, into: &names) }
    }
    return names
  }
}

/// Lets exactly one of several callers through.
final class OnceFlag: Sendable {
  private let taken = Atomic<Bool>(false)
  func claim() -> Bool { !taken.exchange(true, ordering: .acquiringAndReleasing) }
}

extension EngineState {
  /// Decides about an eviction and marks the item dataless if it is granted.
  ///
  /// - Parameter cleared: The last passthrough open after which the content file was found unused.
  mutating func decideEviction(
    _ node: NodeID, mayWait: Bool, cleared: UInt64?, _ again: @escaping @Sendable () -> Void
  ) -> Engine.EvictionDecision {
    guard let position = namespace.index(of: node) else { return .nothing }
    // It may be empty in its record, and not any more.
    catchUp(position)
    let record = namespace[position]
    guard record.canBeDataless, record.state != .dataless else { return .nothing }
    let path = namespace.path(of: position)
    let kind = record.materializationKind
    let content = content(of: position)
    if content.isBeingWritten {
      return .refused(EvictionRefusal(.inFlight, "an attempt is in flight"), kind: kind)
    }
    if kind == .file, record.linkCount > 1 {
      let message = "the file has \(record.linkCount) names (hard links)"
      return .refused(EvictionRefusal(.severalNames, message), kind: kind)
    }
    if content.isDirty {
      return .refused(EvictionRefusal(.dirty, "it was written to on the volume, and is nowhere else"), kind: kind)
    }
    if writing != .readOnly, namespace.binding(of: position) == nil {
      return .refused(EvictionRefusal(.own, "it is the volume's own, and is nowhere else"), kind: kind)
    }
    if pageDrops.isUnderWay(of: node) {
      return .refused(EvictionRefusal(.dropping, "the pages of an earlier eviction are being dropped"), kind: kind)
    }
    if policy(of: position).keepsContent {
      return .refused(EvictionRefusal(.pinned, "it is pinned, or lies in a directory that is"), kind: kind)
    }
    let open = openFiles.count(of: position)
    if open > 0 {
      if mayWait {
        return .wait(position: position, number: openFiles.waitForClose(of: position, again))
      }
      let message = open == 1 ? "1 open handle" : "\(open) open handles"
      return .refused(EvictionRefusal(.open, message), kind: kind)
    }
    if kind == .file {
      if let lastOpen = content.work.lastPassthroughOpen, lastOpen != cleared {
        return .look(record.content, lastOpen: lastOpen)
      }
      guard let dropped = evictContent(of: position) else { return .nothing }
      // A READ of it that waits, at a gate perhaps, has its page locked in the kernel, and the drop would wait for that
      // page, with every other drop behind it. Nobody has it open, so there is none; nobody opens it before the drop is
      // done, so none comes.
      pageDrops.begin(of: node)
      return .file(
        removable(dropped.reference, of: position) ?? .none, bytes: dropped.bytes, path: path,
        newVersion: dropped.newer.flatMap { namespace.supersede(position, by: $0) })
    }
    if record.localChildCount > 0 {
      let message =
        record.localChildCount == 1
        ? "1 of its children is not dataless" : "\(record.localChildCount) of its children are not dataless"
      return .refused(EvictionRefusal(.children, message), kind: kind)
    }
    let changes = namespace.changeCount(in: position)
    if changes > 0 {
      let names = changes == 1 ? "1 name in it was" : "\(changes) names in it were"
      return .refused(EvictionRefusal(.children, "\(names) changed on the volume"), kind: kind)
    }
    if namespace.isChanged(position) {
      return .refused(EvictionRefusal(.children, "something in it was changed on the volume"), kind: kind)
    }
    _ = evictContent(of: position)
    // Until the kernel was told of its names.
    reclamation.pin()
    return .directory(path: path)
  }

  /// Takes away what of an item is local, and what was planned and remembered because of it.
  mutating func evictContent(of node: NodeIndex) -> ItemContent.Dropped? {
    let size = namespace[node].size
    planned.drop(node)
    passed.end(node)
    failures.forgetPages(of: namespace.id(of: node))
    return updateContent(of: node) { $0.evict(size: size) }
  }
}
