/// Body of `POST /v1/scenario/settings`.
public struct SettingsRequest: Codable, Sendable, Equatable {
  /// By name. A string is read as YAML, as `dataless set` reads it: `"5"` is the number.
  public var settings: [String: JSONValue]

  public init(settings: [String: JSONValue]) {
    self.settings = settings
  }
}

extension SettingsRequest: WireRequest {
  public static var keys: [String] { ["settings"] }
}

/// Body of `POST /v1/scenario/rules`.
public struct RuleRequest: Codable, Sendable, Equatable {
  /// The rule as an object, or a string of YAML.
  public var rule: JSONValue
  /// `first`, so that it decides before all others, or `last`. Default `first`.
  public var position: String?

  public init(rule: JSONValue, position: String? = nil) {
    self.rule = rule
    self.position = position
  }
}

extension RuleRequest: WireRequest {
  public static var keys: [String] { ["rule", "position"] }
}

/// Answer of requests that change the scenario: what is in force now.
public struct ScenarioChange: Codable, Sendable, Equatable {
  /// How many rules there are now.
  public var rules: Int64
  /// The rule that was added, by the name it has.
  public var rule: String?
  /// What hardly can be meant; at most 20.
  public var warnings: [WireProblem]

  public init(rules: Int64, rule: String? = nil, warnings: [WireProblem] = []) {
    self.rules = rules
    self.rule = rule
    self.warnings = warnings
  }
}

/// What one rule has done since it is in force.
public struct RuleCount: Codable, Sendable, Equatable {
  public var name: String
  /// Attempts that met all its conditions. For a rule that only evicts: files for which it said when.
  public var attempts: Int64
  /// How many of them it decided something of; of the others, rules before it had said it all.
  public var decided: Int64

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

  enum CodingKeys: String, CodingKey {
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

/// What `dataless policy MOUNTPOINT --json` prints: who may materialize on a volume.
public struct PolicyAnswer: Codable, Sendable, Equatable {
  public struct Rule: Codable, Sendable, Equatable {
    public var name: String
    /// Whether what matches may materialize; `dataless scenario show` has the conditions.
    public var materialize: Bool

    public init(name: String, materialize: Bool) {
      self.name = name
      self.materialize = materialize
    }
  }

  /// For everybody whom no rule decides about.
  public var materialize: Bool
  /// Those that say something about it, in their order.
  public var rules: [Rule]

  public init(materialize: Bool, rules: [Rule]) {
    self.materialize = materialize
    self.rules = rules
  }
}
