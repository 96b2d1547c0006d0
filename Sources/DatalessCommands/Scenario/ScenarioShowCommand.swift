import ArgumentParser
import DatalessControl
import DatalessScenario

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
        0 shown; 1 failure; 2 wrong use; 3 no such volume, or its daemon is not running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"))
  var mountpoint: PathArgument

  @Flag(help: "Print it as one line. [default: with line ends]")
  var json = false

  func run() throws {
    let text = try RemoteCall.run(mountpoint, "cannot show the scenario of \(mountpoint.description)") { client in
      try await client.scenario()
    }
    let output = StandardOutput()
    if json {
      try output.line(bytes: text.prefix { $0 != UInt8(ascii: "\n") })
    } else {
      let document = try ScenarioFile.checked { () throws(ScenarioError) in
        try ScenarioDocument(parsing: text, name: "the daemon's answer")
      }
      try output.line(bytes: document.json(pretty: true).dropLast())
    }
    try output.flush()
  }
}
