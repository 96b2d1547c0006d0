/// What of its file an attempt brings in, and in which order.
struct AttemptReach {
  /// The part of the file (`Hydration.partial`), in whole pages; nil: all of it.
  var range: Range<Int64>?
  /// Whether it goes by ranges, because of its hydration or because part of the file is there already.
  var isRanged = false
  /// Where the first caller wanted to read.
  var firstOffset: Int64 = 0
}

/// What was decided about an attempt when it started; a later change of the scenario does not reach it.
struct AttemptPlan {
  var requestedDelay: Nanoseconds = 0
  /// Bytes per second of this transfer; nil = as fast as the shared line and the disk.
  var transferBandwidth: Int64?
  var hydration = Hydration.full
  var fault: Decision.Part<Fault>?
  var gate: Decision.Part<String>?
  /// What a rule says about the stacks of those who wait for it; nil: as the volume's setting has it.
  var takesStacks: Bool?
  /// The profile's.
  var errnos = Profile.macos.fileErrnos
  /// The rules that decided something.
  var rules: [String] = []
  /// What it brings in is kept here, and the store has nothing of it.
  var isOfVolume = false
}

/// How an attempt ended, for its records and its waiters.
struct AttemptEnd {
  var outcome: Outcome
  var message: String?
  /// The rule, or the setting, that staged this end; nil for a real one.
  var rule: String?
  var entries: Int?
  var storeTime: Nanoseconds = 0
}

/// The part of an attempt that runs on a lane (content: blocking, listings: metadata) or a request thread, and can be
/// told to give up.
protocol AttemptJob: AnyObject, Sendable {
  /// Asks the job to stop at its next step; its result is dropped.
  func cancel()
}
