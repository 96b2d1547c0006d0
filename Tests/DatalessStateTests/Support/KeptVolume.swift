import DatalessCore
@testable import DatalessState
import DatalessStores
import Glibc
import Synchronization
import SystemPackage

/// A volume over a directory that is kept in another one, without a kernel: an engine, as the daemon puts it together,
/// and calls by path.
final class KeptVolume {
  let state: StateVolume
  let engine: Engine
  let lane = ManualLane()
  private let timer = ManualTimer()
  private let waiters = Atomic<UInt64>(0)

  static let caller = Caller(
    process: ProcessID(rawValue: 1), threadID: 10, pid: 10, isMainThread: true, uid: 1000, gid: 1001)

  init(
    _ fixture: StateFixture, source: Scratch, _ edit: (inout EngineConfiguration) -> Void = { _ in }
  ) throws(FSError) {
    let store = try LocalStore(source: FilePath(source.path))
    state = try StateVolume(
      try fixture.directory(), source: source.path, root: store.root, lane: lane, timer: timer)
    var configuration = EngineConfiguration()
    configuration.writing = .kept
    configuration.journal = state.journal
    configuration.savedState = state
    configuration.firstMadeNumber = state.nextMadeNumber
    configuration.keptUses = state.keptUses
    configuration.timeOfDay = {
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      return Timestamp(seconds: Int64(now.tv_sec), nanoseconds: UInt32(now.tv_nsec))
    }
    edit(&configuration)
    engine = Engine(
      configuration: configuration, store: .blocking(store), content: state.content, timer: timer, blocking: lane,
      metadata: lane, kernel: NoKernel(), events: NoEvents(), signals: NoSignals(), processes: NoProcesses())
    try engine.restoreRoot()
  }

  /// Whether its end has left content that the next run looks for.
  private(set) var leavesContent = false

  /// As `unmount` does it.
  func unmount() throws(FSError) {
    engine.end(FSError(.timedOut, "the volume is being unmounted"))
    run()
    try state.keepUses(engine.uses(after: state.lastKeptUse))
    // As `unmount --wait`: what was removed is gone through.
    try state.journal.commit()
    run()
    leavesContent = engine.leavesContent
    try state.close(leavesContent: leavesContent)
    run()
  }

  func run() { lane.runAll() }

  func makeWaiter() -> WaiterID { WaiterID(rawValue: waiters.add(1, ordering: .relaxed).newValue) }

  // MARK: - Fetching

  /// Files and directories that were fetched, or listed, from SOURCE.
  var fetched: (files: Int64, directories: Int64) { (engine.totals.files, engine.totals.directories) }

  /// - Returns: The errno's name if it failed.
  @discardableResult
  func bring(_ node: NodeID, _ trigger: Trigger = .lookup) -> String? {
    let answer = Mutex<String?>("pending")
    let admission = engine.materialize(
      node, TriggerRequest(trigger: trigger, caller: Self.caller), waiter: makeWaiter()
    ) { result in
      if case .failed(let error) = result {
        answer.withLock { $0 = error.errno.name }
      } else {
        answer.withLock { $0 = nil }
      }
    }
    switch admission {
    case .ready: return nil
    case .failed(let error): return error.errno.name
    case .parked:
      run()
      return answer.withLock { $0 }
    }
  }

  /// nil for a path that does not exist; an errno's name if a directory on the way cannot be listed.
  func find(_ path: String) -> (node: NodeID?, errno: String?) {
    while true {
      switch engine.resolve(bytes(path)) {
      case .found(let node): return (node, nil)
      case .absent: return (nil, nil)
      case .insideDataless(let directory, _, _):
        if let errno = bring(directory) { return (nil, errno) }
      }
    }
  }

  func node(_ path: String) -> NodeID { find(path).node ?? NodeID(rawValue: 0) }

  func split(_ path: String) -> (parent: NodeID, name: [UInt8]) {
    let parts = path.split(separator: "/")
    let parent = node(parts.dropLast().joined(separator: "/"))
    bring(parent)
    return (parent, bytes(String(parts.last ?? "")))
  }

  // MARK: - The rest of a kernel and a daemon

  /// Lets the second pass after which changes are committed.
  func passSecond() {
    timer.passSecond()
    run()
  }

  /// How much content there is.
  var contents: Int {
    var count = 0
    state.content.forEachContent { _, _ in count += 1 }
    return count
  }

  /// The kernel gives all its lookups of an item back.
  func forget(_ node: NodeID) {
    engine.forget([(node: node, count: UInt64(1_000_000))])
    run()
  }

  func evict(_ path: String) {
    engine.evict(node(path), by: "command") { _ in }
    run()
  }
}

private struct NoKernel: KernelCache {
  func invalidateAttributes(of node: NodeID) -> Bool { true }
  func expireNames() {}
  func invalidateContent(of node: NodeID, completion: @escaping @Sendable (_ isKnown: Bool) -> Void) {
    completion(true)
  }
  func invalidateDirectory(
    _ node: NodeID, names: @escaping @Sendable () -> [[UInt8]], completion: @escaping @Sendable () -> Void
  ) { completion() }
}

private struct NoEvents: EventSink { func record(_ event: Event) {} }
private struct NoSignals: SignalProbe { func hasPendingFatalSignal(threadID: Int32) -> Bool? { false } }
private struct NoProcesses: ProcessDirectory {
  func lineage(of process: ProcessID) -> [ProcessFacts] { [] }
  func running() -> [ProcessFacts] { [] }
}
