import DatalessCore
import Glibc

/// A state, the pthread mutex that guards it, and a condition variable on CLOCK_MONOTONIC for those who wait for a
/// change of it: what `Synchronization.Mutex` lacks.
///
/// `@unchecked Sendable`: `state` is touched only between lock and unlock of `mutex`; the mutex and the condition
/// variable live at addresses of their own (pthread forbids to move them) that are freed with the last reference, hence
/// after the last user. A `State` need not be Sendable, but must not be shared with code outside the monitor.
final class Monitor<State>: @unchecked Sendable {
  /// What a look at the state led to.
  enum Step<Result> {
    case done(Result)
    /// Look again after the next `signal()`, or at this time if it comes first; nil: only after a signal.
    case wait(until: MonotonicTime?)
  }

  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var state: State

  init(_ state: State) {
    self.state = state
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    var kind = pthread_mutexattr_t()
    pthread_mutexattr_init(&kind)
    // PTHREAD_MUTEX_ADAPTIVE_NP, see `AdaptiveMutex` in the core.
    pthread_mutexattr_settype(&kind, 3)
    pthread_mutex_init(mutex, &kind)
    pthread_mutexattr_destroy(&kind)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&state)
  }

  /// Looks at the state under the lock, again and again, until `look` is done. Blocks the calling thread in between.
  /// `look` is called afresh after every wake-up, so a spurious one does no harm.
  func wait<Result>(_ look: (inout State) -> Step<Result>) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      switch look(&state) {
      case .done(let result): return result
      case .wait(until: nil): pthread_cond_wait(condition, mutex)
      case .wait(until: .some(let deadline)):
        var time = deadline.timespecValue
        pthread_cond_timedwait(condition, mutex, &time)
      }
    }
  }

  /// Wakes one waiter. May be called with or without the lock.
  func signal() { pthread_cond_signal(condition) }

  /// Wakes all waiters.
  func broadcast() { pthread_cond_broadcast(condition) }
}

/// A monitor as a value that others wait for.
extension Monitor {
  /// Sets the value and wakes all who wait for it.
  func set(_ value: State) {
    update { $0 = value }
  }

  /// Changes the value and wakes all who wait for it.
  func update(_ change: (inout State) -> Void) {
    withLock(change)
    broadcast()
  }
}
