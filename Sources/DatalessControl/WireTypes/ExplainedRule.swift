/// One rule, and why it decides or not.
public struct ExplainedRule: Codable, Sendable, Equatable {
  public var name: String
  /// `decides`; `no_match`; or `overruled`: it matches, but rules before it have said all that it says.
  public var verdict: String
  /// The parts it decides, or the condition that does not hold.
  public var reason: String

  enum CodingKeys: String, CodingKey, CaseIterable {
    case name, verdict, reason
  }

  public init(name: String, verdict: String, reason: String) {
    self.name = name
    self.verdict = verdict
    self.reason = reason
  }
}
