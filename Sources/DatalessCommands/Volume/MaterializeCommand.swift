import ArgumentParser
import DatalessControl

/// `dataless materialize`: brings content in before somebody needs it.
struct MaterializeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "materialize",
    abstract: "Materialize files, and directories with all that is below them.",
    discussion: """
      Waits until all is there. What fails is named, and does not stop the rest.

      EXAMPLES
        dataless materialize /mnt/project/src
        dataless materialize /mnt/project/a.bin /mnt/project/b.bin --json

      EXIT STATUS
        0 all is resident; 1 something could not be materialized; 2 wrong use; 3 not on a volume, or its daemon is not \
      running; 130 interrupted.
      """)

  @Argument(help: ArgumentHelp("Files or directories on volumes.", valueName: "path"))
  var paths: [PathArgument]

  @Flag(help: "Print the result for each volume as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    try Transfer(verb: "materialized", isJSON: json).run(paths) { client, paths, progress in
      try await client.materialize(paths, progress: progress)
    }
  }
}
