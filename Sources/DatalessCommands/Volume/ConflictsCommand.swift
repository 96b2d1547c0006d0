import ArgumentParser
import DatalessControl
import DatalessCore

/// `dataless conflicts`: what was changed on the volume and in the source.
struct ConflictsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "List, or resolve, what was changed on a volume and in its source, too.",
    discussion: """
      Until a conflict is resolved, what is on the volume stays under its name, and the source is never changed. A \
      directory means all that is below it. --keep-both gives what is on the volume another name beside it, such as \
      `notes (local 2026-11-23).txt`; the source's version takes the name, dataless.

      EXAMPLES
        dataless conflicts /mnt/project
        dataless conflicts --keep-both /mnt/project/notes.txt --json

      EXIT STATUS
        0 listed, or resolved; 1 one could not be resolved, or a path has none; 2 usage error; 3 not on a volume, or its \
      daemon is not running; 4 timed out.
      """)

  enum Choice: EnumerableFlag {
    case keepMine, takeTheirs, keepBoth

    static func help(for value: Choice) -> ArgumentHelp? {
      switch value {
      case .keepMine: "What is on the volume stays; the conflict is over until the source changes again."
      case .takeTheirs: "What the source has takes its place; what is on the volume is dropped."
      case .keepBoth: "What is on the volume gets another name beside the source's version."
      }
    }

    var kept: ConflictChoice {
      switch self {
      case .keepMine: .keepMine
      case .takeTheirs: .takeTheirs
      case .keepBoth: .keepBoth
      }
    }
  }

  @Flag(exclusivity: .exclusive)
  var choice: Choice?

  @Argument(help: ArgumentHelp("Mounted volumes, or files or directories on them.", valueName: "path"))
  var paths: [PathArgument]

  @Flag(help: "Print the answer for each volume as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    let output = StandardOutput()
    var failed: Int64 = 0
    let keep = choice?.kept.rawValue
    for (volume, paths) in try MountedVolumes.locate(paths, named: choice != nil) {
      let answer = try RemoteCall.run(
        volume, failure: "cannot look for conflicts on \(TerminalText.escaped(volume.mountPoint))"
      ) { client in try await client.conflicts(paths, keep: keep) }
      if json {
        try output.json(answer)
      } else {
        for line in Self.lines(answer, at: volume.mountPoint) { try output.line(line) }
        try output.flush()
      }
      FailureList.say(
        answer.failures, count: answer.failureCount, at: volume.mountPoint, action: "resolve",
        others: "--json names the first 1,000")
      failed = failed.plus(answer.failureCount)
    }
    try FailureList.end(failed, "cannot resolve")
  }

  /// What was resolved, then what is left.
  static func lines(_ answer: ConflictAnswer, at mountPoint: [UInt8]) -> [String] {
    func shown(_ path: [UInt8]) -> String { TerminalText.escaped(PathBytes.join(mountPoint, path)) }
    var lines = answer.resolved.map { resolved in
      "resolved \(shown(resolved.pathBytes))" + (resolved.copyBytes.map { "; yours is \(shown($0))" } ?? "")
    }
    let unnamed = answer.resolvedCount.minus(Int64(answer.resolved.count))
    if unnamed > 0 { lines.append("resolved \(HumanText.count(unnamed)) more") }
    lines += answer.conflicts.map { conflict in
      "\(shown(conflict.pathBytes)): \(words(conflict.conflict)); yours \(side(conflict.mine)),"
        + " theirs \(side(conflict.theirs))"
    }
    let more = answer.count.minus(Int64(answer.conflicts.count))
    if more > 0 { lines.append("and \(HumanText.count(more)) more") }
    return lines
  }

  private static func words(_ conflict: String) -> String {
    switch ConflictKind(rawValue: conflict) {
    case .changedOnBothSides: "changed on both sides"
    case .madeOnBothSides: "made on both sides"
    case .changedHereGoneThere: "changed here, gone in the source"
    case .goneHereChangedThere: "removed here, changed in the source"
    case .metadataOnBothSides: "mode or owner changed on both sides"
    case nil: TerminalText.escaped(conflict)
    }
  }

  private static func side(_ side: ConflictSide?) -> String {
    guard let side else { return "nothing" }
    let size = side.kind == "file" ? HumanText.size(side.sizeBytes) : TerminalText.escaped(side.kind)
    return "\(size) of \(TerminalText.escaped(side.modified))"
  }
}
