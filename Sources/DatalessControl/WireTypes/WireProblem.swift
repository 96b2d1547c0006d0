/// One thing that is wrong with a scenario, or worth a look.
public struct WireProblem: Codable, Sendable, Equatable {
  /// What the text was called: a path, the `name` of the request, or the words of a setting.
  public var file: String
  /// From 1; the column counts characters.
  public var line: Int64
  public var column: Int64
  /// What is wrong, and the remedy.
  public var message: String

  enum CodingKeys: String, CodingKey, CaseIterable {
    case file, line, column, message
  }

  public init(file: String, line: Int64, column: Int64, message: String) {
    self.file = file
    self.line = line
    self.column = column
    self.message = message
  }
}
