/// The notifier lane: one thread for `fuse_lowlevel_notify_*`, which may wait for locks of the kernel and must never
/// run on a request thread.
final class NotifierLane: Sendable {
  private let queue: SerialQueue

  init(name: String = "dl-notify") { queue = SerialQueue(name: name, limit: nil) }

  /// Runs `work` on the lane's thread, in order of submission. Unbounded: each item stands for an eviction or an
  /// attempt whose end waits for it, so none may be dropped. After `stop()` nothing runs any more.
  func submit(_ work: @escaping @Sendable () -> Void) { _ = queue.submit(work) }

  /// Ends the thread after the item it is at; waiting ones are thrown away. The thread is not joined.
  func stop() { queue.stop() }
}
