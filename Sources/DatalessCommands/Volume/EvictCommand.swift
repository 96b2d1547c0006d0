import ArgumentParser
import DatalessControl

/// `dataless evict`: makes items dataless again.
struct EvictCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evict",
    abstract: "Make files dataless again, and directories with all that is below them.",
    discussion: """
      The next read materializes again. A file that is open (EBUSY) or has several names (EMLINK) is refused: the \
      first 20 are named, with --json all, and everything else is evicted. A directory that keeps a refused item stays \
      listed.

      EXAMPLES
        dataless evict /mnt/project
        dataless evict /mnt/project/a.bin --json

      EXIT STATUS
        0 all is dataless; 1 something was refused; 2 wrong use; 3 not on a volume, or its daemon is not running; \
      130 interrupted.
      """)

  @Argument(help: ArgumentHelp("Files or directories on volumes.", valueName: "path"))
  var paths: [PathArgument]

  @Flag(help: "Stop at the first refusal. [default: go on with the others]")
  var stop = false

  @Flag(help: "Print the result for each volume as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    let stops = stop
    try Transfer(verb: "evicted", isJSON: json).run(paths) { client, paths, progress in
      try await client.evict(paths, stops: stops, progress: progress)
    }
  }
}
