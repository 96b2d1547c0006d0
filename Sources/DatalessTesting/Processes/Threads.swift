import Glibc

/// What blocks runs on a thread of its own: the threads of tasks are few, and a test that held one up could hold up the
/// program that it waits for.
enum Threads {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Starts a detached thread; 0, or the errno (EAGAIN: no more threads).
  static func start(_ run: @escaping @Sendable () -> Void) -> Int32 {
    let body = Unmanaged.passRetained(Body(run))
    var thread: pthread_t = 0
    let failure = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      }, body.toOpaque())
    if failure == 0 { pthread_detach(thread) } else { body.release() }
    return failure
  }

  /// What `body` returns, which may block.
  static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let failure = start { continuation.resume(with: Result(catching: body)) }
      if failure != 0 {
        continuation.resume(throwing: DatalessError("no thread can be started: \(String(cString: strerror(failure)))."))
      }
    }
  }
}
