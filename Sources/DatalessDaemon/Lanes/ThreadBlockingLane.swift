import DatalessCore
import DequeModule
import Synchronization

/// The blocking I/O lane: threads that may wait for a disk or for SOURCE, fed from one queue in order of submission.
///
/// It has `threads` threads. When all of them have been busy for `patience` while work waits, it doubles, up
/// to `limit`: a SOURCE that hangs holds some threads for ever, and listings and the cache must go on. Threads beyond
/// `threads` end when there are enough idle ones. Idle threads do not wake up. No thread is ever joined.
final class ThreadBlockingLane: BlockingLane {
  private struct State {
    var queue = Deque<@Sendable () -> Void>()
    /// Threads alive, stuck ones included.
    var threads: Int
    var idle = 0
    /// When a thread was woken that has not looked at the queue yet. It wakes the next one if there is more: a wake-up
    /// for each piece of work costs more than a small file, and one thread often takes several.
    var wokenAt: MonotonicTime?
    /// When a thread last took work.
    var lastProgress = MonotonicTime(nanoseconds: 0)
    var isWatched = false
    var isStopped = false
  }

  private let monitor: Monitor<State>
  private let timer: any TimerLane
  private let name: String
  private let baseThreads: Int
  private let limit: Int
  private let patience: Nanoseconds
  private let share: RequestThreadShare?

  /// - Parameters:
  ///   - timer: looks after a queue that does not move; asked only while work waits and no thread is idle.
  ///   - threads: threads kept, 1 or more, 4 by default.
  ///   - limit: threads at most, stuck ones included, 16 by default.
  ///   - patience: how long no thread may become free before the lane grows, 1 s by default.
  ///   - share: request threads that may run work of this lane themselves; none by default.
  init(
    timer: any TimerLane, name: String = "dl-io", threads: Int = 4, limit: Int = 16,
    patience: Nanoseconds = .seconds(1), share: RequestThreadShare? = nil
  ) {
    self.timer = timer
    self.name = name
    baseThreads = max(1, threads)
    self.limit = max(limit, baseThreads)
    self.patience = patience
    self.share = share
    monitor = Monitor(State(threads: baseThreads))
    for _ in 0..<baseThreads { LaneThread.startOrTrap(name: name) { self.run() } }
  }

  /// Threads alive now, stuck ones included.
  var threadCount: Int { monitor.withLock { $0.threads } }

  func submit(_ work: @escaping @Sendable () -> Void) {
    let (isDue, watchesAt) = monitor.withLock { state -> (Bool, MonotonicTime?) in
      guard !state.isStopped else { return (false, nil) }
      state.queue.append(work)
      return (isWakeDue(&state), state.queue.count <= state.idle ? nil : watch(&state))
    }
    if isDue { monitor.signal() }
    if let watchesAt { timer.schedule(at: watchesAt) { self.look() } }
  }

  func runOnCaller(_ work: () -> Void) -> Bool { share?.run(work) ?? false }

  /// Ends the threads after the work they are at; queued work is thrown away. A stuck thread ends with the process.
  func stop() {
    monitor.withLock { state in
      state.isStopped = true
      state.queue.removeAll()
    }
    monitor.broadcast()
  }

  /// How long one wake-up stands for all: a thread that has not come by then is not waited for.
  private static let wakeTime = Nanoseconds.milliseconds(1)

  /// Whether a thread is to be woken now.
  private func isWakeDue(_ state: inout State) -> Bool {
    guard state.idle > 0 else { return false }
    let now = timer.now
    if let wokenAt = state.wokenAt, now - wokenAt < Self.wakeTime { return false }
    state.wokenAt = now
    return true
  }

  private func watch(_ state: inout State) -> MonotonicTime? {
    guard !state.isWatched, state.threads < limit else { return nil }
    state.isWatched = true
    return state.lastProgress + patience
  }

  // On the timer lane.
  private func look() {
    let now = timer.now
    let (growth, again) = monitor.withLock { state -> (Int, MonotonicTime?) in
      state.isWatched = false
      guard !state.isStopped, !state.queue.isEmpty else { return (0, nil) }
      var growth = 0
      if state.idle == 0, now >= state.lastProgress + patience {
        growth = min(state.threads, state.queue.count, limit - state.threads)
        state.threads += growth
        state.lastProgress = now
      }
      return (growth, watch(&state))
    }
    for _ in 0..<growth where LaneThread.start(name: name, { self.run() }) != 0 {
      // No thread to be had now: the next look tries again.
      monitor.withLock { $0.threads -= 1 }
    }
    if let again { timer.schedule(at: again) { self.look() } }
  }

  private func run() {
    while true {
      var isIdle = false
      let work = monitor.wait { state -> Monitor<State>.Step<(@Sendable () -> Void)?> in
        if isIdle {
          state.idle -= 1
          state.wokenAt = nil
          isIdle = false
        }
        if let work = state.queue.popFirst() {
          state.lastProgress = timer.now
          if !state.queue.isEmpty, isWakeDue(&state) { monitor.signal() }
          return .done(work)
        }
        if state.isStopped || state.idle >= baseThreads {
          state.threads -= 1
          return .done(nil)
        }
        state.idle += 1
        isIdle = true
        return .wait(until: nil)
      }
      guard let work else { return }
      work()
    }
  }
}

/// How many of the session's request threads may do a short fetch themselves at a time, for all lanes together: the
/// others are left for requests, whatever a disk does.
final class RequestThreadShare: Sendable {
  private let limit: Int
  private let taken = Atomic<Int>(0)

  init(limit: Int) { self.limit = limit }

  /// Runs `work` here unless the share is used up. - Returns: Whether it ran.
  func run(_ work: () -> Void) -> Bool {
    guard taken.add(1, ordering: .relaxed).newValue <= limit else {
      taken.subtract(1, ordering: .relaxed)
      return false
    }
    defer { taken.subtract(1, ordering: .relaxed) }
    work()
    return true
  }
}
