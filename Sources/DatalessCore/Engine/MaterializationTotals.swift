/// What was materialized since the volume was mounted.
public struct MaterializationTotals: Sendable {
  public internal(set) var files: Int64 = 0
  public internal(set) var directories: Int64 = 0
  public internal(set) var bytes: Int64 = 0
  public internal(set) var failures: Int64 = 0
  public internal(set) var cancelled: Int64 = 0
  public internal(set) var refusals: Int64 = 0
  public internal(set) var evictions: Int64 = 0
  /// What counted against the budgets of `dataless run`.
  public internal(set) var budgetedFiles: Int64 = 0
  public internal(set) var budgetedBytes: Int64 = 0
  public internal(set) var exceeded: [Event.BudgetExceeded] = []
}
