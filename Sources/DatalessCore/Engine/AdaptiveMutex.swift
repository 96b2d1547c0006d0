internal import Glibc

/// A value and the mutex that guards it.
///
/// A pthread mutex rather than the standard library's `Mutex`: that one spins up to a thousand times and then waits
/// through FUTEX_LOCK_PI, whose hand-over by the kernel makes a convoy of the request threads on few processors (44 %
/// of the daemon's time with 10,000 readers, measured). It also lets no closure in that is not Sendable, and a
/// directory buffer being filled under the lock is just that.
///
/// `@unchecked Sendable`: `value` and `holds` are touched only inside `withLock`, with `mutex` held, and nothing but
/// copies of Sendable values leaves it. The mutex lives at an address of its own until the last reference is gone.
final class AdaptiveMutex<Value: ~Copyable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var value: Value
  /// How often the lock was taken. To be read by its holder: tests count what is done under one hold.
  private(set) var holds: UInt64 = 0

  init(_ value: consuming Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    // PTHREAD_MUTEX_ADAPTIVE_NP, which the module of the C library does not show: a holder is done within a
    // microsecond, so a contender looks up to a hundred times before it lets the kernel put it to sleep, which costs
    // ten.
    pthread_mutexattr_settype(&attributes, 3)
    let failure = pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
    precondition(failure == 0, "no memory for a mutex")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` with the lock held: a few statements, never a call that may wait.
  func withLock<Result: ~Copyable>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    holds &+= 1
    return body(&value)
  }
}
