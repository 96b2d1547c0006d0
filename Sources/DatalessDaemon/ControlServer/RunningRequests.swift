import NIOCore
import Synchronization

/// One request of the control API that is being answered.
final class RunningRequest: Sendable {
  private struct State {
    var isCancelled = false
    var cancelWork: (@Sendable () -> Void)?
  }

  /// By which the request can be interrupted.
  let id: UInt64
  private let state = Mutex(State())

  init(id: UInt64) { self.id = id }

  /// Cancels what it runs, and what it will run.
  func cancel() {
    let cancelWork = state.withLock { state in
      state.isCancelled = true
      return state.cancelWork
    }
    cancelWork?()
  }

  /// Starts work that ends when the request is cancelled; one after the other.
  func start<Value: Sendable>(
    on lane: ControlLane, _ work: @escaping @Sendable () async throws -> Value
  ) -> Task<Value, any Error> {
    let task = Task(executorPreference: lane, operation: work)
    let isCancelled = state.withLock { state in
      state.cancelWork = { task.cancel() }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
    return task
  }

  /// Runs work that ends when the request, or the caller's task, is cancelled.
  func run<Value: Sendable>(
    on lane: ControlLane, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let task = start(on: lane, work)
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}

/// What a control server has under way, so that it can be ended: by another request, or because whoever asked has gone.
final class RunningRequests: Sendable {
  private struct State {
    var lastID: UInt64 = 0
    var requests: [UInt64: RunningRequest] = [:]
    /// The request of each open connection: one at a time, as HTTP/1.1 has it.
    var connections: [ObjectIdentifier: RunningRequest?] = [:]
  }

  private let state = Mutex(State())

  /// A request has come. It is cancelled when the peer closes the connection, which the event loop sees even while
  /// nothing is read or written.
  func begin(_ channel: any Channel) -> RunningRequest {
    let key = ObjectIdentifier(channel)
    let (request, isNew) = state.withLock { state in
      state.lastID += 1
      let request = RunningRequest(id: state.lastID)
      state.requests[request.id] = request
      return (request, state.connections.updateValue(request, forKey: key) == nil)
    }
    // Called at once when it has closed already.
    if isNew { channel.closeFuture.whenComplete { [self] _ in close(key) } }
    return request
  }

  private func close(_ key: ObjectIdentifier) {
    let request = state.withLock { $0.connections.removeValue(forKey: key) }
    request??.cancel()
  }

  /// It has been answered, or cannot be.
  func end(_ request: RunningRequest, _ channel: any Channel) {
    let key = ObjectIdentifier(channel)
    state.withLock { state in
      state.requests[request.id] = nil
      if state.connections[key] != nil { state.connections[key] = .some(nil) }
    }
  }

  /// Cancels a request. - Returns: False when there is none of this number.
  func interrupt(_ id: UInt64) -> Bool {
    guard let request = state.withLock({ $0.requests[id] }) else { return false }
    request.cancel()
    return true
  }
}
