public import DatalessCore
internal import SystemPackage

/// A scenario: what was written, and the simulation it was compiled to. A value: an edit gives a new one, or throws.
public struct ScenarioDocument: Sendable {
  /// Where a rule was written.
  public struct Place: Sendable, Equatable {
    public var file: String
    public var line: Int
    public var column: Int
  }

  /// What was written, with the names that unnamed rules were given, and with the delays of logs that it named.
  public internal(set) var root: ScenarioNode
  /// Compiled and checked.
  public internal(set) var simulation: Simulation
  public internal(set) var warnings: [ScenarioWarning]
  /// What is expected of the programs; nil without such a section.
  public private(set) var expectations: [Expectation]?
  /// The place of each rule, in their order.
  public internal(set) var places: [Place]
  /// What cannot be seen of single rules any more once they are compiled: warnings of their own.
  var ruleWarnings: [String: [ScenarioWarning]] = [:]

  var expectationWarnings: [ScenarioWarning] = []

  /// What messages call the text that was parsed.
  var file = ""

  /// A scenario that simulates nothing.
  public static let empty = ScenarioDocument(
    root: .object(["version": .plain("1")]), simulation: Simulation(), warnings: [], places: [])

  private init(root: ScenarioNode, simulation: Simulation, warnings: [ScenarioWarning], places: [Place]) {
    self.root = root
    self.simulation = simulation
    self.warnings = warnings
    self.places = places
  }

  /// Reads and checks a scenario, YAML or JSON.
  ///
  /// - Parameters:
  ///   - name: What messages call the document: a path, or `-`.
  ///   - readFile: Reads a log that the scenario replays. Default: refuses, as is right for scenarios from elsewhere.
  /// - Throws: everything that is wrong, with places and remedies.
  public init(
    parsing bytes: [UInt8], name: String,
    readFile: @escaping ScenarioFileReader = ScenarioDocument.refuseFiles
  ) throws(ScenarioError) {
    let node = try YAMLReader.read(bytes, file: name)
    var decoder = ScenarioDecoder(file: name, readFile: readFile)
    var draft = ScenarioDraft()
    ScenarioFieldTables.document.read(node, into: &draft, &decoder)
    let names = RuleNames.assign(draft.rules, taken: [], &decoder)
    let expected = ExpectationNames.expectations(draft.expectations, file: name, &decoder)
    try decoder.check()
    self = .empty
    root = Self.normalized(decoder.replacing(node), names: names)
    simulation = draft.simulation
    expectations = node["expect"] == nil ? nil : expected
    expectationWarnings = decoder.warnings.filter { warning in
      let isOf = { (node: ScenarioNode) in Int(node.line) == warning.line && Int(node.column) == warning.column }
      return draft.expectations.contains { isOf($0.node) } || node["expect"].map(isOf) == true
    }
    file = name
    places = draft.rules.map { Place(file: name, line: Int($0.node.line), column: Int($0.node.column)) }
    ruleWarnings = Self.byRule(decoder.warnings, drafts: draft.rules, names: names)
    setRules(zip(names, draft.rules).map { Rule(name: $0, match: $1.match, effects: $1.effects) })
  }

  /// The scenario as JSON, ASCII but for characters beyond U+FFFF. Reading it again gives an equal scenario.
  public func json(pretty: Bool) -> [UInt8] { root.json(pretty: pretty) }

  /// All rules count from the start.
  public mutating func renewCounts() { simulation.rules.renewCounts() }

  /// Rules that are the same in an earlier scenario go on counting what they do.
  public mutating func keepCounts(of old: ScenarioDocument) { simulation.rules.keepCounts(of: old.simulation.rules) }

  /// Refuses to read a file.
  public static let refuseFiles: ScenarioFileReader = { (_) throws(FSError) in
    throw FSError(.notSupported, "a scenario that comes from here can name no files")
  }

