import SystemPackage

/// How the log is doing.
struct LogStatus: Sendable, Equatable {
  /// Records lost so far because too many waited.
  var dropped: UInt64
  /// Records that are not in the file yet, lost ones not counted.
  var waiting: Int
  /// What the last write failed with; nil when it did not.
  var failure: Errno?
}
