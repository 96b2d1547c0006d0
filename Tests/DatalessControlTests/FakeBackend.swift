import DatalessControl
import DatalessCore
import DatalessScenario
import Glibc
import SystemPackage
import Synchronization

@testable import DatalessDaemon

/// A volume that answers what a test says and notes what it was asked.
final class FakeBackend: ControlBackend {
  private struct State {
    var queries: [ItemQuery] = []
    var paths: [[UInt8]] = []
    var labels: [String] = []
    var runs: [RunFinishedRequest] = []
    var orders: [String] = []
  }

  private let state = Mutex(State())
  let eventStream = AsyncStream<[UInt8]>.makeStream()
  /// Ends when the test lets it, to keep a request under way.
  let hold = AsyncStream<Void>.makeStream()
  /// Has an element when a held request has begun.
  let held = AsyncStream<Void>.makeStream()
  /// Has an element when a held request was cancelled.
  let cancelled = AsyncStream<Void>.makeStream()
  /// Has an element when unmount was called.
  let unmounted = AsyncStream<Void>.makeStream()

  var queries: [ItemQuery] { state.withLock { $0.queries } }
  var paths: [[UInt8]] { state.withLock { $0.paths } }
  var labels: [String] { state.withLock { $0.labels } }
  var runs: [RunFinishedRequest] { state.withLock { $0.runs } }

  /// What was asked of gates and scenario, in words.
  var orders: [String] { state.withLock { $0.orders } }
  private func note(_ order: String) { state.withLock { $0.orders.append(order) } }

  func status() async throws -> VolumeStatus { WireSamples.status }

  func items(_ query: ItemQuery) async throws -> ItemPage {
    state.withLock { $0.queries.append(query) }
    if query.path == bytes("missing") { throw FSError(.noSuchFileOrDirectory, "there is no such item") }
    let item = VolumeItem(
      path: query.path, kind: "file", state: "dataless", sizeBytes: 1, localBytes: 0, mode: 0o100644, inode: 2,
      openHandles: 0)
    return ItemPage(items: [item], next: query.after == nil ? "a+b/c =" : nil)
  }

  func materialize(
    _ paths: [[UInt8]], progress: @escaping @Sendable (TransferProgress) async throws -> Void
  ) async throws -> TransferResult {
    state.withLock { $0.paths = paths }
    if paths.first == bytes("hold") {
      held.continuation.yield()
      for await _ in hold.stream {}
      if Task.isCancelled {
        cancelled.continuation.yield()
        return TransferResult(files: 7, directories: 0, bytes: 70, isInterrupted: true, unfinished: paths)
      }
    }
    if paths.first == bytes("broken") { throw FSError(.ioError, "the store is broken") }
    for count in 1...3 as ClosedRange<Int64> {
      try await progress(TransferProgress(files: count, directories: 0, bytes: count * 10))
    }
    return TransferResult(
      files: 3, directories: 1, bytes: 30,
      failures: [PathFailure(path: [0xff], errno: "ESTALE", message: "changed")], failureCount: 1)
  }

  func evict(
    _ paths: [[UInt8]], stops: Bool, progress: @escaping @Sendable (TransferProgress) async throws -> Void
  ) async throws -> TransferResult {
    state.withLock { $0.paths = paths }
    note(stops ? "evict stops" : "evict goes on")
    return TransferResult(
      files: 0, directories: 0, bytes: 0, refused: PathFailure(path: bytes("a"), errno: "EBUSY", message: "is open"))
  }

  func pin(_ paths: [[UInt8]], policy: ContentPolicy) async throws -> TransferResult {
    state.withLock { $0.paths = paths }
    note("pin \(policy.rawValue)")
    return TransferResult(files: Int64(paths.count), directories: 0, bytes: 0)
  }

  func unpin(_ paths: [[UInt8]]) async throws -> TransferResult {
    state.withLock { $0.paths = paths }
    note("unpin")
    return TransferResult(files: Int64(paths.count), directories: 0, bytes: 0)
  }

  func press(
    _ bytes: Int64, progress: @escaping @Sendable (TransferProgress) async throws -> Void
  ) async throws -> TransferResult {
    note("press \(bytes)")
    return TransferResult(files: 1, directories: 0, bytes: bytes)
  }

  func reset(by: ChangeOrigin) async throws -> ResetAnswer {
    note("reset by \(by.rawValue)")
    return WireSamples.reset
  }

  func capacity() async throws -> CapacityAnswer { WireSamples.capacity }

  func coordination() async throws -> CoordinationStatus { WireSamples.coordination }

  func inventory(
    _ path: [UInt8], since mark: String?, progress: @escaping @Sendable (InventoryProgress) async throws -> Void
  ) async throws -> InventoryReport {
    note("inventory \(String(decoding: path, as: UTF8.self)) since \(mark ?? "the mount")")
    try await progress(InventoryProgress(items: 1, comparedBytes: 2))
    return WireSamples.inventory
  }

