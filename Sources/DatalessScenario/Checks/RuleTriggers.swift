internal import DatalessCore

/// Rules that ask for operations that the profile does not materialize on.
enum RuleTriggers {
  static func warnings(
    _ rules: [Rule], _ places: [ScenarioDocument.Place], _ profile: Profile
  ) -> [ScenarioWarning] {
    var warnings: [ScenarioWarning] = []
    for (rule, place) in zip(rules, places) where !rule.match.triggers.isEmpty {
      if rule.match.triggers.contains(where: { profile.triggers($0, on: rule.match.kind) }) { continue }
      let words = Trigger.allCases.filter { rule.match.triggers.contains($0) }.map(\.rawValue)
      warnings.append(
        ScenarioWarning(
          file: place.file, line: place.line, column: place.column,
          message:
            "rule '\(rule.name)' never holds: with the profile '\(profile.name)', \(words.joined(separator: ", ")) "
            + "does not materialize. Choose another profile, or add the operation to a profile of your own."))
      if warnings.count == ScenarioLimits.problems { break }
    }
    return warnings
  }
}
