/// Answer of `GET /v1/explain`: what the rules would decide about a trigger, which has not happened.
public struct ExplainAnswer: Codable, Sendable, Equatable {
  /// Relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// `file` or `directory`.
  public var kind: String
  /// As `GET /v1/items` has it: `resident` and `listed` items trigger nothing until they are evicted.
  public var state: String
  public var sizeBytes: Int64
  public var trigger: String
  /// Whether the volume's profile materializes an item of this kind on this trigger; if not, nothing else of this
  /// happens.
  public var isTrigger: Bool
  /// The profile's name.
  public var profile: String
  /// What the caller gets when content does not come, by `refused`, `offline`, `timeout`, `superseded`, `gone` and
  /// `failed`.
  public var errnos: [String: String]
  /// Which attempt of the item it would be, from 1.
  public var attempt: Int64
  /// Whether the store is made unreachable: then the attempt fails before anything else.
  public var isOffline: Bool
  /// The process that was asked about; absent when none was named.
  public var process: WireProcess?
  /// `latency`, `bandwidth`, `fault`, `gate`, `materialize` and `evict`, in this order; those that apply.
  public var parts: [ExplainedPart]
  /// The first 1,000 rules in their order.
  public var rules: [ExplainedRule]
  public var ruleCount: Int64

  enum CodingKeys: String, CodingKey {
    case path, kind, state, trigger, attempt, process, parts, rules, profile, errnos
    case isTrigger = "materializes"
    case pathBase64 = "path_b64"
    case sizeBytes = "size_bytes"
    case isOffline = "offline"
    case ruleCount = "rule_count"
  }

  public init(
    path: [UInt8], kind: String, state: String, sizeBytes: Int64, trigger: String, isTrigger: Bool = true,
    profile: String = "macos", errnos: [String: String] = [:], attempt: Int64,
    isOffline: Bool = false, process: WireProcess? = nil, parts: [ExplainedPart], rules: [ExplainedRule],
    ruleCount: Int64
  ) {
    (self.path, pathBase64) = WirePath.split(path)
    self.kind = kind
    self.state = state
    self.sizeBytes = sizeBytes
    self.trigger = trigger
    self.isTrigger = isTrigger
    self.profile = profile
    self.errnos = errnos
    self.attempt = attempt
    self.isOffline = isOffline
    self.process = process
    self.parts = parts
    self.rules = rules
    self.ruleCount = ruleCount
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}

/// One part of what would happen, and who decides it.
public struct ExplainedPart: Codable, Sendable, Equatable {
  /// `latency`, `bandwidth`, `fault`, `gate`, `materialize` or `evict`.
  public var part: String
  /// As the scenario has it; `none` where nothing happens.
  public var value: String
  /// The rule that decides; absent when the volume's own settings do.
  public var rule: String?

  public init(part: String, value: String, rule: String? = nil) {
    self.part = part
    self.value = value
    self.rule = rule
  }
}

/// One rule, and why it decides or not.
public struct ExplainedRule: Codable, Sendable, Equatable {
  public var name: String
  /// `decides`; `no_match`; or `overruled`: it matches, but rules before it have said all that it says.
  public var verdict: String
  /// The parts it decides, or the condition that does not hold.
  public var reason: String

  public init(name: String, verdict: String, reason: String) {
    self.name = name
    self.verdict = verdict
    self.reason = reason
  }
}
