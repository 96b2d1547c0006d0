/// What `dataless policy MOUNTPOINT --json` prints: who may materialize on a volume.
public struct PolicyAnswer: Codable, Sendable, Equatable {
  public struct Rule: Codable, Sendable, Equatable {
    public var name: String
    /// Whether what matches may materialize; `dataless scenario show` has the conditions.
    public var materialize: Bool

    enum CodingKeys: String, CodingKey, CaseIterable {
      case name, materialize
    }

    public init(name: String, materialize: Bool) {
      self.name = name
      self.materialize = materialize
    }
  }

  /// For everybody whom no rule decides about.
  public var materialize: Bool
  /// Those that say something about it, in their order.
  public var rules: [Rule]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case materialize, rules
  }

  public init(materialize: Bool, rules: [Rule]) {
    self.materialize = materialize
    self.rules = rules
  }
}
