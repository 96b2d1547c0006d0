import ArgumentParser
import DatalessControl

/// `dataless evict`: makes items dataless again.
struct EvictCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evict",
    abstract: "Make files dataless again, and directories with all that is below them.",
    discussion: """
      The next read materializes again. A file that is open (EBUSY) or has several names (EMLINK) is refused; a \
      directory stops at the first refusal.

      EXAMPLES
        dataless evict /mnt/project
        dataless evict /mnt/project/a.bin --json

      EXIT STATUS
        0 all is dataless; 1 an item was refused; 2 wrong use; 3 not on a volume, or its daemon is not running; \
      130 interrupted.
      """)

  @Argument(help: ArgumentHelp("Files or directories on volumes.", valueName: "path"))
  var paths: [PathArgument]

  @Flag(help: "Print the result as one JSON object per volume. [default: text]")
  var json = false

  func run() throws {
    try Transfer(verb: "evicted", isJSON: json).run(paths) { client, paths, progress in
      try await client.evict(paths, progress: progress)
    }
  }
}
