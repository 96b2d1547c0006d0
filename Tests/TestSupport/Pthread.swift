import Glibc

/// Threads for what blocks, or never lets go: Swift's own are few, and shared.
public enum Pthread {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private static func make(_ body: @escaping @Sendable () -> Void) -> pthread_t {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Work(body))
    let result = pthread_create(
      &thread, nil,
      { context in
        Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
        return nil
      }, context.toOpaque())
    precondition(result == 0, "pthread_create: \(result)")
    return thread
  }

  /// Runs a body on a detached thread of its own.
  public static func start(_ body: @escaping @Sendable () -> Void) { pthread_detach(make(body)) }

  /// Runs a body on a thread of its own, and waits for its value without blocking.
  public static func value<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in start { continuation.resume(returning: body()) } }
  }

  /// Runs a body on a thread of its own, and waits for its end.
  public static func run(_ body: @escaping @Sendable () -> Void) { pthread_join(make(body), nil) }
}
