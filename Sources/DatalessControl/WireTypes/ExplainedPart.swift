/// One part of what would happen, and who decides it.
public struct ExplainedPart: Codable, Sendable, Equatable {
  /// `latency`, `bandwidth`, `fault`, `gate`, `materialize` or `evict`.
  public var part: String
  /// As the scenario has it; `none` where nothing happens.
  public var value: String
  /// The rule that decides; absent when the volume's own settings do.
  public var rule: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case part, value, rule
  }

  public init(part: String, value: String, rule: String? = nil) {
    self.part = part
    self.value = value
    self.rule = rule
  }
}
