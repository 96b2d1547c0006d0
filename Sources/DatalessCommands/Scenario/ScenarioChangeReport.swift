import DatalessControl

/// What commands print that change the scenario of a volume: nothing, but warnings.
enum ScenarioChangeReport {
  static func print(_ change: ScenarioChange, json: Bool) throws {
    if json { return try StandardOutput().json(change) }
    for warning in change.warnings {
      Console.warning(file: warning.file, line: warning.line, column: warning.column, warning.message)
    }
  }
}
