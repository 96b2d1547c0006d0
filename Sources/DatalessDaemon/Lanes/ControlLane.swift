/// The thread on which the control API's tasks run.
///
/// Swift's own pool would do, but on Linux it runs on libdispatch, which once used looks after its threads every second for
/// as long as the process lives. At rest the daemon does not wake up.
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
