internal import Synchronization

/// What a rule has done since it is in force.
final class RuleCounter: Sendable {
  /// Attempts that met all conditions but `nth`. Written under the engine's lock alone, with the start of the attempt.
  private let met = Atomic<Int>(0)
  private let attempts = Atomic<Int64>(0)
  private let decided = Atomic<Int64>(0)

  /// Which of the attempts that it counts the next one is.
  var next: Int { met.load(ordering: .relaxed) + 1 }

  func meet() { met.wrappingAdd(1, ordering: .relaxed) }

  func match(decides: Bool) {
    attempts.wrappingAdd(1, ordering: .relaxed)
    if decides { decided.wrappingAdd(1, ordering: .relaxed) }
  }

  func count(named name: String) -> RuleUse {
    RuleUse(
      name: name, attempts: attempts.load(ordering: .relaxed), decided: decided.load(ordering: .relaxed))
  }
}

/// What a rule has done since it is in force: since the mount, or since it was added or changed.
public struct RuleUse: Sendable, Equatable {
  public var name: String
  /// Attempts that met all its conditions: those that started, and those that the rule itself refused. For a rule that
  /// only evicts: files for which it said when; for one that only delays accesses: calls whose delay it said.
  public var attempts: Int64
  /// How many of them it said something about; of the others, rules before it had said it all.
  public var decided: Int64

  public init(name: String, attempts: Int64, decided: Int64) {
    self.name = name
    self.attempts = attempts
    self.decided = decided
  }
}

extension RuleSet {
  /// What each rule has done, in their order.
  public var counts: [RuleUse] { zip(rules, counters).map { $1.count(named: $0.name) } }

  /// Rules that stay as they were go on counting.
  public mutating func keepCounts(of old: RuleSet) {
    let places = Dictionary(zip(old.rules.map(\.name), old.rules.indices)) { first, _ in first }
    for (index, rule) in rules.enumerated() {
      guard let place = places[rule.name], old.rules[place] == rule else { continue }
      counters[index] = old.counters[place]
    }
  }

  /// All rules count from the start; others with the same rules go on.
  public mutating func renewCounts() { counters = rules.map { _ in RuleCounter() } }

  /// An attempt starts. - Parameter decision: Settled.
  func started(_ decision: Decision) {
    for place in decision.counting { counters[place].meet() }
    if decision.matched.isEmpty { return }
    let deciding = decision.deciding
    for place in decision.matched { counters[place].match(decides: deciding.contains { $0.place == place }) }
  }

  /// The rule at this place refused a caller. - Parameter isAttempt: Whether an attempt would have started.
  func refused(by place: Int, isAttempt: Bool) {
    if isAttempt, rules[place].match.countsAttempts { counters[place].meet() }
    counters[place].match(decides: true)
  }

  /// The rule at this place said when a file that has become resident is evicted. One that says more than that has been
  /// counted with the attempt.
  func planned(by place: Int) {
    if !rules[place].effects.decidesAttempts { counters[place].match(decides: true) }
  }

  /// The rule at this place said how long a call on what is local is delayed. Counted as `planned` is.
  func delayed(by place: Int) {
    let effects = rules[place].effects
    if !effects.decidesAttempts, effects.evict == nil { counters[place].match(decides: true) }
  }
}
