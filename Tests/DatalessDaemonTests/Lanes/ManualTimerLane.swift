import DatalessCore

@testable import DatalessDaemon

/// A timer lane whose time moves only when the test says so.
final class ManualTimerLane: TimerLane {
  private struct State {
    var now = MonotonicTime(nanoseconds: 0)
    var scheduled: [(deadline: MonotonicTime, token: TimerToken, action: @Sendable () -> Void)] = []
    var next: UInt64 = 0
  }

  private let monitor = Monitor(State())

  var now: MonotonicTime { monitor.withLock { $0.now } }

  var scheduledCount: Int { monitor.withLock { $0.scheduled.count } }

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    monitor.withLock { state in
      let token = TimerToken(rawValue: state.next)
      state.next += 1
      state.scheduled.append((deadline, token, action))
      return token
    }
  }

  func cancel(_ token: TimerToken) -> Bool {
    monitor.withLock { state in
      let index = state.scheduled.firstIndex { $0.token == token }
      return index.map { state.scheduled.remove(at: $0) } != nil
    }
  }

  /// Moves the time, and runs on this thread what has become due.
  func advance(_ span: Nanoseconds) {
    let due = monitor.withLock { state in
      state.now = state.now + span
      let due = state.scheduled.filter { $0.deadline <= state.now }
      state.scheduled.removeAll { $0.deadline <= state.now }
      return due
    }
    for entry in due { entry.action() }
  }
}
