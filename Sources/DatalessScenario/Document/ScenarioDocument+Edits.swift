internal import DatalessCore

/// Edits of a live scenario. Each is checked as the whole was; one that is wrong throws and leaves the value as it is.
extension ScenarioDocument {
  /// Changes settings, as `dataless set latency=200ms` does. Values are YAML: `latency={preset: s3}`.
  ///
  /// - Throws: unknown or repeated keys, `version` and `rules`, and values that the file would not take either. Columns
  ///   count from the start of `KEY=VALUE`, which stands for the file's name.
  public func setting(
    _ assignments: [(key: String, value: String)], readFile: @escaping ScenarioFileReader = refuseFiles
  ) throws(ScenarioError) -> ScenarioDocument {
    var draft = ScenarioDraft()
    draft.simulation = simulation
    var entries: [ScenarioNode.Entry] = []
    var problems: [ScenarioProblem] = []
    for (key, value) in assignments {
      let name = "\(Suggestion.quotable(key))=\(Suggestion.quotable(value))"
      do throws(ScenarioError) {
        if entries.contains(where: { $0.key == key }) {
          throw ScenarioError(file: name, "'\(key)' is set twice. Give it once.")
        }
        let node = try Self.setting(key, value, name: name, into: &draft, readFile: readFile)
        entries.append(ScenarioNode.Entry(key: key, value: node))
      } catch {
        problems += error.problems
      }
    }
    if !problems.isEmpty { throw ScenarioError(problems) }
    var result = self
    result.simulation = draft.simulation
    guard case .mapping(var all) = root.value else { return result }
    for entry in entries { Self.put(entry.value, at: entry.key, into: &all) }
    result.root.value = .mapping(all)
    // What rules ask for may be in the profile now, or no more.
    if entries.contains(where: { $0.key == "profile" }) { result.setRules(result.simulation.rules.rules) }
    return result
  }

  /// Sets a field of the scenario, or one of a mapping in it.
  private static func put(_ value: ScenarioNode, at key: String, into all: inout [ScenarioNode.Entry]) {
    var (key, value) = (key, value)
    if let dot = key.firstIndex(of: ".") {
      let inner = String(key[key.index(after: dot)...])
      key = String(key[..<dot])
      var parts: [ScenarioNode.Entry] = []
      if case .mapping(let entries) = all.first(where: { $0.key == key })?.value.value { parts = entries }
      parts.removeAll { $0.key == inner }
      parts.append(ScenarioNode.Entry(key: inner, value: value))
      value = ScenarioNode(.mapping(parts))
    }
    if let index = all.firstIndex(where: { $0.key == key }) {
      all[index].value = value
    } else {
      // Before the rules, where people look for settings.
      all.insert(ScenarioNode.Entry(key: key, value: value), at: all.firstIndex { $0.key == "rules" } ?? all.count)
    }
  }

  /// A setting's value with the delays of the logs that it names in place of their paths, as a daemon takes it.
  ///
  /// - Throws: what `setting` throws for this key and value alone.
  public static func valueWithoutFiles(
    _ key: String, _ value: String, readFile: @escaping ScenarioFileReader
  ) throws(ScenarioError) -> String {
    guard value.contains("replay") else { return value }
    var draft = ScenarioDraft()
    let name = "\(Suggestion.quotable(key))=\(Suggestion.quotable(value))"
    let node = try setting(key, value, name: name, into: &draft, readFile: readFile)
    return String(decoding: node.json(pretty: false), as: UTF8.self)
  }

  private static func setting(
    _ key: String, _ value: String, name: String, into draft: inout ScenarioDraft,
    readFile: @escaping ScenarioFileReader
  ) throws(ScenarioError) -> ScenarioNode {
    let read = try reader(of: key, name: name)
    if value.utf8.allSatisfy({ $0 == 32 }) {
      throw ScenarioError(
        file: name, column: key.unicodeScalars.count + 2,
        "there is no value. Write '\(key)=VALUE'; 'none' removes a limit.")
    }
    let node: ScenarioNode
    let shift = key.unicodeScalars.count + 1
    do throws(ScenarioError) {
      node = try YAMLReader.read(Array(value.utf8), file: name)
    } catch {
      throw shifted(error, by: shift)
    }
    var decoder = ScenarioDecoder(file: name, readFile: readFile)
    read(&draft, node, &decoder)
    do throws(ScenarioError) {
      try decoder.check()
    } catch {
      throw shifted(error, by: shift)
    }
    return decoder.replacing(node)
  }

  private typealias Reader = (inout ScenarioDraft, ScenarioNode, inout ScenarioDecoder) -> Void

  /// What reads a setting: a field of the scenario, or one of `present` or `access`.
  private static func reader(of key: String, name: String) throws(ScenarioError) -> Reader {
    let settings = ScenarioFieldTables.settings
    if let field = settings.first(where: { $0.name == key }) { return field.read }
    let parts = PresentationValues.table.fields
    if let field = parts.first(where: { "present.\($0.name)" == key }) {
      return { draft, node, decoder in field.read(&draft.simulation.presentation, node, &decoder) }
    }
    let accesses = AccessValues.table.fields
    if let field = accesses.first(where: { "access.\($0.name)" == key }) {
      return { draft, node, decoder in field.read(&draft.simulation.access, node, &decoder) }
    }
    let names =
      key.hasPrefix("present.")
      ? parts.map { "present.\($0.name)" }
      : key.hasPrefix("access.") ? accesses.map { "access.\($0.name)" } : settings.map(\.name)
    let hint =
      key == "rules" ? " Rules are added and removed one by one." : Suggestion.text(for: key, among: names)
    throw ScenarioError(
      file: name, "unknown setting '\(Suggestion.quotable(key))'.\(hint) There are: \(names.joined(separator: ", "))."
    )
  }

