internal import DatalessCore

/// Names of rules: the given ones, each once, and `rule-<n>` for the others.
enum RuleNames {
  /// - Parameter taken: Names that stand already.
  /// - Returns: One name for each rule.
  static func assign(_ rules: [RuleDraft], taken: Set<String>, _ decoder: inout ScenarioDecoder) -> [String] {
    var lines: [String: Int32] = [:]
    for rule in rules {
      guard let name = rule.name else { continue }
      let place = rule.node["name"] ?? rule.node
      if let line = lines[name] {
        decoder.fail(place, "two rules are named '\(name)', here and in line \(line). Rename one of them.")
      } else if taken.contains(name) {
        decoder.fail(place, "there is a rule named '\(name)' already. Choose another name, or replace that rule.")
      }
      lines[name] = place.line
    }
    var names: [String] = []
    names.reserveCapacity(rules.count)
    var next = taken.count
    for rule in rules {
      next += 1
      guard rule.name == nil else {
        names.append(rule.name ?? "")
        continue
      }
      var number = next
      while lines["rule-\(number)"] != nil || taken.contains("rule-\(number)") { number += 1 }
      names.append("rule-\(number)")
      lines["rule-\(number)"] = rule.node.line
    }
    return names
  }
}

extension ScenarioDocument {
  /// Refuses rules whose paths begin with a path of the machine: those of a volume begin at its root, so that they
  /// would never match.
  ///
  /// - Parameter roots: The mountpoint and SOURCE, absolute, each by what messages call it. `/` is no such path.
  public func checkPaths(roots: [(name: String, path: [UInt8])]) throws(ScenarioError) {
    guard case .sequence(let nodes) = root["rules"]?.value else { return }
    var problems: [ScenarioProblem] = []
    for (index, rule) in simulation.rules.rules.enumerated() where problems.count < ScenarioLimits.problems {
      guard index < nodes.count, let node = nodes[index]["match"]?["path"] else { continue }
      let elements = if case .sequence(let list) = node.value { list } else { [node] }
      for (pattern, element) in zip(rule.match.paths, elements) {
        guard let found = roots.lazy.compactMap({ root in pattern.beyond(root.path).map { (root.name, $0) } }).first
        else {
          continue
        }
        let (text, rest) = (String(decoding: pattern.text, as: UTF8.self), String(decoding: found.1, as: UTF8.self))
        let inside = Suggestion.quotable(String(text.drop { $0 == "/" }))
        problems.append(
          ScenarioProblem(
            file: places[index].file, line: Int(element.line), column: Int(element.column),
            message:
              "the path '\(Suggestion.quotable(text))' begins with \(found.0), but paths of rules begin at the volume's "
              + "root. Write '\(Suggestion.quotable(rest))'; or '\(inside)', if the volume itself has such a path."))
      }
    }
    if !problems.isEmpty { throw ScenarioError(problems) }
  }
}

/// Rules that ask for operations that the profile does not materialize on.
enum RuleTriggers {
  static func warnings(
    _ rules: [Rule], places: [ScenarioDocument.Place], profile: Profile
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
