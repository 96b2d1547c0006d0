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
