/// What has been materialized, and the budgets of `dataless run`.
///
/// Counted is what becomes local, when it does, however the attempt that brings it ends:
/// * bytes: those that an attempt makes local. What is thrown away with a failed attempt counts for nothing.
/// * files: one when the first of its content becomes local; a file that comes in parts, or by several attempts, is one. After it
///   was evicted it counts again.
///
/// Against the budgets count all bytes of an attempt that a budgeted caller has waited for, those that came before he joined it
/// included, and its file.
extension EngineState {
  /// Bytes of a file have become local.
  mutating func countArrival(_ attempt: Attempt, _ bytes: Int64, _ now: MonotonicTime) {
    attempt.brought = attempt.brought.saturatingAdd(bytes)
    totals.bytes = totals.bytes.saturatingAdd(bytes)
    // All of a file comes in one step, or in parts.
    if !attempt.isRanged {
      totals.files += 1
    } else if updateContent(of: attempt.node, { $0.countFile() }) {
      totals.files += 1
    }
    charge(attempt, bytes, now)
  }

  /// A budgeted caller waits for an attempt.
  mutating func noteBudgeted(_ attempt: Attempt, _ caller: Caller, _ now: MonotonicTime) {
    guard attempt.kind == .file, attempt.budgeted == nil else { return }
    attempt.budgeted = caller
    budgetedAttempts += 1
    if attempt.brought > 0 { charge(attempt, attempt.brought, now) }
  }

  /// Charges bytes of an attempt, and its file, to the budgets if a budgeted caller has waited for it.
  ///
  /// - Parameter bytes: 0 where another attempt has brought what this one was to bring: then the file alone counts.
  mutating func charge(_ attempt: Attempt, _ bytes: Int64, _ now: MonotonicTime) {
    guard let caller = attempt.budgeted else { return }
    totals.budgetedBytes = totals.budgetedBytes.saturatingAdd(bytes)
    if !attempt.isRanged {
      totals.budgetedFiles += 1
    } else if updateContent(of: attempt.node, { $0.chargeFile() }) {
      totals.budgetedFiles += 1
    }
    checkBudget(attempt, caller, now)
  }

  /// Exceeded once for each budget, by the attempt that crossed it.
  private mutating func checkBudget(_ attempt: Attempt, _ culprit: Caller, _ now: MonotonicTime) {
    for (name, limit, used) in [
      ("files", budget.maxFiles, totals.budgetedFiles),
      ("bytes", budget.maxBytes, totals.budgetedBytes),
    ] {
      guard let limit, used > limit, !totals.exceeded.contains(where: { $0.budget == name }) else { continue }
      let exceeded = Event.BudgetExceeded(
        budget: name, limit: limit, used: used, attempt: attempt.id.rawValue, path: attempt.path, caller: culprit,
        time: now)
      totals.exceeded.append(exceeded)
      events.record(.budgetExceeded(exceeded))
    }
  }
}

extension Engine {
  /// What counts against the budgets of `dataless run` so far, and attempts that may bring more: those in flight that a
  /// budgeted caller has waited for, whether somebody still does or not.
  public var budgetUse: (totals: MaterializationTotals, inFlight: Int) {
    state.withLock { ($0.totals, $0.budgetedAttempts) }
  }
}

extension Int64 {
  /// The sum of two numbers that are not negative, or the largest number: sizes may be absurd, sums must not trap or wrap.
  fileprivate func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
