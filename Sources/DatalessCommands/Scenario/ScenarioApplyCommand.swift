import ArgumentParser
import DatalessControl
import DatalessScenario

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
        0 it is in force; 1 failure; 2 wrong use, also an invalid scenario; 3 no such volume, or its daemon is not \
      running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"))
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
    var change = try RemoteCall.run(volume, "cannot apply \(name) to \(mountpoint.description)") { client in
      try await client.replaceScenario(document.json(pretty: false), name: name)
    }
    change.warnings = document.warnings.map { WireProblem($0) }
    if json { try StandardOutput().json(change) }
  }
}
