internal import Synchronization

/// Runs tasks on a lane: from one wait to the next a task is a piece of work there, which may block as any other, and
/// while it waits it is nothing but memory.
///
/// Swift's own pool must not be blocked by writes to a disk, and on Linux it wakes up every second once it was used.
final class LaneExecutor: TaskExecutor {
  private let lane: any BlockingLane

  init(_ lane: any BlockingLane) { self.lane = lane }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    lane.submit { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// The task that does something's steps, one after the other: cancelled with it, whether it has begun or not.
struct LaneTask: ~Copyable, Sendable {
  // Not private: Swift 6.3 refers to its metadata from the files that hold a LaneTask, and fails to compile them.
  struct State {
    var task: Task<Void, Never>?
    /// How many have begun, and which of them is kept.
    var begun = 0
    var kept = 0
    var isCancelled = false
  }

  private let state = Mutex(State())

  /// Begins a task; the one before it is at its end.
  func begin(on executor: LaneExecutor, _ body: @escaping @Sendable () async -> Void) {
    let number = state.withLock { state in
      state.begun += 1
      return state.begun
    }
    let task = Task(executorPreference: executor) { await body() }
    let isLate = state.withLock { state in
      // It may have ended, and the next one begun, before this thread comes here.
      if number > state.kept { (state.task, state.kept) = (task, number) }
      return state.isCancelled
    }
    if isLate { task.cancel() }
  }

  /// Tells the store, on this thread, that nobody waits for its answer any more.
  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    task?.cancel()
  }
}
