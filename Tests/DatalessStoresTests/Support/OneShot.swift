import Glibc

/// Runs a body once on a thread of its own.
struct OneShot {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private let thread: pthread_t

  init(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Work(body)).toOpaque()
    let started = pthread_create(
      &thread, nil,
      { context in
        Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
        return nil
      }, context)
    guard started == 0 else { fatalError("cannot start a thread") }
    self.thread = thread
  }

  func join() { pthread_join(thread, nil) }
}
