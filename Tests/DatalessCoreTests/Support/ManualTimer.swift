import DatalessCore
import Synchronization

/// Time that moves only when the test says so.
final class ManualTimer: TimerLane {
  private struct State {
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var actions: [(deadline: MonotonicTime, order: Int, action: @Sendable () -> Void)] = []
    var order = 0
  }
  private let state = Mutex(State())

  var now: MonotonicTime { state.withLock { $0.now } }

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    state.withLock { state in
      state.actions.append((deadline, state.order, action))
      state.order += 1
      return TimerToken(rawValue: UInt64(state.order - 1))
    }
  }

  func cancel(_ token: TimerToken) -> Bool {
    state.withLock { state in
      let index = state.actions.firstIndex { $0.order == Int(token.rawValue) }
      return index.map { state.actions.remove(at: $0) } != nil
    }
  }

  /// Lets time pass, running what becomes due at its own deadline, in order.
  func advance(milliseconds: Int64, _ afterEach: () -> Void = {}) {
    let target = now + .milliseconds(milliseconds)
    while true {
      let due: (@Sendable () -> Void)? = state.withLock { state in
        let index = state.actions.indices.filter { state.actions[$0].deadline <= target }.min {
          (state.actions[$0].deadline, state.actions[$0].order) < (state.actions[$1].deadline, state.actions[$1].order)
        }
        guard let index else { return nil }
        let next = state.actions.remove(at: index)
        state.now = max(state.now, next.deadline)
        return next.action
      }
      guard let due else { break }
      due()
      afterEach()
    }
    state.withLock { $0.now = max($0.now, target) }
  }

  var pending: Int { state.withLock { $0.actions.count } }
}

/// Work for the blocking lane, run when the test says so.
final class ManualLane: BlockingLane {
  private let work = Mutex<[@Sendable () -> Void]>([])
  /// Whether callers may run work themselves.
  let isShared = Atomic<Bool>(false)

  func runOnCaller(_ work: () -> Void) -> Bool {
    guard isShared.load(ordering: .relaxed) else { return false }
    work()
    return true
  }

  func submit(_ item: @escaping @Sendable () -> Void) { work.withLock { $0.append(item) } }

  /// Runs everything that waits, and what it submits. - Returns: How many items ran.
  @discardableResult
  func runAll() -> Int {
    var count = 0
    while runOne() { count += 1 }
    return count
  }

  @discardableResult
  func runOne() -> Bool {
    let next = work.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    next?()
    return next != nil
  }

  var waiting: Int { work.withLock { $0.count } }
}
