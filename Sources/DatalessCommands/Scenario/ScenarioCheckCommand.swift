import ArgumentParser
import DatalessControl
import DatalessCore
import DatalessScenario

/// `dataless scenario check`: reads a file and says what is wrong with it.
struct ScenarioCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check a scenario file; no volume is needed.",
    discussion: """
      Each problem is a line FILE:LINE:COLUMN: with its remedy, on standard error.

      EXAMPLES
        dataless scenario check slow.yaml
        dataless scenario check - --json < slow.yaml

      EXIT STATUS
        0 valid, perhaps with warnings; 1 it cannot be read; 2 wrong use, also an invalid scenario.
      """)

  @Argument(help: ArgumentHelp("A scenario; - for standard input.", valueName: "file"))
  var file: PathArgument

  @Flag(help: "Print the number of rules and the warnings as a JSON object. [default: text]")
  var json = false

  func run() throws {
    let document = try ScenarioFile.read(file)
    let rules = Int64(document.simulation.rules.rules.count)
    if json {
      let warnings = document.warnings.map { warning in
        WireProblem(
          file: warning.file, line: Int64(warning.line), column: Int64(warning.column), message: warning.message)
      }
      return try StandardOutput().json(ScenarioChange(rules: rules, warnings: warnings))
    }
    ScenarioFile.say(document.warnings)
    let output = StandardOutput()
    let warnings = document.warnings.isEmpty ? "" : ", \(HumanText.count(Int64(document.warnings.count), "warning"))"
    try output.line("\(file.description): valid, \(HumanText.count(rules, "rule"))\(warnings)")
    try output.flush()
  }
}
