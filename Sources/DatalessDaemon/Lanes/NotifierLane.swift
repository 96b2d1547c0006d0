import DatalessCore
import DequeModule

/// The notifier lane: threads for `fuse_lowlevel_notify_*`, which may wait for locks of the kernel and must never run
/// on a request thread.
///
/// Items begin in order of submission, one after the other. One that takes longer than 100 ms waits for somebody who
/// holds a lock in the kernel, a caller in a directory's look-up perhaps, and that may last as long as a gate is
/// closed: then the next one begins beside it, on another thread. No item may rely on another one's end but by being
/// submitted after it.
final class NotifierLane: Sendable {
  private struct State {
    var queue = Deque<@Sendable () -> Void>()
    /// When each item that runs has begun, by its number.
    var running: [UInt64: MonotonicTime] = [:]
    var next: UInt64 = 0
    var threads = 2
    /// Threads that have nothing to do, or wait for an item to become late.
    var idle = 0
    var isStopped = false
  }

  private static let lateAfter = Nanoseconds.milliseconds(100)
  /// LIMIT: items that are late at the same time; with so many, others wait.
  static let lateMax = 16

  private let monitor = Monitor(State())
  private let name: String

  init(name: String = "dl-notify") {
    self.name = name
    // The second one looks whether the first is late.
    for _ in 0..<2 { LaneThread.startOrTrap(name: name) { [monitor] in Self.work(monitor, name) } }
  }

  /// Runs `work` on the lane. Unbounded: each item stands for an eviction or an attempt whose end waits for it, so none
  /// may be dropped. After `stop()` nothing runs any more.
  func submit(_ work: @escaping @Sendable () -> Void) {
    let isAccepted = monitor.withLock { state in
      if !state.isStopped { state.queue.append(work) }
      return !state.isStopped
    }
    if isAccepted { monitor.signal() }
  }

  /// Ends the threads after the items they are at; waiting ones are thrown away. The threads are not joined.
  func stop() {
    monitor.withLock { state in
      state.isStopped = true
      state.queue.removeAll()
    }
    monitor.broadcast()
  }

  private static func work(_ monitor: Monitor<State>, _ name: String) {
    while let (number, item, isLastIdle) = next(monitor) {
      if isLastIdle {
        let failure = LaneThread.start(name: name) { work(monitor, name) }
        // Then this item holds the others, should it be late.
        if failure != 0 { monitor.withLock { $0.threads -= 1 } }
      }
      item()
      monitor.withLock { $0.running[number] = nil }
    }
  }

  /// - Returns: nil when the lane has stopped. `isLastIdle`: nobody looks whether this item is late; another thread is
  ///   to be made.
  private static func next(
    _ monitor: Monitor<State>
  ) -> (number: UInt64, item: @Sendable () -> Void, isLastIdle: Bool)? {
    monitor.withLock { $0.idle += 1 }
    return monitor.wait { state in
      if state.isStopped { return .done(nil) }
      guard !state.queue.isEmpty else { return .wait(until: nil) }
      let now = MonotonicTime.current
      if let youngest = state.running.values.max(), youngest + lateAfter > now {
        return .wait(until: youngest + lateAfter)
      }
      guard state.running.count <= lateMax, let item = state.queue.popFirst() else { return .wait(until: nil) }
      let number = state.next
      state.next += 1
      state.running[number] = now
      state.idle -= 1
      let isLastIdle = state.idle == 0 && state.threads <= lateMax
      if isLastIdle { state.threads += 1 }
      return .done((number, item, isLastIdle))
    }
  }
}
