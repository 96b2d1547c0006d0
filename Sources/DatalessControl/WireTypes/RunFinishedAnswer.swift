/// Answer of `POST /v1/run/finished`.
public struct RunFinishedAnswer: Codable, Sendable, Equatable {
  /// The number of the `run.finished` record.
  public var seq: UInt64
  /// What the command used, and which budgets it exceeded.
  public var budget: BudgetStatus
  /// What the scenario's rules did.
  public var rules: RuleCounts

  enum CodingKeys: String, CodingKey, CaseIterable {
    case seq, budget, rules
  }

  public init(seq: UInt64, budget: BudgetStatus, rules: RuleCounts) {
    self.seq = seq
    self.budget = budget
    self.rules = rules
  }
}