  func remove(_ paths: [[UInt8]], by peer: ControlPeer) async throws -> RemoveAnswer {
    state.withLock { $0.paths = paths }
    note("remove by \(peer.uid == geteuid() ? "us" : "\(peer.uid)")")
    return RemoveAnswer(items: Int64(paths.count), directories: 0, bytes: 0)
  }

  func refresh(
    _ paths: [[UInt8]], by: ChangeOrigin, progress: @escaping @Sendable (RefreshProgress) async throws -> Void
  ) async throws -> RefreshResult {
    state.withLock { $0.paths = paths }
    note("refresh by \(by.rawValue)")
    if paths.first == bytes("hold") {
      held.continuation.yield()
      for await _ in hold.stream {}
      if Task.isCancelled { cancelled.continuation.yield() }
    }
    if paths.first == bytes("broken") { throw FSError(.timedOut, "the store is offline") }
    try await progress(RefreshProgress(directories: 1, entries: 10))
    return WireSamples.refreshed
  }

  func conflicts(_ paths: [[UInt8]], keep: ConflictChoice?) async throws -> ConflictAnswer {
    state.withLock { $0.paths = paths }
    note("conflicts \(keep?.rawValue ?? "listed")")
    if paths.first == bytes("broken") { throw FSError(.noSpace, "1 changes cannot be kept: the disk is full") }
    return WireSamples.conflicts
  }

  func mark(_ label: String) async throws -> SequenceAnswer {
    state.withLock { $0.labels.append(label) }
    return SequenceAnswer(seq: 17)
  }

  func flushLog() async throws -> FlushAnswer { FlushAnswer(log: bytes("/l"), lost: 2) }
  func events() async throws -> AsyncStream<[UInt8]> { eventStream.stream }

  func runFinished(_ request: RunFinishedRequest) async throws -> RunFinishedAnswer {
    state.withLock { $0.runs.append(request) }
    return RunFinishedAnswer(
      seq: 18, budget: BudgetStatus(files: 1, bytes: 2, exceeded: []),
      rules: RuleCounts([]))
  }

  func stacks(pid: Int32?) async throws -> StackList {
    StackList(callers: [WireSamples.blocked].filter { pid == nil || $0.waiter.pid == pid })
  }

  func gates() async throws -> GateList { GateList(gates: [WireSamples.gate]) }

  func releaseGate(_ release: GateReleaseOrder, by: ChangeOrigin) async throws -> GateAnswer {
    var order = "release \(release.gate) "
    switch release.selection {
    case .all: order += "all"
    case .first(let count): order += "first \(count)"
    case .attempt(let id): order += "attempt \(id)"
    case .path(let pattern): order += "path \(pattern.text)"
    }
    if case .fail(let error) = release.release { order += " " + error.errno.name }
    note("\(order) by \(by.rawValue)")
    if release.gate == "empty" { throw FSError(.noSuchProcess, "it holds nothing") }
    return GateAnswer(gate: release.gate, released: 3)
  }

  func setGate(_ name: String, isOpen: Bool, by: ChangeOrigin) async throws -> GateAnswer {
    note("\(isOpen ? "open" : "close") \(name) by \(by.rawValue)")
    return GateAnswer(gate: name, released: 0)
  }

  func waitForGate(_ name: String, callers: Int, timeout: Nanoseconds) async throws -> GateWaitAnswer {
    note("wait \(name) \(callers) \(timeout.rawValue)")
    if name == "hold" {
      held.continuation.yield()
      for await _ in hold.stream {}
      if Task.isCancelled { cancelled.continuation.yield() }
    }
    return GateWaitAnswer(gate: name, isReached: false, callers: 1)
  }

  func scenario() async throws -> [UInt8] { bytes(#"{"version":1,"seed":18446744073709551615}"#) }

  func changeScenario(_ edit: ScenarioEdit, by: ChangeOrigin) async throws -> ScenarioChange {
    switch edit {
    case .replace(let text, let name):
      note("replace \(name) \(text.count) by \(by.rawValue)")
      _ = try ScenarioDocument(parsing: text, name: name)
    case .settings(let settings): note(settings.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
    case .addRule(let text, let first): note("\(first ? "first" : "last") \(String(decoding: text, as: UTF8.self))")
    case .removeRule(let name): note("remove \(name)")
    }
    return WireSamples.change
  }

  func explain(_ query: ExplainQuery) async throws -> ExplainAnswer {
    note("explain \(query.path) \(query.trigger?.rawValue ?? "-") \(query.pid ?? 0)")
    return WireSamples.explanation
  }

  func changesAtEnd() async throws -> (dropped: ChangeCounts?, kept: ChangeCounts?) { (WireSamples.changes, nil) }

  func unmount() async { unmounted.continuation.yield() }
}