  /// The file system type of a mount cannot be changed.
  ///
  /// - Parameters:
  ///   - mounted: The subtype that the volume has.
  ///   - name: What messages call the document.
  /// - Throws: when this scenario asks for another.
  public func checkSubtype(mounted: String, name: String) throws(ScenarioError) {
    guard let wanted = simulation.presentation.subtype, wanted != mounted else { return }
    let node = root.value(at: "present.subtype")
    throw ScenarioError([
      ScenarioProblem(
        file: name, line: Int(node?.line ?? 1), column: Int(node?.column ?? 1),
        message:
          "the subtype of a mounted volume cannot be changed from '\(mounted)' to '\(wanted)'. Unmount it, and mount it "
          + "with --present subtype=\(wanted).")
    ])
  }

  // MARK: - Parts of edits

  /// Compiles the rules anew, and looks at how they stand to each other.
  mutating func setRules(_ rules: [Rule]) {
    simulation.rules = RuleSet(rules)
    var found = rules.flatMap { ruleWarnings[$0.name] ?? [] } + expectationWarnings
    found += RuleOverlaps.warnings(rules, places)
    found += RuleTriggers.warnings(rules, places: places, profile: simulation.profile)
    found.sort { ($0.line, $0.column) < ($1.line, $1.column) }
    warnings = Array(found.prefix(ScenarioLimits.problems))
  }

  static func byRule(
    _ warnings: [ScenarioWarning], drafts: [RuleDraft], names: [String]
  ) -> [String: [ScenarioWarning]] {
    if warnings.isEmpty { return [:] }
    var result: [String: [ScenarioWarning]] = [:]
    let byPlace = Dictionary(
      grouping: warnings, by: { ScenarioDecoder.Place(line: Int32($0.line), column: Int32($0.column)) })
    for (name, draft) in zip(names, drafts) {
      result[name] = byPlace[ScenarioDecoder.Place(line: draft.node.line, column: draft.node.column)]
    }
    return result
  }

  /// The root with a version, and with a name in each rule: a rule keeps its name when another is put before it.
  private static func normalized(_ node: ScenarioNode, names: [String]) -> ScenarioNode {
    guard case .mapping(var entries) = node.value else { return node }
    if node["version"] == nil { entries.insert(ScenarioNode.Entry(key: "version", value: .plain("1")), at: 0) }
    if let index = entries.firstIndex(where: { $0.key == "rules" }),
      case .sequence(let rules) = entries[index].value.value
    {
      entries[index].value.value = .sequence(zip(rules, names).map(named))
    }
    return ScenarioNode(.mapping(entries), line: node.line, column: node.column)
  }

  static func named(_ rule: ScenarioNode, _ name: String) -> ScenarioNode {
    guard case .mapping(var entries) = rule.value, rule["name"] == nil else { return rule }
    entries.insert(
      ScenarioNode.Entry(key: "name", line: rule.line, column: rule.column, value: .text(name)), at: 0)
    return ScenarioNode(.mapping(entries), line: rule.line, column: rule.column)
  }
}

/// Equal when their JSON is: places and ways of quoting do not count.
extension ScenarioDocument: Equatable {
  public static func == (left: ScenarioDocument, right: ScenarioDocument) -> Bool {
    left.json(pretty: false) == right.json(pretty: false)
  }
}

/// What a scenario may hold at most. Beyond it the scenario is refused, with a message that says what to do instead.
public enum ScenarioLimits {
  /// Of the text.
  public static let bytes = 16 << 20
  public static let rules = 100_000
  /// Each is held against each record of a log.
  public static let expectations = 1_000
  public static let areas = 1_000
  /// Mappings and lists in one another.
  public static let depth = 32
  /// Scalars, lists and mappings altogether.
  public static let values = 3_000_000
  /// Delays of all `replay` lists together.
  public static let replayedDelays = 100_000
  /// Globs that braces stand for, in all of it together.
  public static let alternatives = 300_000
  /// Problems that are reported of one scenario; and warnings.
  public static let problems = 20
  /// After so many problems the rest of the rules is not read.
  public static let countedProblems = 1000
  /// Rules with a gate that are compared with each other for overlaps: the first ones.
  public static let comparedGates = 300
}
