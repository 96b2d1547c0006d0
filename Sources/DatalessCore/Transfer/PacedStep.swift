internal import Synchronization

/// When a fetch goes on that waits for its turn; a cancelled one goes on at once, to end and give back what it holds.
final class PacedStep: Sendable {
  private let engine: Engine
  private let waiting = Mutex<TimerToken?>(nil)
  private let isCancelled = Atomic<Bool>(false)

  init(_ engine: Engine) { self.engine = engine }

  /// Runs `step` on the blocking lane at a time.
  func wait(until deadline: MonotonicTime, _ step: @escaping @Sendable () -> Void) {
    let token = engine.timer.schedule(at: deadline) { [engine] in engine.blocking.submit(step) }
    waiting.withLock { $0 = token }
    // Cancelled before the token was there.
    if isCancelled.load(ordering: .sequentiallyConsistent) { hurry(step) }
  }

  func cancel(_ step: @escaping @Sendable () -> Void) {
    isCancelled.store(true, ordering: .sequentiallyConsistent)
    hurry(step)
  }

  private func hurry(_ step: @escaping @Sendable () -> Void) {
    guard let token = waiting.withLock({ $0.take() }), engine.timer.cancel(token) else { return }
    engine.blocking.submit(step)
  }
}
