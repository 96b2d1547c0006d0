import DequeModule
import Synchronization

/// One thread that runs closures in order of submission. At rest it does not wake up.
final class SerialQueue: Sendable {
  private struct State {
    var queue = Deque<@Sendable () -> Void>()
    var dropped: UInt64 = 0
    var isStopped = false
  }

  private let monitor = Monitor(State())
  private let limit: Int?

  /// - Parameter limit: closures that may wait; what comes beyond is dropped and counted. nil: no bound.
  init(name: String, limit: Int?) {
    self.limit = limit
    LaneThread.startOrTrap(name: name) { [monitor] in
      while let work = Self.next(monitor) { work() }
    }
  }

  /// Closures dropped because too many waited.
  var dropped: UInt64 { monitor.withLock { $0.dropped } }

  /// - Returns: false when the closure was dropped; it will not run.
  func submit(_ work: @escaping @Sendable () -> Void) -> Bool {
    let isAccepted = monitor.withLock { state in
      if state.isStopped { return false }
      if let limit, state.queue.count >= limit {
        state.dropped += 1
        return false
      }
      state.queue.append(work)
      return true
    }
    if isAccepted { monitor.signal() }
    return isAccepted
  }

  /// Ends the thread after the closure it runs; waiting ones are thrown away.
  func stop() {
    monitor.withLock { state in
      state.isStopped = true
      state.queue.removeAll()
    }
    monitor.signal()
  }

  private static func next(_ monitor: Monitor<State>) -> (@Sendable () -> Void)? {
    monitor.wait { state in
      if state.isStopped { return .done(nil) }
      if let work = state.queue.popFirst() { return .done(work) }
      return .wait(until: nil)
    }
  }
}
