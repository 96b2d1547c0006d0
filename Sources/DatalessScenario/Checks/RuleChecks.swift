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
  /// Refuses rules and expectations whose paths begin with a path of the machine: those of a volume begin at its root,
  /// so that they would never match.
  ///
  /// - Parameter roots: The mountpoint and SOURCE, absolute, each by what messages call it. `/` is no such path.
  public func checkPaths(roots: [(name: String, path: [UInt8])]) throws(ScenarioError) {
    var problems: [ScenarioProblem] = []
    if case .sequence(let nodes) = root["rules"]?.value {
      for (index, rule) in simulation.rules.rules.enumerated() where index < nodes.count {
        guard problems.count < ScenarioLimits.problems else { break }
        problems += Self.problems(
          rule.match.paths, nodes[index]["match"]?["path"], of: "rules", file: places[index].file, roots: roots)
      }
    }
    problems += expectedPathProblems(roots)
    if !problems.isEmpty { throw ScenarioError(Array(problems.prefix(ScenarioLimits.problems))) }
  }

  /// The same of expectations alone, for who looks at nothing else of the scenario.
  public func checkExpectedPaths(roots: [(name: String, path: [UInt8])]) throws(ScenarioError) {
    let problems = expectedPathProblems(roots)
    if !problems.isEmpty { throw ScenarioError(Array(problems.prefix(ScenarioLimits.problems))) }
  }

  private func expectedPathProblems(_ roots: [(name: String, path: [UInt8])]) -> [ScenarioProblem] {
    guard case .sequence(let nodes) = root["expect"]?.value else { return [] }
    return nodes.flatMap { node in
      [node["match"]?["path"], node["forbid"], node["allow"]].flatMap { path in
        Self.problems(Self.globs(path), path, of: "expectations", file: file, roots: roots)
      }
    }
  }

  private static func globs(_ node: ScenarioNode?) -> [PathPattern] {
    guard let node else { return [] }
    let elements = if case .sequence(let list) = node.value { list } else { [node] }
    return elements.compactMap { $0.text.flatMap { PathPattern(Array($0.utf8)) } }
  }

  /// - Parameter what: Whose paths they are, in the plural.
  private static func problems(
    _ patterns: [PathPattern], _ node: ScenarioNode?, of what: String, file: String,
    roots: [(name: String, path: [UInt8])]
  ) -> [ScenarioProblem] {
    guard let node else { return [] }
    let elements = if case .sequence(let list) = node.value { list } else { [node] }
    return zip(patterns, elements).compactMap { pattern, element in
      guard let found = roots.lazy.compactMap({ root in pattern.beyond(root.path).map { (root.name, $0) } }).first
      else {
        return nil
      }
      let (text, rest) = (String(decoding: pattern.text, as: UTF8.self), String(decoding: found.1, as: UTF8.self))
      let inside = Suggestion.quotable(String(text.drop { $0 == "/" }))
      return ScenarioProblem(
        file: file, line: Int(element.line), column: Int(element.column),
        message:
          "the path '\(Suggestion.quotable(text))' begins with \(found.0), but paths of \(what) begin at the volume's "
          + "root. Write '\(Suggestion.quotable(rest))'; or '\(inside)', if the volume itself has such a path.")
    }
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
