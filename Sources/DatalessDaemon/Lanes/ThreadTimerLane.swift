import DatalessCore
import HeapModule

/// The timer lane: one thread and one heap of absolute deadlines.
///
/// Actions run on the thread `dl-timer`, outside the lock, in batches, ordered by deadline and, for equal deadlines, by
/// insertion. What is cancelled lets go of its action at once; its place in the heap, 16 bytes, goes when half of the
/// places are such. The thread is woken early by what wake-ups take (timer slack 1 ns, `WakeUpLead`), so that an action
/// is late by little more than the actions due before it. At rest, with nothing scheduled, the thread does not wake up.
final class ThreadTimerLane: TimerLane {
  private struct Entry: Comparable {
    let deadline: MonotonicTime
    let order: UInt64

    static func < (left: Entry, right: Entry) -> Bool {
      (left.deadline, left.order) < (right.deadline, right.order)
    }
  }

  private struct State {
    var heap = Heap<Entry>()
    /// By their order; one that is not here was cancelled.
    var actions: [UInt64: @Sendable () -> Void] = [:]
    var nextOrder: UInt64 = 0
    /// What the thread sleeps for: .max when it sleeps for nothing, nil while it is awake.
    var sleepsUntil: MonotonicTime?
    var isStopped = false
  }

  /// Places of cancelled actions that are kept in any case.
  private static let emptyPlacesMax = 1024

  // LIMIT: due actions taken per batch, so that an insert waits for the lock no longer than for 256 removals.
  private static let batch = 256

  private let monitor = Monitor(State())

  init(name: String = "dl-timer") {
    LaneThread.startOrTrap(name: name, timerSlack: .exact) { [monitor] in Self.run(monitor) }
  }

  var now: MonotonicTime { .current }

  @discardableResult
  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    let (order, isEarliest) = monitor.withLock { state in
      let order = state.nextOrder
      state.nextOrder += 1
      guard !state.isStopped else { return (order, false) }
      state.heap.insert(Entry(deadline: deadline, order: order))
      state.actions[order] = action
      guard let sleepsUntil = state.sleepsUntil, deadline < sleepsUntil else { return (order, false) }
      // The thread has been told; a second earlier insert need not tell it again unless it is earlier still.
      state.sleepsUntil = deadline
      return (order, true)
    }
    if isEarliest { monitor.signal() }
    return TimerToken(rawValue: order)
  }

  /// The thread may wake up at the time of what was cancelled, and finds nothing to do.
  @discardableResult
  func cancel(_ token: TimerToken) -> Bool {
    // Released after unlocking: whatever the action holds goes with it.
    let action: (@Sendable () -> Void)? = monitor.withLock { state in
      let action = state.actions.removeValue(forKey: token.rawValue)
      if state.heap.count > 2 * state.actions.count + Self.emptyPlacesMax {
        let actions = state.actions
        state.heap = Heap(state.heap.unordered.filter { actions[$0.order] != nil })
      }
      return action
    }
    return action != nil
  }

  /// Places of the heap, cancelled ones included, and actions that will run.
  var counts: (places: Int, actions: Int) { monitor.withLock { ($0.heap.count, $0.actions.count) } }

  /// Ends the thread after the batch it runs; what is scheduled is thrown away, as is what is scheduled later.
  func stop() {
    let dropped = monitor.withLock { state in
      state.isStopped = true
      state.heap = Heap()
      defer { state.actions = [:] }
      return state.actions
    }
    monitor.signal()
    // Released here, after unlocking.
    _ = dropped
  }

  private enum Turn {
    case act
    /// Stay awake: the next action is due before a wake-up would come.
    case linger(until: MonotonicTime)
    case end
  }

  // LIMIT: for how long the thread, awake, does not look whether something earlier was scheduled.
  private static let lingerMax = Nanoseconds.microseconds(10)

  private static func run(_ monitor: Monitor<State>) {
    var due: [@Sendable () -> Void] = []
    due.reserveCapacity(batch)
    var wakeUp = WakeUpLead()
    while true {
      // When the thread asked to be woken, while it sleeps.
      var asked: MonotonicTime?
      let turn = monitor.wait { state -> Monitor<State>.Step<Turn> in
        state.sleepsUntil = nil
        guard !state.isStopped else { return .done(.end) }
        let now = MonotonicTime.current
        // Before: a signal woke it.
        if let asked, asked <= now { wakeUp.note(late: now - asked) }
        asked = nil
        take(from: &state, until: now, into: &due)
        if !due.isEmpty || state.heap.min.map({ $0.deadline <= now }) ?? false { return .done(.act) }
        guard let next = state.heap.min?.deadline else {
          state.sleepsUntil = MonotonicTime(nanoseconds: .max)
          return .wait(until: nil)
        }
        if wakeUp.isShort(until: next, from: now) { return .done(.linger(until: min(next, now + lingerMax))) }
        state.sleepsUntil = next
        asked = wakeUp.time(before: next)
        return .wait(until: asked)
      }
      switch turn {
      case .act:
        for action in due { action() }
        due.removeAll(keepingCapacity: true)
      case .linger(let until):
        while MonotonicTime.current < until {}
      case .end: return
      }
    }
  }

  /// Takes what is due off the heap, as much as a batch holds.
  private static func take(from state: inout State, until now: MonotonicTime, into due: inout [@Sendable () -> Void]) {
    var left = batch
    while left > 0, let first = state.heap.min, first.deadline <= now {
      left -= 1
      _ = state.heap.removeMin()
      if let action = state.actions.removeValue(forKey: first.order) { due.append(action) }
    }
  }
}
