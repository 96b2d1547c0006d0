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
