import Glibc
import Synchronization

/// Repeats a step on a thread of its own until it is stopped.
final class Repeater: Sendable {
  private final class State: Sendable {
    let body: @Sendable () -> Void
    let stopped = Atomic<Bool>(false)
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private let state: State
  private let thread: pthread_t

  init(_ body: @escaping @Sendable () -> Void) {
    state = State(body)
    var thread = pthread_t()
    let context = Unmanaged.passRetained(state).toOpaque()
    let started = pthread_create(
      &thread, nil,
      { context in
        let state = Unmanaged<State>.fromOpaque(context!).takeRetainedValue()
        while !state.stopped.load(ordering: .relaxed) { state.body() }
        return nil
      }, context)
    guard started == 0 else { fatalError("cannot start a thread") }
    self.thread = thread
  }

  func stop() {
    state.stopped.store(true, ordering: .relaxed)
    pthread_join(thread, nil)
  }
}
