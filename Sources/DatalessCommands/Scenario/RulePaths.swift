import DatalessControl
import DatalessCore

/// Globs of rules against the names in SOURCE: what is likely to be no more than a slip, said before anybody waits for
/// the rule to do something.
enum RulePaths {
  // LIMIT: rules that are looked at. Where there are more, nothing is said of any: a program has written them.
  static let rulesMax = 100

  /// - Parameter source: nil for one that is computed.
  static func warn(_ rules: RuleSet, _ source: [UInt8]?) {
    for warning in warnings(rules, source) { Console.note("dataless: warning: \(warning)") }
  }

  /// - Parameter source: nil for one that is computed.
  static func warnings(_ rules: RuleSet, _ source: [UInt8]?) -> [String] {
    let rules = rules.rules.filter { !$0.match.paths.isEmpty }
    guard let source, !rules.isEmpty, rules.count <= rulesMax, let names = SourceNames(below: source) else { return [] }
    return rules.flatMap { warnings($0, names) }
  }

  static func warnings(_ rule: Rule, _ names: SourceNames) -> [String] {
    let name = "rule '\(TerminalText.escaped(rule.name))'"
    var warnings = rule.match.paths.filter { glob in !names.paths.contains { glob.matches($0) } }.map { glob in
      "\(name): nothing in SOURCE matches '\(TerminalText.escaped(glob.text))' now. Check it."
    }
    // Of a file that has several names the volume knows those of the folders that were listed.
    let half = names.linked.lazy.compactMap { links -> (named: [UInt8], other: [UInt8])? in
      func isNamed(_ path: [UInt8]) -> Bool { rule.match.paths.contains { $0.matches(path) } }
      guard let named = links.first(where: isNamed), let other = links.first(where: { !isNamed($0) }) else {
        return nil
      }
      return (named, other)
    }.first
    if let half {
      warnings.append(
        "\(name) matches '\(TerminalText.escaped(half.named))', which is the same file as "
          + "'\(TerminalText.escaped(half.other))' (hard links): it does not hold for who reaches the file by that name "
          + "before the folder of the first one was listed. Have it match both.")
    }
    return warnings
  }
}
