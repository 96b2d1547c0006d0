import DatalessControl

/// One time that a thread was blocked, with all that the log says of it.
struct ReportWait: Sendable, Equatable {
  enum Kind: Sendable {
    /// For a materialization.
    case wait
    /// A delayed call on what is local: in no sum of blocked time.
    case access
    /// An intent that waits for others, which blocks no thread.
    case intent
  }

  var kind = Kind.wait
  /// Of the attempt, or of the delayed call.
  var number: UInt64?
  /// nil when the log does not tell.
  var path: [UInt8]?
  var isFile = true
  /// `read`, `readdir`, ...; `command` for `dataless materialize`.
  var trigger: String
  var process: UInt32?
  var threadID: Int64?
  /// nil where the log does not say.
  var isMainThread: Bool?
  var threadName: [UInt8]?
  /// CLOCK_MONOTONIC, nanoseconds.
  var start: Int64
  var end: Int64
  /// `ok`, `cancelled`, or an errno; empty while it is under way.
  var outcome: String
  var isUnderWay = false
  /// In which lane of its thread it is: `ThreadLanes`.
  var lane = 0
  var stack = ReportStack.none

  /// Never below 0, whatever the clock of a log says.
  var blocked: Int64 { end > start ? end.minus(start) : 0 }
  var isCommand: Bool { trigger == "command" || trigger == "eager" }
  /// Whether the caller got an errno.
  var isFailure: Bool { outcome != "ok" && outcome != "cancelled" && !isUnderWay }
}

/// What is known of where a thread stood.
enum ReportStack: Sendable, Hashable {
  /// The log has no record of it.
  case none
  /// Its index in `StackTable`.
  case known(Int)
  /// Why there is none, in the log's word.
  case missing(String)
}
