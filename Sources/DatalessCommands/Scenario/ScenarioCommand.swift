import ArgumentParser
import DatalessControl
import DatalessCore
import DatalessScenario

/// `dataless scenario`: the whole of what a volume simulates.
struct ScenarioCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scenario",
    abstract: "Show, replace or check what a volume simulates.",
    discussion: """
      EXAMPLES
        dataless scenario check slow.yaml
        dataless scenario apply /mnt/project slow.yaml

      EXIT STATUS
        0 done; 1 failure; 2 usage error, also an invalid scenario; 3 no such volume, or its daemon is not running; \
      4 timed out.
      """,
    subcommands: [ScenarioShowCommand.self, ScenarioApplyCommand.self, ScenarioCheckCommand.self])
}

/// `dataless scenario show`: what is in force.
struct ScenarioShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print the scenario of a volume: a file that `scenario apply` and `mount --scenario` take.",
    discussion: """
      EXAMPLES
        dataless scenario show /mnt/project
        dataless scenario show /mnt/project --json | jq .rules

      EXIT STATUS
        0 shown; 1 failure; 2 usage error; 3 no such volume, or its daemon is not running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Flag(help: "Print it as one line. [default: with line ends]")
  var json = false

  func run() throws {
    let text = try RemoteCall.run(mountpoint, failure: "cannot show the scenario of \(mountpoint.description)") {
      client in
      try await client.scenario()
    }
    let output = StandardOutput()
    // Never as it came: who answers may be another user's program.
    let document = try ScenarioFile.checked { () throws(ScenarioError) in
      try ScenarioDocument(parsing: text, name: "the daemon's answer")
    }
    try output.line(bytes: json ? document.json(pretty: false) : document.json(pretty: true).dropLast())
    try output.flush()
  }
}

/// `dataless scenario apply`: another scenario for a mounted volume.
struct ScenarioApplyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apply",
    abstract: "Replace the scenario of a mounted volume.",
    discussion: """
      An invalid file is refused, and the volume keeps what it has. Windows of time (`during`) begin anew; gates that no \
      rule names any more let go what they hold.

      EXAMPLES
        dataless scenario apply /mnt/project slow.yaml
        sed s/200ms/2s/ slow.yaml | dataless scenario apply /mnt/project -

      EXIT STATUS
        0 it is in force; 1 failure; 2 usage error, also an invalid scenario; 3 no such volume, or its daemon is not \
      running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Argument(help: ArgumentHelp("A scenario; - for standard input.", valueName: "file"))
  var file: PathArgument

  @Flag(help: "Print the number of rules and the warnings as a JSON object. [default: print nothing]")
  var json = false

  func run() throws {
    let volume = try VolumeLocator.volume(mountpoint.bytes)
    let document = try ScenarioFile.read(file)
    let name = file.description
    // The places are those of the file: the daemon sees one line of JSON.
    try ScenarioFile.checked { () throws(ScenarioError) in
      try document.checkPaths(
        roots: [
          ("the mountpoint", volume.mountPoint), ("the mountpoint", mountpoint.bytes), ("SOURCE", volume.source),
        ].filter { $0.path.first == UInt8(ascii: "/") })
    }
    ScenarioFile.say(document.warnings)
    var change = try RemoteCall.run(volume, failure: "cannot apply \(name) to \(mountpoint.description)") { client in
      try await client.replaceScenario(document.json(pretty: false), name: name)
    }
    change.warnings = document.warnings.map { WireProblem($0) }
    if json { try StandardOutput().json(change) }
  }
}

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
        0 valid, perhaps with warnings; 1 it cannot be read; 2 usage error, also an invalid scenario.
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

/// What commands print that change the scenario of a volume: nothing, but warnings.
enum ScenarioChangeReport {
  static func print(_ change: ScenarioChange, json: Bool) throws {
    if json { return try StandardOutput().json(change) }
    for warning in change.warnings {
      Console.warning(file: warning.file, line: warning.line, column: warning.column, warning.message)
    }
  }
}
