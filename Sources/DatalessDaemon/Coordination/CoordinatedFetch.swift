import DatalessCore
import Synchronization
import SystemPackage

/// Brings here what an intent is for: many items at once, and the directories on the way to them. No thread waits.
final class CoordinatedFetch: Sendable {
  private struct State {
    var next = 0
    /// Claims to be looked at again, as a directory on the way to them is listed now.
    var again: [Int] = []
    var running: Set<WaiterID> = []
    var materialized: Int64 = 0
    /// What was listed on the way: once for all that lie in it.
    var listed: Set<NodeID> = []
    var refusal: CoordinationRefusal?
    var isPumping = false
    var isOver = false
  }

  private enum Step {
    case look(Int)
    case wait
    case end(Result<Int64, CoordinationRefusal>)
  }

  /// LIMIT: items of one intent that are asked for at once. More would only queue up in memory.
  private static let runningMax = 64

  private let engine: Engine
  private let claims: [AccessClaim]
  private let options: CoordinationOptions
  private let caller: Caller
  private let makeWaiter: @Sendable () -> WaiterID
  private let completion: @Sendable (Result<Int64, CoordinationRefusal>) -> Void
  private let state = Mutex(State())

  /// - Parameter completion: Called once, on any thread, perhaps before `run` returns: how many items were brought
  ///   here.
  init(
    engine: Engine, request: CoordinationRequest, caller: Caller, makeWaiter: @escaping @Sendable () -> WaiterID,
    completion: @escaping @Sendable (Result<Int64, CoordinationRefusal>) -> Void
  ) {
    self.engine = engine
    claims = request.claims
    options = request.options
    // Whoever asks for content says so: the policies that keep a thread from waiting by accident do not refuse it.
    var caller = caller
    caller.policy = CallerPolicy(thread: true, process: nil)
    self.caller = caller
    self.makeWaiter = makeWaiter
    self.completion = completion
  }

  /// Looks at what is next, until nothing is left or enough is under way.
  func run() {
    let isMine = state.withLock { state in
      defer { state.isPumping = true }
      return !state.isPumping && !state.isOver
    }
    guard isMine else { return }
    while true {
      switch step() {
      case .look(let index): look(at: index)
      case .wait: return
      case .end(let result): return completion(result)
      }
    }
  }

  /// Nobody wants it any more: what is under way is given up, and nothing is told.
  func cancel() {
    let waiters = state.withLock { state in
      state.isOver = true
      defer { state.running = [] }
      return state.running
    }
    for waiter in waiters { engine.leave(waiter, Self.cancelled) }
  }

  private static let cancelled = FSError(.interrupted, "nobody waits for it any more")

  private func step() -> Step {
    state.withLock { state in
      func pause() -> Step {
        state.isPumping = false
        return .wait
      }
      if state.isOver { return pause() }
      if state.refusal == nil, state.running.count < Self.runningMax {
        if let index = state.again.popLast() { return .look(index) }
        if state.next < claims.count {
          defer { state.next += 1 }
          return .look(state.next)
        }
      }
      guard state.running.isEmpty else { return pause() }
      state.isOver = true
      if let refusal = state.refusal { return .end(.failure(refusal)) }
      return .end(.success(state.materialized))
    }
  }

  private func look(at index: Int) {
    let claim = claims[index]
    switch engine.coordinatedItem(claim.path) {
    case .found(let node, let isMissing):
      guard isMissing, wants(claim) else { return }
      materialize(node, for: index, isOnTheWay: false)
    case .insideDataless(let directory):
      guard !options.contains(.withoutMaterialization) else { return }
      materialize(directory, for: index, isOnTheWay: true)
    case .absent:
      // What is written may be made by that.
      if !claim.isWrite { fail(CoordinationRefusal(FSError(.noSuchFileOrDirectory, "\(name(claim)) is not there"))) }
    case .noDirectory:
      fail(
        CoordinationRefusal(FSError(.noSuchFileOrDirectory, "a directory on the way to \(name(claim)) is not there")))
    case .notADirectory:
      fail(CoordinationRefusal(FSError(.notDirectory, "what is on the way to \(name(claim)) is no directory")))
    case .link:
      fail(
        CoordinationRefusal(
          .throughLink,
          "\(name(claim)) is, or is reached by, a symbolic link: name what it leads to, as others would not see you there"
        ))
    }
  }

  private func wants(_ claim: AccessClaim) -> Bool {
    if options.contains(.withoutMaterialization) || options.contains(.metadataOnly) { return false }
    return !claim.isWrite || options.needsWrittenContent
  }

  private func name(_ claim: AccessClaim) -> String { ErrorText.quoted(claim.path) }

  private func fail(_ refusal: CoordinationRefusal) {
    let waiters = state.withLock { state in
      if state.refusal == nil { state.refusal = refusal }
      return state.running
    }
    for waiter in waiters { engine.leave(waiter, Self.cancelled) }
  }

  private func materialize(_ node: NodeID, for index: Int, isOnTheWay: Bool) {
    let waiter = makeWaiter()
    let directory = isOnTheWay ? node : nil
    let isOver = state.withLock { state in
      if !state.isOver { state.running.insert(waiter) }
      return state.isOver
    }
    guard !isOver else { return }
    var request = TriggerRequest(trigger: .coordinate, caller: caller)
    // The thread that asked does something else meanwhile.
    request.isAwaited = false
    let admission = engine.materialize(node, request, waiter: waiter) { [self] result in
      ended(waiter, result, index: index, directory: directory)
    }
    switch admission {
    case .parked:
      // Cancelled, or failed elsewhere, before it was parked: nobody else ends it.
      let isLeft = state.withLock { $0.isOver || $0.refusal != nil }
      if isLeft { engine.leave(waiter, Self.cancelled) }
    case .ready: ended(waiter, .ready, index: index, directory: directory)
    case .failed(let error): ended(waiter, .failed(error), index: index, directory: directory)
    }
  }

  /// - Parameter directory: What was listed, on the way to the claim.
  private func ended(_ waiter: WaiterID, _ result: WaitResult, index: Int, directory: NodeID?) {
    let others: Set<WaiterID> = state.withLock { state in
      state.running.remove(waiter)
      guard !state.isOver, state.refusal == nil else { return [] }
      switch result {
      case .ready:
        if let directory {
          state.again.append(index)
          if !state.listed.insert(directory).inserted { return [] }
        }
        state.materialized += 1
        return []
      case .failed(let error):
        state.refusal = CoordinationRefusal(
          FSError(error.errno, "cannot bring \(name(claims[index])) here: \(error.message)"))
        return state.running
      }
    }
    for waiter in others { engine.leave(waiter, Self.cancelled) }
    run()
  }
}
