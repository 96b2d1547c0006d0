public import DatalessCore

/// Reads a file that a scenario names (`replay: FILE`), relative to wherever the caller thinks right.
public typealias ScenarioFileReader = @Sendable (_ path: String) throws(FSError) -> [UInt8]

/// What is carried along while values are read: the problems found, and the files that were named.
struct ScenarioDecoder {
  struct Place: Hashable {
    let line: Int32
    let column: Int32
  }

  let file: String
  let readFile: ScenarioFileReader
  private(set) var problems: [ScenarioProblem] = []
  private(set) var omitted = 0
  var warnings: [ScenarioWarning] = []
  /// What stands for values that named a file, so that whoever gets the scenario needs no file.
  var replacements: [Place: ScenarioNode] = [:]
  /// How many delays `replay` has brought, and which records of a log it reads.
  var replayedDelays = 0
  var replayed = Replayed.materializations(.file)

  enum Replayed: Equatable {
    case materializations(MaterializationKind)
    case accesses(AccessOperation)
  }

  /// How many globs braces have stood for, beside those that were written.
  private var alternatives = 0

  init(file: String, readFile: @escaping ScenarioFileReader) {
    self.file = file
    self.readFile = readFile
  }

  mutating func fail(line: Int32, column: Int32, _ message: String) {
    // Enough to sort the first ones of any order of reading; a scenario wrong in each of its rules needs no more.
    guard problems.count < ScenarioLimits.countedProblems else {
      omitted += 1
      return
    }
    problems.append(ScenarioProblem(file: file, line: Int(line), column: Int(column), message: message))
  }

  var problemCount: Int { problems.count + omitted }

  mutating func fail(_ node: ScenarioNode, _ message: String) { fail(line: node.line, column: node.column, message) }

  mutating func warn(_ node: ScenarioNode, _ message: String) {
    guard warnings.count < ScenarioLimits.countedProblems else { return }
    warnings.append(
      ScenarioWarning(file: file, line: Int(node.line), column: Int(node.column), message: message))
  }

  /// Whether so many globs more may stand behind braces.
  mutating func allows(alternatives more: Int) -> Bool {
    alternatives += more
    return alternatives <= ScenarioLimits.alternatives
  }

  func check() throws(ScenarioError) {
    if !problems.isEmpty { throw ScenarioError(problems, omitted: omitted) }
  }

  /// The text of a scalar that is there; nil, and a problem, otherwise.
  ///
  /// - Parameter expected: With article, such as "a duration such as 200ms".
  mutating func text(_ node: ScenarioNode, expected: String) -> String? {
    guard let text = node.text else {
      fail(node, "\(node.kindName) instead of one value; expected \(expected).")
      return nil
    }
    if node.isNull {
      fail(node, "there is no value; expected \(expected). To have the default, remove the field.")
      return nil
    }
    return text
  }

  /// Runs one of Core's parsers of texts with units.
  mutating func parse<Result>(
    _ node: ScenarioNode, _ text: String, with parser: (String) throws(FSError) -> Result
  ) -> Result? {
    do throws(FSError) {
      return try parser(text)
    } catch {
      fail(node, "\(error.message).")
      return nil
    }
  }

  /// The node with the files it named replaced by what was in them.
  func replacing(_ node: ScenarioNode) -> ScenarioNode {
    if replacements.isEmpty { return node }
    var result = node
    switch node.value {
    case .scalar:
      result = replacements[Place(line: node.line, column: node.column)] ?? node
    case .sequence(let nodes):
      result.value = .sequence(nodes.map(replacing))
    case .mapping(let entries):
      result.value = .mapping(
        entries.map { entry in
          var entry = entry
          entry.value = replacing(entry.value)
          return entry
        })
    }
    return result
  }
}

/// A scenario as it was read: the settings, and the rules one by one.
struct ScenarioDraft: Sendable {
  var simulation = Simulation()
  var rules: [RuleDraft] = []
  var expectations: [ExpectationDraft] = []
}

/// A rule as it was read, with what later checks say about it.
struct RuleDraft: Sendable {
  var name: String?
  var match = RuleMatch()
  var effects = RuleEffects()
  var node: ScenarioNode
}
