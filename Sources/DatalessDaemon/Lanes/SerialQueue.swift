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

/// The capture lane: one thread for reads that take a lock of the process they look at (argv, environ, user stacks).
///
/// Such a read can block for ever when that process waits for a reply of ours while it holds the lock. Therefore
/// nothing waits for this lane, no reply and no shutdown: whoever submits work must do without its result.
final class CaptureLane: Sendable {
  private let queue: SerialQueue

  /// - Parameter limit: items that may wait, 4,096 by default; a stuck thread must not eat memory.
  init(name: String = "dl-capture", limit: Int = 4096) { queue = SerialQueue(name: name, limit: limit) }

  /// - Returns: false when too much waits; the item was dropped and counted.
  func submit(_ work: @escaping @Sendable () -> Void) -> Bool { queue.submit(work) }

  /// Items dropped so far.
  var dropped: UInt64 { queue.dropped }

  /// Ends the thread after the item it is at; waiting ones are thrown away. The thread is not joined.
  func stop() { queue.stop() }
}

/// The thread on which the control API's tasks run.
///
/// Swift's own pool would do, but on Linux it runs on libdispatch, which once used looks after its threads every second
/// for as long as the process lives. At rest the daemon does not wake up.
public final class ControlLane: TaskExecutor {
  private let queue: SerialQueue

  /// - Parameter name: Of the thread, at most 15 bytes.
  public init(name: String = "dl-control") {
    queue = SerialQueue(name: name, limit: nil)
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    _ = queue.submit { job.runSynchronously(on: executor) }
  }
}
