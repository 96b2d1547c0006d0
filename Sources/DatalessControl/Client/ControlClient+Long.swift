import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// Requests that take as long as they take, and can be interrupted.
extension ControlClient {
  /// How long an interrupted request may take to say what it has done, before its connection is closed.
  private static let interruptGrace: Duration = .seconds(5)

  /// Follows the lines of a long answer to its result. When the task is cancelled, the daemon is asked to stop, and its
  /// result says how far it came.
  ///
  /// - Throws: `CancellationError` when the task was cancelled and the daemon did not say how far it came in time.
  func follow<Line: AnswerLine>(
    _ type: Line.Type, route: ControlRoute, request: some Encodable,
    progress: @escaping @Sendable (Line.Progress) -> Void
  ) async throws -> Line.Result {
    let body = try WireCoding.encode(request)
    let ids = AsyncStream<UInt64>.makeStream()
    // Of its own: it reads on when this task is cancelled.
    let reader = Task {
      defer { ids.continuation.finish() }
      let response = try await send(route, body: body, deadline: nil)
      let id = response.headers.first(name: ControlRoute.requestHeader).flatMap { UInt64($0) }
      if let id { ids.continuation.yield(id) }
      return try await read(Line.self, of: route, in: response, progress: progress)
    }
    let interruption = Mutex<Task<Void, Never>?>(nil)
    let result: Result<Line.Result, any Error> = await withTaskCancellationHandler {
      await reader.result
    } onCancel: {
      let task = Task {
        // Once the daemon has begun to answer.
        for await id in ids.stream {
          try? await interrupt(id)
          break
        }
        try? await Task.sleep(for: Self.interruptGrace)
        reader.cancel()
      }
      interruption.withLock { $0 = task }
    }
    if let task = interruption.withLock({ $0 }) {
      task.cancel()
      await task.value
    }
    return try result.get()
  }

  private func read<Line: AnswerLine>(
    _ type: Line.Type, of route: ControlRoute, in response: HTTPClientResponse,
    progress: @Sendable (Line.Progress) -> Void
  ) async throws -> Line.Result {
    var lines = LineSplitter()
    do {
      for try await chunk in response.body {
        try lines.append(chunk.readableBytesView)
        while let bytes = lines.next() {
          let line = try WireCoding.decode(Line.self, from: bytes, named: "the daemon's answer")
          if let error = line.error { throw Self.remote(error, to: route) }
          if let result = line.result { return result }
          if let current = line.progress { progress(current) }
        }
      }
    } catch {
      throw translated(error)
    }
    try Task.checkCancellation()
    throw ControlError.daemonNotRunning(mountPoint)
  }

  /// Has a long request end where it is. - Throws: ESRCH when it has ended.
  func interrupt(_ id: UInt64) async throws {
    let _: InterruptRequest = try await call(
      .interrupt, body: try WireCoding.encode(InterruptRequest(request: id)))
  }
}
