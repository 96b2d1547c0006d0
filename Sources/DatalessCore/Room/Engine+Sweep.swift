internal import Synchronization
internal import SystemPackage

/// Purges what areas let go, and evicts what was used least recently: never what is open or pinned, and what is dirty
/// only where an area says that it is purged.
///
/// All files are looked at, some under each lock, for those that go first; these go, some at a time, until there is
/// room. On the metadata lane.
extension Engine {
  enum Sweep {
    /// Until there is no more than the limit, and room for who waits first.
    case quota
    case pressure(PressureSweep)
  }

  /// LIMIT: records looked at under one lock, and files evicted at the same time.
  private static let scanStep = 1024
  private static let evictedAtOnce = 64
  /// How long a sweep waits for the visit of what an earlier run has kept, before it takes what is known. LIMIT: of a
  /// visit that takes longer than this, what was used least recently is perhaps not known.
  static let visitWait = Nanoseconds.seconds(2)
  /// How old a visit may be that is still waited for where what is known is not enough.
  static let visitMax = Room.patience

  func sweep(_ sweep: Sweep) {
    metadata.submit { [self] in
      forgetOldLook(sweep)
      step(sweep, .begun)
    }
  }

  /// What an earlier sweep has left to choose from knows nothing of apps that have begun to run since, nor of files
  /// that are to go before all others.
  private func forgetOldLook(_ sweep: Sweep) {
    var isAsked = false
    if case .pressure = sweep { isAsked = true }
    state.withLock { state in
      guard !state.simulation.areas.isEmpty, state.room.isStale(timer.now, isAsked: isAsked) else { return }
      state.room.forgetOffers()
    }
  }

  /// How far a sweep has looked for files that can go.
  private enum Stage {
    case begun
    /// What an earlier run has kept is known, too, as far as that did not take too long.
    case hasVisited
    /// All files that are known have been offered.
    ///
    /// - Parameter isVisiting: Whether others were still looked for.
    case hasLooked(isVisiting: Bool)
  }

  /// Evicts the next files, and goes on when they are gone.
  private func step(_ sweep: Sweep, _ begin: Stage) {
    var stage = begin
    while true {
      let (wanted, batch): (Int64, [EvictionCandidates.Candidate]) = state.withLock { state in
        let wanted = state.ending == nil ? wantedBytes(sweep, state.room.shortage(used: state.localBytes())) : 0
        return (wanted, wanted > 0 ? state.takeFirst(wanted, limit: Self.evictedAtOnce) : [])
      }
      guard wanted > 0 else { return end(sweep, isExhausted: false) }
      if !batch.isEmpty { return evict(batch, for: sweep, at: stage) }
      switch stage {
      case .begun:
        stage = .hasVisited
        let (now, began) = (timer.now, savedContent.began)
        guard configuration.savedState != nil, savedContent.isWorthVisiting(now) else { continue }
        let until = (began ?? now) + Self.visitWait
        if now < until { return visit(until: until) { [self] in step(sweep, .hasVisited) } }
      case .hasVisited:
        let isVisiting = savedContent.began != nil
        lookAtAll()
        stage = .hasLooked(isVisiting: isVisiting)
      case .hasLooked(isVisiting: true):
        guard let began = savedContent.began else {
          // It has ended meanwhile.
          stage = .hasVisited
          continue
        }
        let now = timer.now
        guard now < began + Self.visitMax else { return end(sweep, isExhausted: true) }
        return visit(until: min(now + Self.visitWait, began + Self.visitMax)) { [self] in step(sweep, .hasVisited) }
      case .hasLooked(isVisiting: false): return end(sweep, isExhausted: true)
      }
    }
  }

