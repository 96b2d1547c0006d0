import DatalessCore
import Synchronization

/// Time that moves only when the test says so.
final class ManualTimer: TimerLane {
  private struct State {
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var actions: [(deadline: MonotonicTime, order: UInt64, action: @Sendable () -> Void)] = []
    var order: UInt64 = 0
  }
  private let state = Mutex(State())

  var now: MonotonicTime { state.withLock { $0.now } }
  var count: Int { state.withLock { $0.actions.count } }

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    state.withLock { state in
      state.order += 1
      state.actions.append((deadline, state.order, action))
      return TimerToken(rawValue: state.order)
    }
  }

  func cancel(_ token: TimerToken) -> Bool {
    state.withLock { state in
      let index = state.actions.firstIndex { $0.order == token.rawValue }
      return index.map { state.actions.remove(at: $0) } != nil
    }
  }

  /// Lets a second pass.
  func passSecond() {
    let due = state.withLock { state in
      state.now = state.now + Nanoseconds(1_000_000_000)
      let now = state.now
      defer { state.actions.removeAll { $0.deadline <= now } }
      return state.actions.filter { $0.deadline <= now }
    }
    for action in due { action.action() }
  }
}

/// Work that is run when the test says so.
final class ManualLane: BlockingLane {
  private let work = Mutex<[@Sendable () -> Void]>([])

  func submit(_ work: @escaping @Sendable () -> Void) { self.work.withLock { $0.append(work) } }

  var count: Int { work.withLock { $0.count } }

  /// - Returns: False when there is nothing to run.
  func runOne() -> Bool {
    guard let next = work.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    next()
    return true
  }

  func runAll() {
    while let next = work.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { next() }
  }
}
