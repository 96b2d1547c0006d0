import DatalessCore
import HeapModule

/// The timer lane: one thread and one heap of absolute deadlines.
///
/// Actions run on the thread `dl-timer`, outside the lock, in batches, ordered by deadline and, for equal deadlines, by
/// insertion. An action is late by the wake-up of the thread (timer slack 1 ns) and by the actions due before it. At
/// rest, with nothing scheduled, the thread does not wake up.
final class ThreadTimerLane: TimerLane {
  private struct Entry: Comparable {
    let deadline: MonotonicTime
    let order: UInt64
    let action: @Sendable () -> Void

    static func < (left: Entry, right: Entry) -> Bool {
      (left.deadline, left.order) < (right.deadline, right.order)
    }
    static func == (left: Entry, right: Entry) -> Bool { left.order == right.order }
  }

  private struct State {
    var heap = Heap<Entry>()
    var nextOrder: UInt64 = 0
    /// What the thread sleeps for: .max when it sleeps for nothing, nil while it is awake.
    var sleepsUntil: MonotonicTime?
    var isStopped = false
  }

  // LIMIT: due actions taken per batch, so that an insert waits for the lock no longer than for 256 removals.
  private static let batch = 256

  private let monitor = Monitor(State())

  init(name: String = "dl-timer") {
    LaneThread.startOrTrap(name: name, timerSlack: .exact) { [monitor] in Self.run(monitor) }
  }

  var now: MonotonicTime { .current }

  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) {
    let isEarliest = monitor.withLock { state in
      guard !state.isStopped else { return false }
      state.heap.insert(Entry(deadline: deadline, order: state.nextOrder, action: action))
      state.nextOrder += 1
      guard let sleepsUntil = state.sleepsUntil, deadline < sleepsUntil else { return false }
      // The thread has been told; a second earlier insert need not tell it again unless it is earlier still.
      state.sleepsUntil = deadline
      return true
    }
    if isEarliest { monitor.signal() }
  }

  /// Ends the thread after the batch it runs; what is scheduled is thrown away, as is what is scheduled later.
  func stop() {
    monitor.withLock { state in
      state.isStopped = true
      state.heap = Heap()
    }
    monitor.signal()
  }

  private static func run(_ monitor: Monitor<State>) {
    var due: [Entry] = []
    due.reserveCapacity(batch)
    while true {
      let goesOn = monitor.wait { state -> Monitor<State>.Step<Bool> in
        state.sleepsUntil = nil
        guard !state.isStopped else { return .done(false) }
        let now = MonotonicTime.current
        while due.count < batch, let first = state.heap.min, first.deadline <= now {
          due.append(state.heap.removeMin())
        }
        if !due.isEmpty { return .done(true) }
        let next = state.heap.min?.deadline
        state.sleepsUntil = next ?? MonotonicTime(nanoseconds: .max)
        return .wait(until: next)
      }
      guard goesOn else { return }
      for entry in due { entry.action() }
      due.removeAll(keepingCapacity: true)
    }
  }
}
