/// Body of `POST /v1/scenario/rules`.
public struct RuleRequest: Codable, Sendable, Equatable {
  /// The rule as an object, or a string of YAML.
  public var rule: JSONValue
  /// `first`, so that it decides before all others, or `last`. Default `first`.
  public var position: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case rule, position
  }

  public init(rule: JSONValue, position: String? = nil) {
    self.rule = rule
    self.position = position
  }
}
