import DatalessCore
import DequeModule

/// The blocking I/O lane: threads that may wait for a disk or for SOURCE, fed from one queue in order of submission.
///
/// It has `threads` threads. When all of them have been busy for `patienceNanoseconds` while work waits, it doubles, up
/// to `limit`: a SOURCE that hangs holds some threads for ever, and listings and the cache must go on. Threads beyond
/// `threads` end when there are enough idle ones. Idle threads do not wake up. No thread is ever joined.
final class ThreadBlockingLane: BlockingLane {
  private struct State {
    var queue = Deque<@Sendable () -> Void>()
    /// Threads alive, stuck ones included.
    var threads: Int
    var idle = 0
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
  private let patienceNanoseconds: Int64
  private let share: RequestThreadShare?

  /// - Parameters:
  ///   - timer: looks after a queue that does not move; asked only while work waits and no thread is idle.
  ///   - threads: threads kept, 1 or more, 4 by default.
  ///   - limit: threads at most, stuck ones included, 16 by default.
  ///   - patienceNanoseconds: how long no thread may become free before the lane grows, 1 s by default.
  ///   - share: request threads that may run work of this lane themselves; none by default.
  init(
    timer: any TimerLane, name: String = "dl-io", threads: Int = 4, limit: Int = 16,
    patienceNanoseconds: Int64 = 1_000_000_000, share: RequestThreadShare? = nil
  ) {
    self.timer = timer
    self.name = name
    baseThreads = max(1, threads)
    self.limit = max(limit, baseThreads)
    self.patienceNanoseconds = patienceNanoseconds
    self.share = share
    monitor = Monitor(State(threads: baseThreads))
    for _ in 0..<baseThreads { LaneThread.startOrTrap(name: name) { self.run() } }
  }

  /// Threads alive now, stuck ones included.
  var threadCount: Int { monitor.withLock { $0.threads } }

  func submit(_ work: @escaping @Sendable () -> Void) {
    let watchesAt = monitor.withLock { state -> MonotonicTime? in
      guard !state.isStopped else { return nil }
      state.queue.append(work)
      return state.queue.count <= state.idle ? nil : watch(&state)
    }
    monitor.signal()
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

  private func watch(_ state: inout State) -> MonotonicTime? {
    guard !state.isWatched, state.threads < limit else { return nil }
    state.isWatched = true
    return state.lastProgress + patienceNanoseconds
  }

  // On the timer lane.
  private func look() {
    let now = timer.now
    let (growth, again) = monitor.withLock { state -> (Int, MonotonicTime?) in
      state.isWatched = false
      guard !state.isStopped, !state.queue.isEmpty else { return (0, nil) }
      var growth = 0
      if state.idle == 0, now >= state.lastProgress + patienceNanoseconds {
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
          isIdle = false
        }
        if let work = state.queue.popFirst() {
          state.lastProgress = timer.now
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
