/// The answer to a flush: everything recorded before it is in the file now, except what was lost.
struct LogFlush: Sendable, Equatable {
  /// Records before the flush that are not in the file: lost because too many waited, or not to be written because the
  /// disk fails. Those may still get there when it recovers.
  var lost: UInt64
}
