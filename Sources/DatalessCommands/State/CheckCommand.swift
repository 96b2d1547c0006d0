import ArgumentParser
import DatalessControl
import DatalessCore
import DatalessState

/// `dataless check`: looks at a state directory, and mends it.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check the state directory of a kept volume, and repair it.",
    discussion: """
      The volume must not be mounted. What a crash or a loss of power may leave is cleaned up and is no damage. What was \
      written on the volume is never removed: whatever lost its name is put into the root of the volume as lost+found-N. \
      docs/STATE.md says what is done about each finding.

      EXAMPLES
        dataless check ~/state/project --dry-run
        dataless check ~/state/project --json

      EXIT STATUS
        0 nothing is damaged; 1 something is, or was until now, or the directory cannot be checked; 2 usage error.
      """)

  @Argument(help: ArgumentHelp("A directory that was made by 'dataless mount --state'.", valueName: "directory"))
  var directory: PathArgument

  @Flag(help: "Change nothing, and say what would be done. [default: repair]")
  var dryRun = false

  @Flag(help: "Print one JSON object. [default: text]")
  var json = false

  func run() throws {
    let place = try StatePlace(directory, dryRun ? .look : .repair)
    let report = try check(place)
    let output = StandardOutput()
    if json {
      try output.json(answer(report, place.path))
    } else {
      for line in Self.lines(report, isDryRun: dryRun) { try output.line(line) }
      try output.flush()
    }
    guard report.damages > 0 else { return }
    let needsHelp = report.findings.contains { $0.isDamage && $0.repair == nil }
    let remedy =
      dryRun
      ? "Run it without --dry-run to repair what can be."
      : needsHelp
        ? "Do what the lines without a repair say, and run it again."
        : report.namedFiles > 0
          ? "Look at the files lost+found-... in the root of the volume."
          : "It is repaired. What is lost is said above: look for that in a backup."
    throw CommandFailure(
      "'\(TerminalText.escaped(place.path))' \(dryRun || needsHelp ? "is" : "was") damaged:"
        + " \(HumanText.count(Int64(report.damages), "finding")). \(remedy)", code: .damaged)
  }

  private func check(_ place: StatePlace) throws -> StateCheckReport {
    let task = LocalTask("cannot check '\(TerminalText.escaped(place.path))'")
    return try task.run { () throws(FSError) in
      try StateCheck.run(place.directory, isDryRun: dryRun, scratch: LocalTask.scratch) { (progress) throws(FSError) in
        try task.show(Self.text(progress), share: progress.totalRows.flatMap { LocalTask.share(progress.rows, of: $0) })
      }
    }
  }

  static func text(_ progress: StateCheck.Progress) -> String {
    guard let all = progress.totalRows else { return progress.step.rawValue }
    return "\(progress.step.rawValue): \(HumanText.count(progress.rows)) of \(HumanText.count(all))"
  }

  private func answer(_ report: StateCheckReport, _ path: [UInt8]) -> CheckAnswer {
    CheckAnswer(
      directory: path, dryRun: dryRun, items: Int64(report.items), names: Int64(report.names),
      contents: Int64(report.contents), bytes: report.bytes,
      findings: report.findings.map { finding in
        CheckFinding(
          kind: finding.kind.rawValue, place: finding.place, message: finding.message, repair: finding.repair,
          isDamage: finding.isDamage)
      }, findingCount: Int64(report.count), damageCount: Int64(report.damages), repairCount: Int64(report.repairs))
  }

  static func lines(_ report: StateCheckReport, isDryRun: Bool) -> [String] {
    var lines = report.findings.map { finding in
      let repair = finding.repair.map { isDryRun ? "; repair: \($0)" : ": \($0)" } ?? ""
      return TerminalText.escaped("\(finding.place): \(finding.message)\(repair)")
    }
    let more = report.count - report.findings.count
    if more > 0 { lines.append("\(HumanText.count(Int64(more), "more finding")).") }
    let counts = [
      HumanText.count(Int64(report.items), "item"), HumanText.count(Int64(report.names), "name"),
      "\(HumanText.count(Int64(report.contents), "content")) (\(HumanText.size(report.bytes)))",
    ]
    let ends =
      report.count == 0
      ? "nothing is wrong"
      : "\(HumanText.count(Int64(report.count), "finding")), \(HumanText.count(Int64(report.damages))) of damage,"
        + " \(HumanText.count(Int64(report.repairs))) \(isDryRun ? "to be repaired" : "repaired")"
    lines.append("\(counts.joined(separator: ", ")): \(ends)")
    return lines
  }
}
