/// One rule of a scenario: for what it holds, and what happens then.
public struct Rule: Sendable, Equatable {
  /// Given by the user, or `rule-<n>` from 1: what the log and `explain` call it. Unique in a scenario.
  public var name: String
  public var match: RuleMatch
  public var effects: RuleEffects

  public init(name: String, match: RuleMatch, effects: RuleEffects) {
    self.name = name
    self.match = match
    self.effects = effects
  }
}

/// For which attempts a rule holds: every given condition must.
public struct RuleMatch: Sendable, Equatable {
  /// One of these must match; empty = any path.
  public var paths: [PathPattern] = []
  /// st_size in bytes; directories never match a rule with it.
  public var size: ClosedRange<Int64>?
  public var kind: MaterializationKind?
  /// Empty = any.
  public var triggers: Set<Trigger> = []
  /// The calling process itself.
  public var process: ProcessMatch?
  /// Any ancestor of the calling process, not itself.
  public var ancestor: ProcessMatch?
  /// The item's attempt, from 1.
  public var attempts: ClosedRange<Int>?
  /// Every nth attempt of an item: n, 2n, ...; at least 1.
  public var everyAttempt: Int?
  /// Which of all the attempts that meet the other conditions, from 1, whatever the items; see `RuleCounter`.
  public var nth: ClosedRange<Int>?
  /// Every nth of them: n, 2n, ...; at least 1.
  public var everyNth: Int?
  /// Nanoseconds since the scenario was loaded (mount, or the last replacement).
  public var window: Range<Nanoseconds>?
  /// 0...1; by the seed, the rule, the item's path and its attempt.
  public var probability: Double?

  public init() {}

  /// Whether which of the attempts it is matters.
  public var countsAttempts: Bool { nth != nil || everyNth != nil }

  func holds(nth number: Int) -> Bool {
    nth?.contains(number) ?? true && everyNth.map { number % $0 == 0 } ?? true
  }
}

/// What a rule says. Each part is decided by the first rule that matches and says something about it.
public struct RuleEffects: Sendable, Equatable {
  public var latency: LatencyModel?
  /// Bytes per second of one transfer, at least 1.
  public var transferBandwidth: Int64?
  /// Files only.
  public var hydration: Hydration?
  public var fault: Fault?
  /// The name of a gate that holds the attempt.
  public var gate: String?
  /// Whether the caller may materialize; false = refused at once. Weaker than what the caller has set for itself.
  public var materialize: Bool?
  /// Whether the callers that wait are looked at for their stacks, whatever the volume's setting.
  public var stack: Bool?
  /// When the system evicts the file by itself.
  public var evict: SystemEviction?
  /// How long calls that need no materialization are delayed; instead of the volume's, operation by operation.
  public var access = AccessDelay()

  public init() {}

  public var isEmpty: Bool { self == RuleEffects() }

  /// Whether it says something about attempts themselves, not only about what they leave behind.
  var decidesAttempts: Bool {
    latency != nil || transferBandwidth != nil || hydration != nil || fault != nil || gate != nil || materialize != nil
      || stack != nil
  }
}
