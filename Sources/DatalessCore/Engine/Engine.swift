internal import Synchronization

/// The file system without a kernel: names, content states, attempts and their waiters.
///
/// Calls return at once on any lane. State changes happen under one lock, in a few statements each; what follows from
/// them (answers, invalidations, I/O) is returned as actions and performed after unlocking. No store, reply,
/// notification or await under the lock. What is called under it is listed in docs/LOCKING.md and never waits: the
/// event sink, so that the order of the log is the order in which things happened; clocks; the body of `readDirectory`;
/// a look at the bits of a content reference; `ContentWatch.look`.
public final class Engine: Sendable {
  let configuration: EngineConfiguration
  let store: EngineStore
  let content: any ContentStore
  let timer: any TimerLane
  /// For content, and for listings and metadata: large fetches that keep all threads of the one busy hold up none of
  /// the other.
  let blocking: any BlockingLane
  let metadata: any BlockingLane
  /// Tasks on these lanes, for a store whose calls wait.
  let blockingTasks: LaneExecutor
  let metadataTasks: LaneExecutor
  /// Removes content: nobody's call waits for it.
  let trashLane: any BlockingLane
  let removals: ContentRemovals
  /// How much had been changed (`Trash.changes`) when somebody waited last for room that did not come.
  let futileSearch = Atomic<UInt64>(.max)
  let kernel: any KernelCache
  let events: any EventSink
  let signals: any SignalProbe
  let processes: any ProcessDirectory
  /// nil: nobody asks who has a file open together.
  let holders: (any HolderProbe)?
  /// nil: nobody presents anything.
  let presenters: (any ItemPresenters)?
  /// Whether a short fetch may be done on a request thread.
  let isFastLocal: Bool
  /// Whether resident files may be opened for passthrough: until the kernel does not grant it, or refuses a backing for
  /// good.
  let passthrough: Atomic<Bool>
  /// Waiters whose pending signals will be looked at again.
  let looksWaiting = Atomic<Int>(0)
  /// Whether a rule evicts: looked at by every open.
  let plansEvictions: Atomic<Bool>
  /// Which operations the scenario delays (`AccessOperations`): looked at by every request.
  let delayedAccess: Atomic<UInt8>
  /// Whether there is a quota: looked at by whatever adds local content, or removes it.
  let limitsRoom: Atomic<Bool>
  /// Of what an earlier run has kept and the volume looks for by itself.
  let visited = VisitEnd()
  let savedContent = SavedContent()
  let state: AdaptiveMutex<EngineState>

  /// - Parameters:
  ///   - trash: A lane of its own for content that is to be removed. Default: `blocking`.
  ///   - holders: Whom to ask who has a file open together with a writer; nil: that is not recorded.
  ///   - presenters: Who is asked before rules and pressure evict, and before a refresh changes anything; nil: nobody.
  public init(
    configuration: EngineConfiguration, store: EngineStore, content: any ContentStore, timer: any TimerLane,
    blocking: any BlockingLane, metadata: any BlockingLane, trash: (any BlockingLane)? = nil,
    kernel: any KernelCache, events: any EventSink, signals: any SignalProbe, processes: any ProcessDirectory,
    holders: (any HolderProbe)? = nil, presenters: (any ItemPresenters)? = nil
  ) {
    self.configuration = configuration
    self.store = store
    self.content = content
    self.timer = timer
    self.blocking = blocking
    self.metadata = metadata
    trashLane = trash ?? blocking
    removals = ContentRemovals(gathers: trash != nil)
    blockingTasks = LaneExecutor(blocking)
    metadataTasks = LaneExecutor(metadata)
    isFastLocal = store.isFastLocal && content.isFastLocal
    passthrough = Atomic(configuration.passthrough)
    plansEvictions = Atomic(configuration.simulation.rules.decidesEviction)
    delayedAccess = Atomic(configuration.simulation.delayedAccess.rawValue)
    self.kernel = kernel
    self.events = events
    self.signals = signals
    self.processes = processes
    self.holders = holders
    self.presenters = presenters
    limitsRoom = Atomic(configuration.simulation.quota != nil)
    state = AdaptiveMutex(
      EngineState(
        configuration: configuration, root: store.root, events: events, now: timer.now, asksForHolders: holders != nil
      ) {
        content.allocatedBytes
      })
  }

  /// Performs what a state change asked for, in order. Called without the lock.
  ///
  /// - Parameter mayFetch: Whether this thread may do a short fetch itself; see `Engine.materialize`.
  func perform(_ actions: [Action], mayFetch: Bool = false) {
    for action in actions {
      switch action {
      case .invalidateAttributes(let node): forgetAttributes(of: [node])
      case .complete(let waiter, let result): waiter.completion(result)
      case .call(let closure): closure()
      case .delay(let attempt, let deadline):
        keep(timer.schedule(at: deadline) { [self] in delayElapsed(attempt) }, of: attempt)
      case .giveUp(let attempt, let deadline):
        keep(timer.schedule(at: deadline) { [self] in giveUp(attempt) }, of: attempt)
      case .cancelTimer(let token): timer.cancel(token)
      case .fetch(let attempt): startFetch(attempt, onCaller: mayFetch)
      case .cancel(let job): job.cancel()
      case .remove(let id): removeContent(id)
      case .dispose(let node): dispose([node])
      case .planEviction(let node): planEviction(node)
      case .whenDurable(let number, let completion): configuration.journal.whenDurable(number, completion)
      case .end(let ending): finishEnding(ending)
      case .fillSlots: fillSlots()
      case .settleRoom: settleRoom()
      case .emptyTrash: emptyTrash()
      case .fetchEagerly(let nodes): fetchEagerly(nodes)
      }
    }
  }
}

extension Engine {
  /// Waits until all that has changed so far would be there after a crash.
  ///
  /// - Parameter completion: Called once, perhaps before this returns; with why it cannot be made durable: EIO, ENOSPC.
  public func synchronize(_ completion: @escaping @Sendable (FSError?) -> Void) {
    perform([.whenDurable(state.withLock { $0.journal.last }, completion)])
  }

  /// Answers the waiters of an attempt when all of them are recorded.
  private func finishEnding(_ ending: AttemptEnding) {
    if !ending.isRecorded {
      while !ending.isRecorded { state.withLock { $0.record(ending, timer.now) } }
      unpin()
    }
    ending.answer()
  }

  /// A timer of an attempt is taken back when the attempt ends; at once when it has ended already.
  private func keep(_ token: TimerToken, of id: AttemptID) {
    let isLate: Bool = state.withLock { state in
      guard let attempt = state.attempts[id] else { return true }
      attempt.keep(token)
      return false
    }
    if isLate { timer.cancel(token) }
  }
}

/// Looks at the signals that wait for a blocked caller.
public protocol SignalProbe: Sendable {
  /// Whether SIGKILL is pending for the thread (every fatal signal becomes one); nil when the thread is gone.
  func hasPendingFatalSignal(threadID: Int32) -> Bool?
}