  /// Looks where an earlier run has kept content, and waits for that for a time: a directory may be slow, or hang, and
  /// there are others that can go. The visit goes on by itself.
  ///
  /// - Parameter body: Called once, on the metadata lane.
  private func visit(until: MonotonicTime, _ body: @escaping @Sendable () -> Void) {
    let once = OnceFlag()
    let goOn: @Sendable () -> Void = { [self] in if once.claim() { metadata.submit(body) } }
    let token = timer.schedule(at: until, goOn)
    visitSavedContent(of: []) { [self] in
      timer.cancel(token)
      goOn()
    }
  }

  private func wantedBytes(_ sweep: Sweep, _ shortage: Int64) -> Int64 {
    switch sweep {
    case .quota: shortage
    case .pressure(let pressure): pressure.left
    }
  }

  private func lookAtAll() {
    lookAtApps()
    var next: NodeIndex? = .root
    var yielder = LockYielder(timer)
    while let start = next {
      yielder.yieldIfDue()
      next = state.withLock { $0.ending == nil ? $0.offerSome(from: start, limit: Self.scanStep) : nil }
    }
    state.withLock { $0.room.noteLook(timer.now) }
  }

  private func evict(_ batch: [EvictionCandidates.Candidate], for sweep: Sweep, at stage: Stage) {
    let left = Countdown(batch.count) { [self] in
      // Content of a kept volume gives its room back when it is known after a crash, too, that it went; and somebody
      // waits for that room.
      if writing == .kept { whenDurable(state.withLock { $0.journal.last }) { _ in } }
      metadata.submit { [self] in step(sweep, stage) }
    }
    if case .pressure(let pressure) = sweep, let presenters, presenters.areThere, pressure.mayAsk {
      return ask(presenters, about: batch, pressure) { left.one() }
    }
    for candidate in batch {
      take(candidate, sweep) {
        left.one()
      }
    }
  }

  /// Takes files for pressure: those that somebody presents, when he has answered. Nobody who reads waits for these;
  /// the quota, for which somebody does, asks nobody.
  ///
  /// - Parameter completion: Called for each of them.
  private func ask(
    _ presenters: any ItemPresenters, about batch: [EvictionCandidates.Candidate], _ pressure: PressureSweep,
    completion: @escaping @Sendable () -> Void
  ) {
    var known: [EvictionCandidates.Candidate] = []
    var paths: [[UInt8]] = []
    state.withLock { state in
      for candidate in batch {
        guard let node = state.namespace.index(of: candidate.node) else { continue }
        known.append(candidate)
        paths.append(state.namespace.path(of: node))
      }
    }
    // Gone since they were chosen.
    for _ in known.count..<batch.count { completion() }
    let now = timer.now
    let question = ItemQuestion(.evict, paths: paths, until: now + pressure.patience, splits: true)
    presenters.ask(question) { [self, known] places, number in
      let answered = places.map { known[$0] }
      metadata.submit { [self] in
        if number != nil { pressure.noteAsked(timer.now - now) }
        takeAsked(answered, pressure, number: number, completion: completion)
      }
    }
  }

  /// - Parameter number: Under which presenters were asked; nil: nobody was.
  private func takeAsked(
    _ candidates: [EvictionCandidates.Candidate], _ pressure: PressureSweep, number: UInt64?,
    completion: @escaping @Sendable () -> Void
  ) {
    let left = Countdown(candidates.count) { [self] in if let number { presenters?.end(number) } }
    let done: @Sendable () -> Void = {
      left.one()
      completion()
    }
    let goesOn = !pressure.isStopped && state.withLock { $0.ending == nil }
    for candidate in candidates {
      if goesOn { take(candidate, .pressure(pressure), completion: done) } else { done() }
    }
  }

  private func take(
    _ candidate: EvictionCandidates.Candidate, _ sweep: Sweep, completion: @escaping @Sendable () -> Void
  ) {
    var by = "quota"
    if case .pressure = sweep { by = "pressure" }
    if candidate.rank != PurgeOrder.evictionRank, writing != .readOnly {
      return purge(candidate.node, by: by) { [self] purged in
        if purged == nil { noteUse(of: candidate.node) }
        if case .pressure(let pressure) = sweep, let purged { pressure.note(purged) }
        completion()
      }
    }
    evict(candidate.node, by: by, deadline: timer.now, cleared: nil) { [self] result in
      switch result {
      case .evicted(let bytes, let wasResident):
        if case .pressure(let pressure) = sweep, wasResident { pressure.note(evicted: bytes) }
      case .refused:
        noteUse(of: candidate.node)
      }
      completion()
    }
  }

