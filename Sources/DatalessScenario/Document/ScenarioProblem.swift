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
