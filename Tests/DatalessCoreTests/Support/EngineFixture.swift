@testable import DatalessCore
import Synchronization

/// An engine with everything around it under the test's control.
final class EngineFixture: Sendable {
  let timer = ManualTimer()
  let lane = ManualLane()
  let content = MemoryContentStore()
  let kernel = RecordingKernel()
  let events = RecordingSink()
  let signals = ScriptedSignals()
  let processes = ScriptedProcesses()
  let store: ScriptedStore
  /// The same store, to an engine whose store waits.
  let waiting: ScriptedAsyncStore
  let engine: Engine
  private let nextWaiter = Atomic<UInt64>(1)

  init(
    _ store: ScriptedStore, _ configuration: EngineConfiguration = EngineConfiguration(),
    kind: StoreKind = .blocking, holders: (any HolderProbe)? = nil, presenters: (any ItemPresenters)? = nil
  ) {
    self.store = store
    waiting = ScriptedAsyncStore(store, lane)
    engine = Engine(
      configuration: configuration, store: kind == .blocking ? .blocking(store) : .async(waiting), content: content,
      timer: timer, blocking: lane, metadata: lane,
      kernel: kernel,
      events: events, signals: signals, processes: processes, holders: holders, presenters: presenters)
  }

  func makeWaiter() -> WaiterID { WaiterID(rawValue: nextWaiter.wrappingAdd(1, ordering: .relaxed).oldValue) }

  static func caller(_ thread: Int32 = 10, budgeted: Bool = false) -> Caller {
    Caller(
      process: ProcessID(rawValue: 1), threadID: thread, pid: thread, isMainThread: true, uid: 0, gid: 0,
      isBudgeted: budgeted)
  }

  /// Materializes and remembers the answer.
  @discardableResult
  func trigger(
    _ node: NodeID, _ request: TriggerRequest = TriggerRequest(trigger: .read, caller: EngineFixture.caller()),
    waiter: WaiterID? = nil, mayFetch: Bool = false
  ) -> Answer {
    let answer = Answer()
    let waiter = waiter ?? makeWaiter()
    switch engine.materialize(node, request, waiter: waiter, mayFetch: mayFetch, completion: { answer.set($0) }) {
    case .parked: break
    case .ready: answer.set(.ready)
    case .failed(let error): answer.set(.failed(error))
    }
    return answer
  }

  /// The place of a node's record; not to be asked for under the engine's lock.
  func index(_ node: NodeID) -> NodeIndex { engine.state.withLock { $0.namespace.index(of: node) } ?? .root }

  /// As `node`, for the kernel: it knows the node until it gives the lookup back.
  func lookUp(_ path: String) -> NodeID {
    // Listed first.
    _ = node(path)
    let parts = path.split(separator: "/")
    let directory = node(parts.dropLast().joined(separator: "/"))
    let found = Array((parts.last ?? "").utf8).withUnsafeBufferPointer { engine.lookup($0, in: directory) }
    guard case .found(let item) = found else { return NodeID(rawValue: 0) }
    return item.node
  }

  /// Lists the directories of a path, without latency, and returns its node.
  func node(_ path: String) -> NodeID {
    while true {
      switch engine.resolve(Array(path.utf8)) {
      case .found(let node): return node
      case .absent: return NodeID(rawValue: 0)
      case .insideDataless(let directory, _, _):
        trigger(directory, TriggerRequest(trigger: .lookup, caller: Self.caller()))
        lane.runAll()
        timer.advance(milliseconds: 0) { [lane] in lane.runAll() }
      }
    }
  }

  /// Opens a file, however its reads are served. - Returns: Its handle; 0 if it could not be opened.
  func open(_ node: NodeID, by process: UInt32 = 0) -> UInt64 {
    let process = process == 0 ? ProcessID.unknown : ProcessID(rawValue: process)
    return switch engine.open(node, process: process, openFlags: 0) {
    case .dataless(let handle), .resident(let handle), .passthrough(_, let handle): handle
    case .needsMaterialization, .isBeingEvicted, .failed: 0
    }
  }

  /// What an xattr call is answered with: the value, or `absent`, `ask`, `materialize`; nil for the list of names.
  func attribute(_ name: String?, of node: NodeID) -> String {
    func describe(_ answer: ExtendedAttributeAnswer) -> String {
      func text(_ bytes: [UInt8]?) -> String { bytes.map { " " + String(decoding: $0, as: UTF8.self) } ?? "" }
      return switch answer {
      case .value(let value): String(decoding: value, as: UTF8.self)
      case .absent: "absent"
      case .unsupported: "unsupported"
      case .ask(let listed): "ask" + text(listed)
      case .needsMaterialization(let listed): "materialize" + text(listed)
      }
    }
    guard let name else { return describe(engine.extendedAttributeCall(node, name: nil)) }
    return Array(name.utf8).withUnsafeBufferPointer { describe(engine.extendedAttributeCall(node, name: $0)) }
  }

  func list(_ path: String) {
    trigger(node(path), TriggerRequest(trigger: .readdir, caller: Self.caller()))
    lane.runAll()
  }

  func names(_ path: String) -> [String] {
    var names: [String] = []
    _ = engine.readDirectory(node(path), from: 0) { entry in
      names.append(String(decoding: entry.name, as: UTF8.self))
      return true
    }
    return names
  }
}

/// One waiter's answer.
final class Answer: Sendable {
  private let result = Mutex<[WaitResult]>([])
  func set(_ value: WaitResult) { result.withLock { $0.append(value) } }
  var count: Int { result.withLock { $0.count } }
  var isReady: Bool {
    result.withLock { if case .ready = $0.first { true } else { false } }
  }
  /// The errno's name; nil when ready or not answered.
  var errno: String? {
    result.withLock { if case .failed(let error) = $0.first { error.errno.name } else { nil } }
  }
}