  /// The value of an assignment starts behind its key.
  private static func shifted(_ error: ScenarioError, by columns: Int) -> ScenarioError {
    ScenarioError(
      error.problems.map { problem in
        var problem = problem
        if problem.line == 1 { problem.column += columns }
        return problem
      })
  }

  // MARK: - Rules

  /// Puts a rule before all others, so that it decides first, or behind them.
  ///
  /// - Parameters:
  ///   - bytes: One rule as YAML or JSON. Without a name it gets `rule-<n>`, a name that is free.
  ///   - name: What messages call the text.
  public func addingRule(
    _ bytes: [UInt8], name: String, first: Bool, readFile: @escaping ScenarioFileReader = refuseFiles
  ) throws(ScenarioError) -> ScenarioDocument {
    try addingRule(YAMLReader.read(bytes, file: name), name: name, first: first, readFile: readFile)
  }

  public func addingRule(
    _ node: ScenarioNode, name: String, first: Bool, readFile: @escaping ScenarioFileReader = refuseFiles
  ) throws(ScenarioError) -> ScenarioDocument {
    let count = simulation.rules.rules.count
    guard count < ScenarioLimits.rules else {
      throw ScenarioError(file: name, ScenarioFieldTables.tooManyRules(count + 1))
    }
    return try inserting(node, name: name, replacing: nil, at: first ? 0 : count, readFile)
  }

  /// - Throws: if there is no rule of this name.
  public func removingRule(named rule: String) throws(ScenarioError) -> ScenarioDocument {
    let index = try index(ofRule: rule)
    var (rules, nodes) = (simulation.rules.rules, ruleNodes)
    rules.remove(at: index)
    nodes.remove(at: index)
    var result = self
    result.places.remove(at: index)
    result.ruleWarnings[rule] = nil
    result.setRuleNodes(nodes)
    result.setRules(rules)
    return result
  }

  /// Puts a rule in the place of another; without a name it keeps the other's.
  public func replacingRule(
    named rule: String, with bytes: [UInt8], name: String, readFile: @escaping ScenarioFileReader = refuseFiles
  ) throws(ScenarioError) -> ScenarioDocument {
    let index = try index(ofRule: rule)
    let node = Self.named(try YAMLReader.read(bytes, file: name), rule)
    return try inserting(node, name: name, replacing: rule, at: index, readFile)
  }

  private func inserting(
    _ node: ScenarioNode, name: String, replacing old: String?, at index: Int, _ readFile: @escaping ScenarioFileReader
  ) throws(ScenarioError) -> ScenarioDocument {
    var decoder = ScenarioDecoder(file: name, readFile: readFile)
    guard let draft = RuleFields.rule.read(node, &decoder) else {
      try decoder.check()
      throw ScenarioError(file: name, "this is not a rule. Write '{match: {path: \"*\"}, fault: EIO}'.")
    }
    var (rules, nodes) = (simulation.rules.rules, ruleNodes)
    var result = self
    if let old {
      rules.remove(at: index)
      nodes.remove(at: index)
      result.places.remove(at: index)
      result.ruleWarnings[old] = nil
    }
    let ruleName = RuleNames.assign([draft], taken: Set(rules.map(\.name)), &decoder)[0]
    try decoder.check()
    rules.insert(Rule(name: ruleName, match: draft.match, effects: draft.effects), at: index)
    nodes.insert(Self.named(decoder.replacing(node), ruleName), at: index)
    result.places.insert(Place(file: name, line: Int(node.line), column: Int(node.column)), at: index)
    if !decoder.warnings.isEmpty { result.ruleWarnings[ruleName] = decoder.warnings }
    result.setRuleNodes(nodes)
    result.setRules(rules)
    return result
  }

  /// The place of a rule in the order, from 0.
  private func index(ofRule name: String) throws(ScenarioError) -> Int {
    let names = simulation.rules.rules.map(\.name)
    if let index = names.firstIndex(of: name) { return index }
    let shown = Suggestion.quotable(name)
    let hint = names.isEmpty ? " The scenario has no rules." : Suggestion.text(for: name, among: names)
    throw ScenarioError(file: shown, "there is no rule named '\(shown)'.\(hint)")
  }

  private var ruleNodes: [ScenarioNode] {
    guard case .sequence(let nodes) = root["rules"]?.value else { return [] }
    return nodes
  }

  private mutating func setRuleNodes(_ nodes: [ScenarioNode]) {
    guard case .mapping(var entries) = root.value else { return }
    entries.removeAll { $0.key == "rules" }
    if !nodes.isEmpty { entries.append(ScenarioNode.Entry(key: "rules", value: .list(nodes))) }
    root.value = .mapping(entries)
  }
}
