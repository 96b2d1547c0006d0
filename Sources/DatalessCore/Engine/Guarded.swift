internal import Synchronization

/// A value and the mutex that guards it.
///
/// `Mutex` of the standard library, but for what its closure may touch: `Mutex.withLock` lets no closure in that is not
/// Sendable, and a directory buffer being filled under the lock is just that.
///
/// `@unchecked Sendable`: `value` is touched only inside `withLock`, with `mutex` held, and nothing but copies of
/// Sendable values leaves it.
final class Guarded<Value: ~Copyable>: @unchecked Sendable {
  private let mutex = Mutex(())
  private var value: Value

  init(_ value: consuming Value) {
    self.value = value
  }

  /// Runs `body` with the lock held: a few statements, never a call that may wait.
  func withLock<Result: ~Copyable>(_ body: (inout Value) -> Result) -> Result {
    mutex._unsafeLock()
    defer { mutex._unsafeUnlock() }
    return body(&value)
  }
}
