import Glibc

/// A thread of its own for work that waits in the kernel: never a task, because waiting would hold up every other task.
enum DetachedThread {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Runs `body` on a new thread that nobody joins.
  ///
  /// - Returns: False when the system has no thread left; `body` was not run then.
  @discardableResult
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let box = Unmanaged.passRetained(Body(body))
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { argument in
        // SAFETY: the pointer is the box retained above, taken back exactly once, here.
        Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    guard result == 0 else {
      box.release()
      return false
    }
    pthread_detach(thread)
    return true
  }
}
