import ArgumentParser
import DatalessControl

/// `dataless reset`: a volume as freshly mounted, between two tests.
struct ResetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset",
    abstract: "Make a volume as if it were freshly mounted: dataless, with the scenario and the counters of its start.",
    discussion: """
      For what comes between two tests. All content is evicted, pins and marks are taken off, gates are closed, and the \
      scenario is the one of the mount again. The log goes on, with a volume.reset record. Refused while a program has \
      something open or waits, when a program has changed the volume (--scratch), and for volumes of --state.

      EXAMPLES
        dataless reset /mnt/project
        dataless reset /mnt/project --json

      EXIT STATUS
        0 reset; 1 refused, with what is in the way; 2 usage error; 3 no such volume, or its daemon is not running; \
      4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Flag(help: "Print what was evicted as one line of JSON. [default: print nothing]")
  var json = false

  func run() throws {
    let answer = try RemoteCall.run(mountpoint, failure: "cannot reset \(mountpoint.description)") {
      try await $0.reset()
    }
    if json { try StandardOutput().json(answer) }
  }
}
