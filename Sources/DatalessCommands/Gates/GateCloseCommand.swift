import ArgumentParser
import DatalessControl

/// `dataless gate close`.
struct GateCloseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "close",
    abstract: "Close a gate again, so that it holds what comes.",
    discussion: """
      A new gate is closed. Opening and closing a gate that is so already does nothing.

      EXAMPLES
        dataless gate close /mnt/project photos
        dataless gate close /mnt/project photos --json

      EXIT STATUS
        0 done; 1 no such gate, or failure; 2 wrong use; 3 no such volume, or its daemon is not running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"))
  var mountpoint: PathArgument

  @Argument(help: ArgumentHelp("The gate.", valueName: "name"))
  var name: String

  @Flag(help: "Print a JSON object. [default: print nothing]")
  var json = false

  func run() throws {
    let name = name
    let answer = try RemoteCall.run(mountpoint, "cannot close a gate of \(mountpoint.description)") { client in
      try await client.closeGate(name)
    }
    if json { try StandardOutput().json(answer) }
  }
}
