/// What was materialized since the volume was mounted.
public struct MaterializationTotals: Sendable {
  public fileprivate(set) var files: Int64 = 0
  public fileprivate(set) var directories: Int64 = 0
  public fileprivate(set) var bytes: Int64 = 0
  public fileprivate(set) var failures: Int64 = 0
  public fileprivate(set) var cancelled: Int64 = 0
  public fileprivate(set) var refusals: Int64 = 0
  public fileprivate(set) var evictions: Int64 = 0
  /// What counted against the budgets of `dataless run`.
  public fileprivate(set) var budgetedFiles: Int64 = 0
  public fileprivate(set) var budgetedBytes: Int64 = 0
  public fileprivate(set) var exceeded: [Event.BudgetExceeded] = []
}

/// What has been materialized, and the budgets of `dataless run`.
///
/// Counted is what becomes local, when it does, however the attempt that brings it ends:
/// * bytes: those that an attempt makes local. What is thrown away with a failed attempt counts for nothing.
/// * files: one when the first of its content becomes local; a file that comes in parts, or by several attempts, is
///   one. After it was evicted it counts again.
///
/// Against the budgets count all bytes of an attempt that a budgeted caller has waited for, those that came before he
/// joined it included, and its file.
struct MaterializationLedger {
  let budget: EngineConfiguration.Budget
  private(set) var totals = MaterializationTotals()
  /// Attempts in flight for files that a budgeted caller has waited for, whether somebody still does or not.
  private(set) var budgetedAttempts = 0

  init(budget: EngineConfiguration.Budget) { self.budget = budget }

  /// What was counted so far was for something else. Budgets belong to one command, and stay.
  mutating func forgetTotals() {
    var totals = MaterializationTotals()
    totals.budgetedFiles = self.totals.budgetedFiles
    totals.budgetedBytes = self.totals.budgetedBytes
    totals.exceeded = self.totals.exceeded
    self.totals = totals
  }

  mutating func countRefusal() { totals.refusals += 1 }

  mutating func countEviction() { totals.evictions += 1 }

  /// Bytes of a file have become local. - Parameter isNew: Whether they are the first of it.
  mutating func countArrival(bytes: Int64, isNew: Bool) {
    totals.bytes = totals.bytes.saturatingAdd(bytes)
    if isNew { totals.files += 1 }
  }

  /// An attempt has ended. What it has brought of a file was counted when it came.
  mutating func countEnd(of kind: MaterializationKind, _ outcome: Outcome) {
    switch outcome {
    case .failed: totals.failures += 1
    case .cancelled: totals.cancelled += 1
    case .ok: if kind == .directory { totals.directories += 1 }
    }
  }

  // MARK: - Budgets

  /// A budgeted caller waits for an attempt, the first one of it.
  mutating func beginBudgeted() { budgetedAttempts += 1 }

  /// Such an attempt has ended.
  mutating func endBudgeted() { budgetedAttempts -= 1 }

  /// What is counted against the budgets: bytes of an attempt, and perhaps its file.
  struct Charge {
    /// 0 where another attempt has brought what this one was to bring: then the file alone counts.
    var bytes: Int64
    /// Whether its file has not been charged yet.
    var isNewFile: Bool
    /// Who has waited for it.
    var caller: Caller
  }

  /// Charges an attempt. - Returns: The budgets that it has crossed; each is exceeded once.
  mutating func charge(
    _ charge: Charge, attempt: AttemptID, path: [UInt8], _ now: MonotonicTime
  ) -> [Event.BudgetExceeded] {
    totals.budgetedBytes = totals.budgetedBytes.saturatingAdd(charge.bytes)
    if charge.isNewFile { totals.budgetedFiles += 1 }
    var crossed: [Event.BudgetExceeded] = []
    for (name, limit, used) in [
      ("files", budget.maxFiles, totals.budgetedFiles),
      ("bytes", budget.maxBytes, totals.budgetedBytes),
    ] {
      guard let limit, used > limit, !totals.exceeded.contains(where: { $0.budget == name }) else { continue }
      crossed.append(
        Event.BudgetExceeded(
          budget: name, limit: limit, used: used, attempt: attempt.rawValue, path: path, caller: charge.caller,
          time: now))
    }
    totals.exceeded += crossed
    return crossed
  }
}

extension Int64 {
  /// The sum of two numbers that are not negative, or the largest number: sizes may be absurd, sums must not trap or
  /// wrap.
  func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
