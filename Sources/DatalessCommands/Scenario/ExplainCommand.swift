import ArgumentParser
import DatalessControl

/// `dataless explain`: which rule would decide what.
struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Say which rule would decide about an item, and why the others would not.",
    discussion: """
      Asks the daemon, not the file system: nothing is triggered. An item in a dataless directory is not known yet.

      EXAMPLES
        dataless explain /mnt/project/a.jpg
        dataless explain /mnt/project/a.jpg --trigger copy --pid 4711 --json

      EXIT STATUS
        0 explained; 1 no such item or process, or failure; 2 wrong use; 3 not on a volume, or its daemon is not running; \
      4 timed out.
      """)

  @Argument(help: ArgumentHelp("A file or directory on a volume.", valueName: "path"))
  var path: PathArgument

  @Option(
    help: ArgumentHelp("The operation. [default: read for a file, readdir for a directory]", valueName: "operation"))
  var trigger: String?

  @Option(
    help: ArgumentHelp("The process that would ask. [default: one of which nothing is known]", valueName: "pid"))
  var pid: Int32?

  @Flag(help: "Print a JSON object. [default: text]")
  var json = false

  func run() throws {
    guard let location = try PathResolver.current().locate(path.bytes) else {
      throw ControlError.notAVolume(path.bytes)
    }
    let (trigger, pid) = (trigger, pid)
    let answer = try RemoteCall.run(location.mount, "cannot explain \(path.description)") { client in
      try await client.explain(location.relative, trigger: trigger, pid: pid)
    }
    let output = StandardOutput()
    if json { return try output.json(answer) }
    for line in ExplainText.lines(answer) { try output.line(line) }
    try output.flush()
  }
}