  /// A file is used in some way that only the attempt tells: others are tried first from now on.
  private func noteUse(of id: NodeID) {
    state.withLock { state in
      if let node = state.namespace.index(of: id) { state.namespace.noteUse(state.room.nextUse(), of: node) }
    }
  }

  private func end(_ sweep: Sweep, isExhausted: Bool) {
    switch sweep {
    case .quota:
      state.withLock { $0.room.endSweep(isExhausted: isExhausted, timer.now) }
      settleRoom()
    case .pressure(let pressure): pressure.end()
    }
  }

  /// Simulates that the disk gets full: so much local content is to go, or as much as can.
  ///
  /// - Parameter completion: Called once.
  public func relieve(_ pressure: PressureSweep, completion: @escaping @Sendable (PressureResult) -> Void) {
    pressure.begin(completion)
    sweep(.pressure(pressure))
  }
}

/// What went under pressure.
public struct PressureResult: Sendable, Equatable {
  public var files: Int64 = 0
  /// In bytes, as sizes.
  public var bytes: Int64 = 0
  /// Of these, files whose names went, too.
  public var purgedFiles: Int64 = 0
  public var purgedBytes: Int64 = 0
  /// Of these, what programs had written, and nobody else has.
  public var lostBytes: Int64 = 0
}

/// A simulated shortage of room, while files go for it.
public final class PressureSweep: Sendable {
  private struct State {
    var result = PressureResult()
    /// What was given back on the disk.
    var room: Int64 = 0
    var isStopped = false
    var patience = ItemQuestion.answerMax
    var completion: (@Sendable (PressureResult) -> Void)?
  }

  private let wanted: Int64
  private let state = Mutex(State())

  /// - Parameter bytes: What is to go, 1 or more.
  public init(_ bytes: Int64) { wanted = bytes }

  func begin(_ completion: @escaping @Sendable (PressureResult) -> Void) {
    state.withLock { $0.completion = completion }
  }

  /// What is still to be given back on the disk, in bytes.
  var left: Int64 { state.withLock { $0.isStopped ? 0 : wanted - $0.room } }

  public var isStopped: Bool { state.withLock { $0.isStopped } }

  /// What went so far.
  public var soFar: PressureResult { state.withLock { $0.result } }

  /// No more files are to go.
  public func stop() { state.withLock { $0.isStopped = true } }

  /// How long it may still wait for presenters, of all that it asks: else many files and one silent program would be
  /// many waits.
  var patience: Nanoseconds { state.withLock { $0.patience } }
  var mayAsk: Bool { patience > .zero }

  /// It has waited for presenters.
  func noteAsked(_ time: Nanoseconds) { state.withLock { $0.patience -= time } }

  func note(evicted bytes: Int64) { note(bytes, room: Room.pages(bytes)) }

  private func note(_ bytes: Int64, room: Int64) {
    state.withLock { state in
      state.room = state.room.saturatingAdd(room)
      state.result.files += 1
      state.result.bytes = state.result.bytes.saturatingAdd(bytes)
    }
  }

  func note(_ purged: PurgedContent) {
    note(purged.bytes, room: purged.room)
    state.withLock { state in
      state.result.purgedFiles += 1
      state.result.purgedBytes = state.result.purgedBytes.saturatingAdd(purged.bytes)
      state.result.lostBytes = state.result.lostBytes.saturatingAdd(purged.lostBytes)
    }
  }

  func end() {
    let (completion, result) = state.withLock { state in
      defer { state.completion = nil }
      return (state.completion, state.result)
    }
    completion?(result)
  }
}
