/// What one rule has done since it is in force.
public struct RuleCount: Codable, Sendable, Equatable {
  public var name: String
  /// Attempts that met all its conditions. For a rule that only evicts: files for which it said when.
  public var attempts: Int64
  /// How many of them it decided something of; of the others, rules before it had said it all.
  public var decided: Int64

  enum CodingKeys: String, CodingKey, CaseIterable { case name, attempts, decided }

  public init(name: String, attempts: Int64, decided: Int64) {
    self.name = name
    self.attempts = attempts
    self.decided = decided
  }
}

/// What the scenario's rules have done since they are in force.
public struct RuleCounts: Codable, Sendable, Equatable {
  /// LIMIT: rules that are told apart; those that never fired come first in what is kept.
  public static let listedMax = 1000

  /// All rules.
  public var count: Int64
  /// Rules that decided nothing.
  public var neverFired: Int64
  /// At most 1,000 of them, in the scenario's order.
  public var rules: [RuleCount]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case count, rules
    case neverFired = "never_fired"
  }

  /// Of all rules, in the scenario's order.
  public init(_ all: [RuleCount]) {
    count = Int64(all.count)
    neverFired = Int64(all.count { $0.decided == 0 })
    guard all.count > Self.listedMax else {
      rules = all
      return
    }
    let unused = all.indices.filter { all[$0].decided == 0 }
    let others = all.indices.filter { all[$0].decided != 0 }
    rules = (unused + others).prefix(Self.listedMax).sorted().map { all[$0] }
  }

  /// As a log has them; nil if they are not there.
  init?(_ json: JSONObject) {
    guard let count = json.integer("count"), let neverFired = json.integer("never_fired") else { return nil }
    self.count = count
    self.neverFired = neverFired
    rules = json.objects("rules").prefix(Self.listedMax).map { rule in
      RuleCount(
        name: rule.string("name") ?? "", attempts: rule.integer("attempts") ?? 0,
        decided: rule.integer("decided") ?? 0)
    }
  }

  /// The rules of the list that decided nothing.
  public var unused: [RuleCount] { rules.filter { $0.decided == 0 } }
}
