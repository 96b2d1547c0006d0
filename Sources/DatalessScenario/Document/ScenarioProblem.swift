/// One thing that is wrong with a scenario, or worth a look, with its place and a remedy.
public struct ScenarioProblem: Sendable, Equatable, CustomStringConvertible {
  /// As the user named it: a path, `-`, or the words of a command.
  public var file: String
  /// From 1; the column counts characters.
  public var line: Int
  public var column: Int
  public var message: String

  public init(file: String, line: Int, column: Int, message: String) {
    self.file = file
    self.line = line
    self.column = column
    self.message = message
  }

  public var description: String { "\(file):\(line):\(column): \(message)" }
}

/// Something in a valid scenario that hardly can be meant.
public typealias ScenarioWarning = ScenarioProblem

/// Why a scenario was refused: everything that is wrong with it, sorted by place, at least one problem.
public struct ScenarioError: Error, Sendable, Equatable, CustomStringConvertible {
  /// At most `ScenarioLimits.problems`.
  public let problems: [ScenarioProblem]
  /// How many more there were; reading stops at `ScenarioLimits.countedProblems`.
  public let omitted: Int

  init(_ found: [ScenarioProblem], omitted: Int = 0) {
    let sorted = found.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    problems = Array(sorted.prefix(ScenarioLimits.problems))
    self.omitted = omitted + sorted.count - problems.count
  }

  init(file: String, line: Int = 1, column: Int = 1, _ message: String) {
    self.init([ScenarioProblem(file: file, line: line, column: column, message: message)])
  }

  /// Of the first problem.
  public var file: String { problems[0].file }
  public var line: Int { problems[0].line }
  public var column: Int { problems[0].column }
  public var message: String { problems[0].message }

  /// One line for each problem.
  public var description: String {
    var lines = problems.map(\.description)
    if omitted > 0 {
      let many = omitted + problems.count >= ScenarioLimits.countedProblems ? "at least " : ""
      lines.append("\(file): and \(many)\(omitted) more. Correct these first.")
    }
    return lines.joined(separator: "\n")
  }
}
