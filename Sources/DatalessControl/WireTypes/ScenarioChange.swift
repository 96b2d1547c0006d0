/// Answer of requests that change the scenario: what is in force now.
public struct ScenarioChange: Codable, Sendable, Equatable {
  /// How many rules there are now.
  public var rules: Int64
  /// The rule that was added, by the name it has.
  public var rule: String?
  /// What hardly can be meant; at most 20.
  public var warnings: [WireProblem]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case rules, rule, warnings
  }

  public init(rules: Int64, rule: String? = nil, warnings: [WireProblem] = []) {
    self.rules = rules
    self.rule = rule
    self.warnings = warnings
  }
}
