internal import DatalessCore

/// How rules stand to each other: those that can decide nothing any more, and gates that meet.
enum RuleOverlaps {
  static func warnings(_ rules: [Rule], _ places: [ScenarioDocument.Place]) -> [ScenarioWarning] {
    let shadowed = shadows(rules, places)
    return shadowed.warnings + gates(rules, places, besides: shadowed.rules)
  }

  private static func warning(_ place: ScenarioDocument.Place, _ message: String) -> ScenarioWarning {
    ScenarioWarning(file: place.file, line: place.line, column: place.column, message: message)
  }

  /// Where another rule stands, seen from one.
  private static func told(_ other: ScenarioDocument.Place, from place: ScenarioDocument.Place) -> String {
    other.file == place.file ? "line \(other.line)" : "\(other.file):\(other.line)"
  }

  // MARK: - Rules behind others

  private static let partNames = ["latency", "bandwidth", "fault", "gate", "materialize", "hydration", "evict"]

  private static func parts(_ effects: RuleEffects) -> UInt8 {
    (effects.latency != nil ? 1 : 0) | (effects.transferBandwidth != nil ? 2 : 0) | (effects.fault != nil ? 4 : 0)
      | (effects.gate != nil ? 8 : 0) | (effects.materialize != nil ? 16 : 0) | (effects.hydration != nil ? 32 : 0)
      | (effects.evict != nil ? 64 : 0)
  }

  /// A part of a rule is never used if an earlier rule says it under the same conditions, or under some of them.
  private static func shadows(
    _ rules: [Rule], _ places: [ScenarioDocument.Place]
  ) -> (warnings: [ScenarioWarning], rules: Set<Int>) {
    // For each set of conditions seen, which rule was the first to say each part.
    var first: [MatchKey: [Int?]] = [:]
    // More kinds of conditions than these hardly occur; what follows grows with them.
    var masks: Set<UInt16> = []
    var (warnings, shadowed): ([ScenarioWarning], Set<Int>) = ([], [])
    for (index, rule) in rules.enumerated() {
      let key = MatchKey(rule.match)
      let said = parts(rule.effects)
      var hidden: UInt8 = 0
      var by = index
      for mask in masks where mask & ~key.mask == 0 {
        guard let earlier = first[mask == key.mask ? key : MatchKey(rule.match, keeping: mask)] else { continue }
        for part in partNames.indices where said & (1 << part) != 0 {
          guard let place = earlier[part] else { continue }
          hidden |= 1 << part
          by = min(by, place)
        }
      }
      if hidden == said {
        shadowed.insert(index)
        if warnings.count < ScenarioLimits.problems {
          warnings.append(warning(places[index], shadowMessage(rule, rules[by], told(places[by], from: places[index]))))
        }
      }
      // A rule that holds by chance, or for some of its attempts, leaves something to those behind it.
      guard rule.match.probability == nil, !rule.match.countsAttempts, masks.contains(key.mask) || masks.count < 16
      else { continue }
      masks.insert(key.mask)
      var places = first[key] ?? Array(repeating: nil, count: partNames.count)
      for part in partNames.indices where said & (1 << part) != 0 && places[part] == nil { places[part] = index }
      first[key] = places
    }
    return (warnings, shadowed)
  }

  private static func shadowMessage(_ rule: Rule, _ earlier: Rule, _ place: String) -> String {
    "rule '\(rule.name)' never decides anything: '\(earlier.name)' in \(place) comes first, under the same conditions or "
      + "fewer. Put it before that one, or remove it."
  }

  // MARK: - Gates

  private static func gates(
    _ rules: [Rule], _ places: [ScenarioDocument.Place], besides shadowed: Set<Int>
  ) -> [ScenarioWarning] {
    var warnings: [ScenarioWarning] = []
    let gated = Array(
      rules.indices.lazy.filter { rules[$0].effects.gate != nil && !shadowed.contains($0) }
        .prefix(ScenarioLimits.comparedGates))
    for (number, later) in gated.enumerated() {
      let earlier = gated[..<number].first {
        rules[$0].effects.gate != rules[later].effects.gate
          && !MatchDisjointness.areDisjoint(rules[$0].match, rules[later].match)
      }
      guard let earlier, warnings.count < ScenarioLimits.problems else { continue }
      let (gate, first) = (rules[later].effects.gate ?? "", rules[earlier].effects.gate ?? "")
      warnings.append(
        warning(
          places[later],
          "gates overlap: an attempt that matches here and '\(rules[earlier].name)' in "
            + "\(told(places[earlier], from: places[later])) is held at '\(first)' only, never at '\(gate)'. Narrow one of "
            + "the two, or use one gate."))
    }
    return warnings
  }
}
