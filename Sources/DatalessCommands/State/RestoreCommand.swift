import ArgumentParser
import DatalessControl
import DatalessCore
import DatalessDaemon
import DatalessScenario
import DatalessState
import SystemPackage

/// `dataless restore --simulate`: a new volume as after a restore from a backup.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Make a new state directory as a volume would be after a restore from a backup.",
    discussion: """
      What programs had written and made in the older state is there, as far as a backup has it: files in caches, \
      temporary and other areas that are not backed up are absent, SOURCE's included, and so is what bears a backup \
      exclusion mark, or lies in a directory that does. What can be fetched again is dataless. The older state is not \
      changed; nothing may have it mounted. Areas are those of the scenario, with which the new one is to be mounted, too.

      EXAMPLES
        dataless restore --simulate --from ~/state/monday ~/state/restored --scenario phone.yaml
        dataless restore --simulate --from ~/state/monday ~/state/restored --scenario phone.yaml --json

      EXIT STATUS
        0 made; 1 something could not be left out, or failure; 2 usage error; 130 interrupted.
      """)

  @Argument(help: ArgumentHelp("The new state directory: a new name, or an empty directory.", valueName: "new"))
  var target: PathArgument

  @Option(help: ArgumentHelp("The state directory that was backed up.", valueName: "directory"))
  var from: PathArgument

  @Option(
    help: ArgumentHelp(
      "The scenario with the areas; - is standard input. [default: the areas that the older state keeps]",
      valueName: "file"))
  var scenario: PathArgument?

  @Flag(help: "Simulate it: there is no other restore.")
  var simulate = false

  @Flag(help: "Print one JSON object. [default: text]")
  var json = false

  func validate() throws {
    if !simulate { throw ValidationError("a restore can only be simulated: give --simulate (EINVAL).") }
  }

  func run() throws {
    let areas = try scenario.map { try ScenarioFile.read($0).simulation.areas }
    let place = try StatePlace(from, .look)
    let target = try open(place)
    let task = LocalTask("cannot restore from '\(TerminalText.escaped(place.path))'")
    let report = try task.run { () throws(FSError) in
      let source = try StateCopy.source(of: place.directory, scratch: LocalTask.scratch)
      try StateCopy.copy(place.directory, to: target.descriptor, isFinished: false) { (bytes, all) throws(FSError) in
        try task.show(
          "copied \(HumanText.size(bytes)) of \(HumanText.size(all))", share: LocalTask.share(bytes, of: all))
      }
      do throws(FSError) {
        let directory = try StateDirectory(target.descriptor, path: TerminalText.escaped(target.path), .repair)
        let report = try RestoreSimulation.run(directory, source: source, areas: areas) { items throws(FSError) in
          try task.show("met \(HumanText.count(items, "item"))")
        }
        try StateCopy.finish(target.descriptor)
        return report
      } catch {
        // Ours: it was empty.
        StateCopy.discard(target.descriptor)
        throw error
      }
    }
    let failures = report.failures.map {
      PathFailure(path: $0.path, errno: $0.error.errno.name, message: $0.error.message)
    }
    let output = StandardOutput()
    if json {
      try output.json(
        RestoreAnswer(
          from: place.path, directory: target.path, files: report.files, bytes: report.bytes,
          writtenFiles: report.writtenFiles, writtenBytes: report.writtenBytes,
          absent: report.absent.sorted { $0.key < $1.key }.map {
            InventoryExclusion(reason: $0.key, files: $0.value.files, bytes: $0.value.bytes)
          }, failures: failures, failureCount: report.failureCount))
    } else {
      try output.line(Self.text(report, target.path))
      try output.flush()
    }
    FailureList.say(
      failures, count: report.failureCount, at: target.path, action: "leave out", others: "--json names the first 1,000"
    )
    try FailureList.end(report.failureCount, "cannot leave out")
  }

  private func open(_ place: StatePlace) throws -> TrustedDirectory {
    let path = StatePlace.absolute(target)
    guard !PathBytes.isPrefix(place.path, of: path), !PathBytes.isPrefix(path, of: place.path) else {
      throw CommandFailure(
        "cannot restore to '\(TerminalText.escaped(path))': one of the two directories is in the other (EINVAL). Name another.",
        status: .usage, errno: .invalidArgument)
    }
    do throws(UntrustedPath) {
      return try TrustedDirectory.open(path, ancestors: .any, creating: true)
    } catch {
      throw CommandFailure(
        "cannot restore: \(error). Name a new directory, or an empty one that is yours alone (chmod go-rwx).",
        errno: error.errno)
    }
  }

  private static func text(_ report: RestoreSimulation.Report, _ target: [UInt8]) -> String {
    let absent = report.absent.values.reduce(into: (files: Int64(0), bytes: Int64(0))) { sum, count in
      sum.files += count.files
      sum.bytes += count.bytes
    }
    return "restored \(HumanText.count(report.files, "file")) (\(HumanText.size(report.bytes))), of which "
      + "\(HumanText.count(report.writtenFiles)) had been written; absent "
      + "\(HumanText.count(absent.files, "file")) (\(HumanText.size(absent.bytes))); in \(TerminalText.escaped(target))"
  }
}
