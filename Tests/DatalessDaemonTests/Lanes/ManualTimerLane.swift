import DatalessCore

@testable import DatalessDaemon

/// A timer lane whose time moves only when the test says so.
final class ManualTimerLane: TimerLane {
  private struct State {
    var now = MonotonicTime(nanoseconds: 0)
    var scheduled: [(deadline: MonotonicTime, action: @Sendable () -> Void)] = []
  }

  private let monitor = Monitor(State())

  var now: MonotonicTime { monitor.withLock { $0.now } }

  var scheduledCount: Int { monitor.withLock { $0.scheduled.count } }

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) {
    monitor.withLock { $0.scheduled.append((deadline, action)) }
  }

  /// Moves the time, and runs on this thread what has become due.
  func advance(nanoseconds: Int64) {
    let due = monitor.withLock { state in
      state.now = state.now + nanoseconds
      let due = state.scheduled.filter { $0.deadline <= state.now }
      state.scheduled.removeAll { $0.deadline <= state.now }
      return due
    }
    for entry in due { entry.action() }
  }
}
