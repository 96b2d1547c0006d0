import DatalessControl

/// A difference with which `dataless diff --fail-on` fails: more of something than before, beyond a tolerance.
public struct DifferenceCondition: Sendable, Equatable {
  public enum Measure: String, Sendable, CaseIterable {
    /// Files were fetched that were not before.
    case newFiles = "new-files"
    case moreFiles = "more-files"
    case moreDirectories = "more-directories"
    case moreBytes = "more-bytes"
    case moreWaits = "more-waits"
    /// Callers were blocked longer altogether.
    case longerWaits = "longer-waits"
    case longerMainThread = "longer-main-thread"
    /// Intents waited longer for others altogether.
    case longerIntentWaits = "longer-intent-waits"
    case moreNeedless = "more-needless"
    case moreFailures = "more-failures"
    case moreRefusals = "more-refusals"

    /// The key in `totals`; nil for what is counted by path.
    fileprivate var total: String? {
      switch self {
      case .newFiles: nil
      case .moreFiles: "files"
      case .moreDirectories: "directories"
      case .moreBytes: "bytes"
      case .moreWaits: "waits"
      case .longerWaits: "blocked_ns"
      case .longerMainThread: "main_thread_blocked_ns"
      case .longerIntentWaits: "intents_waited_ns"
      case .moreNeedless: "needless_files"
      case .moreFailures: "failures"
      case .moreRefusals: "refusals"
      }
    }
  }

  /// Why a text is no condition, as the rest of a sentence.
  public struct Flaw: Error, Equatable { public var words: String }

  public var measure: Measure
  /// Of the number before, in hundredths of a percent.
  public var tolerance: Int64 = 0

  /// Reads `more-bytes`, or with a tolerance `longer-waits=20%`.
  public init(parsing text: some StringProtocol) throws(Flaw) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let measure = Measure(rawValue: String(parts[0])) else {
      throw Flaw(words: "expected one of \(Measure.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    self.measure = measure
    guard parts.count == 2 else { return }
    guard measure != .newFiles else { throw Flaw(words: "new-files has no tolerance") }
    guard parts[1].hasSuffix("%"), let value = Double(parts[1].dropLast()), value.isFinite,
      (0...1_000_000).contains(value)
    else { throw Flaw(words: "expected a tolerance such as 20%, 0 to 1000000") }
    tolerance = Int64((value * 100).rounded())
  }

  /// What is known of a condition.
  enum Outcome: Equatable {
    case held
    /// With a sentence that says what is beyond it, or why nobody knows.
    case failed(String)
    case unknown(String)
  }

  /// What two logs say of the condition, and whether they can: one that does not tell all may have had more.
  func outcome(of difference: RunDifference) -> Outcome {
    let failure = failure(of: difference)
    let isBothComplete = difference.before.isComplete && difference.after.isComplete
    // More records cannot make less of what a log tells, so that a failure stands whatever the second lacks, and a pass
    // whatever the first does. (But for a wait whose end is missing with that of its attempt: it counts up to the last
    // record.) What seems needless may have been read in what is missing.
    let isFirm = failure == nil ? difference.after.isComplete : difference.before.isComplete
    var reasons: [String] = []
    if !isBothComplete, !isFirm || measure == .moreNeedless {
      for (name, side) in [("before", difference.before), ("after", difference.after)] where !side.isComplete {
        reasons.append("the log \(name) does not tell all (\(side.gaps.joined(separator: ", ")))")
      }
    }
    if let untold = untold(of: difference, isBeyond: failure != nil) { reasons.append(untold) }
    guard !reasons.isEmpty else { return failure.map { .failed($0) } ?? .held }
    let seen = failure ?? "\(measure.rawValue): there is no more than before in what the logs tell"
    return .unknown("\(seen), but \(reasons.joined(separator: ", and "))")
  }

  /// What is in no sum, and might decide: what may have been before of what is beyond the condition, what may be after
  /// of what is not. nil without any.
  private func untold(of difference: RunDifference, isBeyond: Bool) -> String? {
    guard let total = measure.total, let untold = difference.untold[total] else { return nil }
    let count = isBeyond ? untold.before : untold.after
    guard count > 0 else { return nil }
    let log = "the log \(isBeyond ? "before" : "after") does not tell"
    switch measure {
    case .longerIntentWaits: return "\(log) how long \(HumanText.count(count, "intent")) waited"
    case .longerMainThread: return "\(log) of \(HumanText.count(count, "wait")) whether it was a main thread's"
    case .moreNeedless:
      // Files are counted: as many as that alone may be too few to decide.
      guard var amount = difference.totals[total] else { return nil }
      if isBeyond { amount.before = amount.before.plus(count) } else { amount.after = amount.after.plus(count) }
      guard isBeyond != self.isBeyond(amount) else { return nil }
      return "\(log) how much was read of \(HumanText.count(count, "file")) (--observe reads tells)"
    default: return nil
    }
  }

  private func isBeyond(_ amount: RunDifference.Amount) -> Bool {
    amount.change > 0 && Double(amount.after) > Double(amount.before) * (1 + Double(tolerance) / 10_000)
  }

  /// A sentence that says what is beyond the condition in what the logs tell; nil when nothing is.
  func failure(of difference: RunDifference) -> String? {
    guard let total = measure.total else {
      guard let first = difference.firstNewPath else { return nil }
      let count = difference.newPathCount
      let more = count > 1 ? " and \(HumanText.count(count - 1)) more" : ""
      return "new-files: \(first)\(more) were not fetched before"
    }
    guard let amount = difference.totals[total], isBeyond(amount) else { return nil }
    var words = DifferenceText.amount(total)
    // Texts are rounded: what is more has to read as more.
    if words(amount.after) == words(amount.before) { words = DifferenceText.exactAmount(total) }
    let beyond = tolerance > 0 ? ", more than \(HumanText.decimal(Double(tolerance) / 100, 2)) % beyond" : ""
    return "\(measure.rawValue): \(words(amount.after)) after \(words(amount.before)) before\(beyond)"
  }
}

extension RunDifference {
  /// Takes note of which conditions do not hold, and of which nobody knows whether they do.
  public mutating func judge(_ conditions: [DifferenceCondition]) {
    (failures, unknown) = ([], [])
    for condition in conditions {
      switch condition.outcome(of: self) {
      case .held: break
      case .failed(let words): failures.append(words)
      case .unknown(let words): unknown.append(words)
      }
    }
  }
}
