import DatalessCore
import SystemPackage

/// What recorders and the writer of an `EventLog` share, under its monitor.
struct LogState {
  struct PendingFlush {
    var target: UInt64
    var completion: @Sendable (LogFlush) -> Void
  }

  var ring: LogRing
  /// Everything up to this number is in the file, or said to be lost there.
  var writtenNumber: UInt64 = 0
  /// Lost records among those.
  var reportedLost: UInt64 = 0
  /// Records the writer has taken and not yet written.
  var inHand = 0
  var flushes: [PendingFlush] = []
  var failure: Errno?
  var isClosing = false
  /// Whether `volume.unmounted` is in the ring: nothing may come after it.
  var hasLast = false
  /// Records that came after the end.
  var late: UInt64 = 0
  /// Whether the writer waits for a signal to look at the ring.
  var writerSleeps = false

  /// Flushes that can be answered: those reached, or all of them when the disk fails.
  mutating func takeFlushes(all: Bool) -> [(flush: LogFlush, completion: @Sendable (LogFlush) -> Void)] {
    guard !flushes.isEmpty else { return [] }
    let ready = flushes.filter { all || $0.target <= writtenNumber }
    flushes.removeAll { all || $0.target <= writtenNumber }
    return ready.map { flush in
      let missing = flush.target > writtenNumber ? flush.target - writtenNumber : 0
      return (LogFlush(lost: reportedLost + missing), flush.completion)
    }
  }
}

/// How the log is doing.
struct LogStatus: Sendable, Equatable {
  /// Records lost so far because too many waited.
  var dropped: UInt64
  /// Records that are not in the file yet, lost ones not counted.
  var waiting: Int
  /// What the last write failed with; nil when it did not.
  var failure: Errno?
}

/// The answer to a flush: everything recorded before it is in the file now, except what was lost.
struct LogFlush: Sendable, Equatable {
  /// Records before the flush that are not in the file: lost because too many waited, or not to be written because the
  /// disk fails. Those may still get there when it recovers.
  var lost: UInt64
}