final class RecordingSink: EventSink {
  private let recorded = Mutex<[(event: Event, hold: UInt64)]>([])
  private let hold = Mutex<(@Sendable () -> UInt64)?>(nil)
  func record(_ event: Event) {
    let number = hold.withLock { $0 }?() ?? 0
    recorded.withLock { $0.append((event, number)) }
  }
  var all: [Event] { recorded.withLock { $0.map(\.event) } }
  func clear() { recorded.withLock { $0 = [] } }

  /// Has each record note under which hold of the engine's lock it was made. - Parameter number: Asked by the lock's
  /// holder.
  func setHold(_ number: @escaping @Sendable () -> UInt64) { hold.withLock { $0 = number } }
  /// As many as `all`.
  var holds: [UInt64] { recorded.withLock { $0.map(\.hold) } }

  /// The kinds of events in order.
  var kinds: [String] {
    all.map { event in
      switch event {
      case .materializationStarted: "started"
      case .waitStarted: "wait"
      case .waitFinished: "waited"
      case .materializationFinished: "finished"
      case .accessStarted(let access): "access \(access.operation.rawValue)"
      case .accessFinished(let access): "accessed \(access.operation.rawValue) \(access.outcome?.name ?? "?")"
      case .handleClosed: "closed"
      case .handleOpen: "open"
      case .handleUnseen: "unseen"
      case .handleTogether: "together"
      case .evictionFinished: "evicted"
      case .evictionRefused: "refused"
      case .budgetExceeded: "exceeded"
      case .materializationRefused: "refused trigger"
      case .materializationHeld: "held"
      case .materializationReleased: "released"
      case .sourceChanged(let change): "source \(change.change.rawValue)"
      case .refreshFinished: "refreshed"
      case .changed(let change): "changed \(change.name)"
      case .coordination: "coordinated"
      case .presenter: "presented"
      case .conflict(let conflict): "conflict \(conflict.kind.rawValue)\(conflict.change == .found ? "" : " over")"
      }
    }
  }

  var finished: [Event.MaterializationFinished] {
    all.compactMap { if case .materializationFinished(let record) = $0 { record } else { nil } }
  }
  var started: [Event.MaterializationStarted] {
    all.compactMap { if case .materializationStarted(let record) = $0 { record } else { nil } }
  }
}

final class RecordingKernel: KernelCache {
  let calls = Mutex<[String]>([])
  /// Whether the notifier lane stands still.
  let isHeld = Atomic<Bool>(false)
  private let held = Mutex<[@Sendable () -> Void]>([])

  /// Lets the notifier lane go on.
  func release() {
    isHeld.store(false, ordering: .relaxed)
    while let next = held.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { next() }
  }

  private func run(_ work: @escaping @Sendable () -> Void) {
    if isHeld.load(ordering: .relaxed) { held.withLock { $0.append(work) } } else { work() }
  }

  /// Nodes whose answers have not arrived.
  let unknown = Mutex<Set<NodeID>>([])
  func invalidateAttributes(of node: NodeID) -> Bool {
    calls.withLock { $0.append("attributes \(node.rawValue)") }
    return unknown.withLock { !$0.contains(node) }
  }
  func expireNames() { calls.withLock { $0.append("names") } }
  func invalidateContent(of node: NodeID, completion: @escaping @Sendable (_ isKnown: Bool) -> Void) {
    run { [self] in
      calls.withLock { $0.append("content \(node.rawValue)") }
      completion(unknown.withLock { !$0.contains(node) })
    }
  }
  func invalidateDirectory(
    _ node: NodeID, names: @escaping @Sendable () -> [[UInt8]], completion: @escaping @Sendable () -> Void
  ) {
    run { [self] in
      let count = names().count
      calls.withLock { $0.append("directory \(node.rawValue) \(count)") }
      completion()
    }
  }
}

final class ScriptedProcesses: ProcessDirectory {
  let known = Mutex<[ProcessID: [ProcessFacts]]>([:])
  let questions = Atomic<Int>(0)
  let alive = Mutex<[ProcessFacts]>([])
  func running() -> [ProcessFacts] { alive.withLock { $0 } }
  func lineage(of process: ProcessID) -> [ProcessFacts] {
    questions.add(1, ordering: .relaxed)
    return known.withLock { $0[process] ?? [] }
  }
}

/// Settings as one number each.
extension EngineConfiguration {
  var keepsResidentChanges: Bool {
    get { simulation.profile.residentChanges == .keep }
    set { simulation.profile.residentChanges = newValue ? .keep : .stale }
  }
  var fixedLatency: Nanoseconds {
    get { 0 }
    set { simulation.latency = LatencyModel(.fixed(newValue)) }
  }
  var bandwidthBytesPerSecond: Int64? {
    get { simulation.bandwidth }
    set { simulation.bandwidth = newValue }
  }
  var concurrency: Int? {
    get { simulation.concurrency }
    set { simulation.concurrency = newValue }
  }
  var interruptMode: Simulation.InterruptMode {
    get { simulation.interrupt }
    set { simulation.interrupt = newValue }
  }
}

final class ScriptedSignals: SignalProbe {
  let pending = Mutex<[Int32: Bool?]>([:])
  func hasPendingFatalSignal(threadID: Int32) -> Bool? {
    pending.withLock { $0[threadID] ?? .some(false) }
  }
}
