import ArgumentParser
import DatalessControl
import Glibc

/// `dataless refresh`: looks again what the source has.
struct RefreshCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh",
    abstract: "List known directories of the source again, so that the volume shows what is there now.",
    discussion: """
      Fetches nothing, and lists nothing that was not listed before. A path means the directory that holds it; for a \
      directory, all that is listed below it, too. When the command ends, new sizes and times can be seen. A resident file \
      that was changed is dataless under its name; who has the old version open reads on from it.

      EXAMPLES
        dataless refresh /mnt/project
        dataless refresh /mnt/project/a.bin --json

      EXIT STATUS
        0 all is up to date; 1 something could not be listed, or is nowhere; 2 usage error; 3 not on a volume, or its daemon \
      is not running; 130 interrupted.
      """)

  @Argument(help: ArgumentHelp("Files or directories on volumes.", valueName: "path"))
  var paths: [PathArgument]

  @Flag(help: "Print the result for each volume as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    let output = StandardOutput()
    var failed: Int64 = 0
    let long = LongRequest()
    for (volume, paths) in try MountedVolumes.locate(paths) {
      guard let result = try Self.refresh(volume, paths: paths, long: long) else {
        long.cut(at: volume.mountPoint, paths)
        continue
      }
      if result.isInterrupted { long.cut(at: volume.mountPoint, paths) }
      if json {
        try output.json(result)
      } else {
        try output.line(Self.text(result))
        try output.flush()
      }
      FailureList.say(
        result.failures, count: result.failureCount, at: volume.mountPoint, action: "refresh",
        others: "--json names the first 1,000")
      failed = failed.plus(result.failureCount)
    }
    try long.finish("What it found until then is shown; run the command again for the rest.")
    try FailureList.end(failed, "cannot refresh")
  }

  private static func refresh(
    _ volume: MountEntry, paths: [[UInt8]], long: LongRequest
  ) throws -> RefreshResult? {
    let mountPoint = TerminalText.escaped(volume.mountPoint)
    return try long.run(volume, failure: "cannot refresh \(mountPoint)") { client in
      let line = ProgressLine()
      defer { line.clear() }
      return try await client.refresh(paths) { progress in
        let all = progress.totalDirectories.map { " of \(HumanText.count($0))" } ?? ""
        let directories = HumanText.count(progress.directories, "directory", plural: "directories")
        let share = progress.totalDirectories.flatMap { total in
          total > 0 ? min(1, Double(progress.directories) / Double(total)) : nil
        }
        line.show(
          "listed \(directories)\(all), \(HumanText.count(progress.entries, "entry", plural: "entries"))", share: share)
      }
    }
  }

  private static func text(_ result: RefreshResult) -> String {
    let counts: [(Int64, String)] = [
      (result.added, "added"), (result.changed, "changed"), (result.renamed, "renamed"), (result.gone, "gone"),
      (result.kept, "kept"), (result.unchanged, "unchanged"),
    ]
    let told = counts.filter { $0.0 > 0 || $0.1 == "unchanged" }.map { "\(HumanText.count($0.0)) \($0.1)" }
    return told.joined(separator: ", ")
      + " in \(HumanText.count(result.directories, "directory", plural: "directories"))"
  }
}
