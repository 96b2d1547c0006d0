import ArgumentParser
import DatalessControl
import DatalessCore
import DatalessState
import SystemPackage

/// `dataless export`: gets what was written on a kept volume out of its state directory.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Copy what was written on a kept volume to a directory, without mounting it.",
    discussion: """
      Files that were changed or made on the volume are written under their paths below TARGET, which is made if it is \
      missing, has to be yours alone, and is no symbolic link. What is there already stays as it is; no link is followed. What \
      cannot be written is said, and the rest goes on. The state directory is not changed. All is on the disk when the command ends.

      EXAMPLES
        dataless export ~/state/project ~/rescued
        dataless export ~/state/project ~/rescued --json

      EXIT STATUS
        0 all is in TARGET; 1 something is not; 2 usage error.
      """)

  @Argument(help: ArgumentHelp("A directory that was made by 'dataless mount --state'.", valueName: "directory"))
  var directory: PathArgument

  @Argument(help: ArgumentHelp("Where to: a directory of yours, or a new name.", valueName: "target"))
  var target: PathArgument

  @Flag(help: "Make devices, FIFOs and sockets, too. [default: they are left out]")
  var devices = false

  @Flag(help: "Set setuid, setgid and sticky bits. [default: they are left out]")
  var setuid = false

  @Flag(help: "Print one JSON object. [default: text]")
  var json = false

  func run() throws {
    let place = try StatePlace(directory, .look)
    let target = try open(place)
    let report = try export(place, to: target)
    let output = StandardOutput()
    let failures = report.skipped.map {
      PathFailure(path: $0.path, errno: $0.error.errno.name, message: $0.error.message)
    }
    if json {
      try output.json(
        ExportAnswer(
          directory: place.path, target: target.path, files: Int64(report.files), bytes: report.bytes,
          directories: Int64(report.directories), links: Int64(report.links), failures: failures,
          failureCount: Int64(report.skippedCount)))
    } else {
      try output.line(Self.text(report, target.path))
      try output.flush()
    }
    FailureList.say(
      failures, count: Int64(report.skippedCount), at: target.path, action: "export",
      others: "--json names the first 10,000")
    if let failure = report.syncFailure {
      throw CommandFailure("\(failure.description). What was exported may not be on the disk.", errno: failure.errno)
    }
    try FailureList.end(Int64(report.skippedCount), "cannot export")
  }

  private func open(_ place: StatePlace) throws -> TrustedDirectory {
    let path = StatePlace.absolute(target)
    try Self.checkIsElsewhere(path, place)
    let target: TrustedDirectory
    do throws(UntrustedPath) {
      // A link would have everything written where it leads, which may be far from what was named.
      target = try TrustedDirectory.open(path, ancestors: .any, followsLast: false, creating: true)
    } catch {
      let remedy =
        error.reason == .link
        ? "Name the directory itself that it leads to, or a new one."
        : "Name a new directory, or one that is yours alone (chmod go-w)."
      throw CommandFailure("cannot export: \(error). \(remedy)", errno: error.errno)
    }
    try Self.checkIsElsewhere(target.path, place)
    return target
  }

  private static func checkIsElsewhere(_ path: [UInt8], _ place: StatePlace) throws {
    guard PathBytes.isPrefix(place.path, of: path) else { return }
    throw CommandFailure(
      "cannot export to '\(TerminalText.escaped(path))', which is in the state directory (EINVAL). Name another directory.",
      status: .usage, errno: .invalidArgument)
  }

  private func export(_ place: StatePlace, to target: TrustedDirectory) throws -> StateExport.Report {
    var options = StateExport.Options()
    options.includesDevices = devices
    options.keepsSetID = setuid
    let task = LocalTask("cannot export '\(TerminalText.escaped(place.path))'")
    return try task.run { () throws(FSError) in
      try StateExport.run(place.directory, to: target.descriptor, options, scratch: LocalTask.scratch) {
        (done, all) throws(FSError) in
        try task.show(
          "exported \(HumanText.count(Int64(done))) of \(HumanText.count(Int64(all), "item"))",
          share: LocalTask.share(Int64(done), of: Int64(all)))
      }
    }
  }

  private static func text(_ report: StateExport.Report, _ target: [UInt8]) -> String {
    let links = report.links > 0 ? " and \(HumanText.count(Int64(report.links), "link"))" : ""
    return "exported \(HumanText.count(Int64(report.files), "file")) (\(HumanText.size(report.bytes))),"
      + " \(HumanText.count(Int64(report.directories), "directory", plural: "directories"))\(links)"
      + " to \(TerminalText.escaped(target))"
  }
}
