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
        0 explained; 1 no such item or process, or failure; 2 usage error; 3 not on a volume, or its daemon is not running; \
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
    let answer = try RemoteCall.run(location.mount, failure: "cannot explain \(path.description)") { client in
      try await client.explain(location.relative, trigger: trigger, pid: pid)
    }
    let output = StandardOutput()
    if json { return try output.json(answer) }
    for line in ExplainText.lines(answer) { try output.line(line) }
    try output.flush()
  }
}

/// An explanation as text: what would happen first, then every rule.
enum ExplainText {
  static func lines(_ answer: ExplainAnswer) -> [String] {
    let path = answer.pathBytes.isEmpty ? "." : TerminalText.escaped(answer.pathBytes)
    let process = answer.process.map { " by \(TerminalText.escaped($0.comm ?? "?"))[\($0.pid)]" } ?? ""
    let size = answer.kind == "file" ? ", \(HumanText.size(answer.sizeBytes))" : ""
    let (kind, trigger) = (TerminalText.escaped(answer.kind), TerminalText.escaped(answer.trigger))
    let state = TerminalText.escaped(answer.state)
    var lines = ["\(path) (\(kind), \(state)\(size)): \(trigger)\(process), attempt \(answer.attempt)"]
    if !answer.isTrigger {
      let profile = TerminalText.escaped(answer.profile)
      lines.append("  the profile '\(profile)' does not materialize a \(kind) on \(trigger): nothing happens")
    }
    if answer.state == "resident" || answer.state == "listed" {
      lines.append("  it is local: nothing is triggered until it is evicted")
    }
    if answer.isOffline {
      lines.append(
        "  the volume is offline: the attempt fails with \(ProfileText.offline(answer.errnos)) before anything else")
    }
    let width = max(12, answer.parts.map(\.part.count).max() ?? 0) + 1
    for part in answer.parts {
      let title = part.part + String(repeating: " ", count: width - part.part.count)
      lines.append(TerminalText.escaped("  \(title)\(part.value)\(origin(part))"))
    }
    let profile = "profile" + String(repeating: " ", count: width - 7)
    lines.append(TerminalText.escaped("  \(profile)\(answer.profile): \(ProfileText.errnos(answer.errnos))"))
    if answer.ruleCount == 0 { return lines }
    lines.append("rules:")
    for rule in answer.rules {
      let verdict =
        switch rule.verdict {
        case "decides": "decides \(rule.reason)"
        case "overruled": "matches, but \(rule.reason)"
        default: "does not match: \(rule.reason)"
        }
      lines.append(TerminalText.escaped("  \(rule.name): \(verdict)"))
    }
    let more = answer.ruleCount.minus(Int64(answer.rules.count))
    if more > 0 { lines.append("  and \(HumanText.count(more)) more") }
    return lines
  }

  private static func origin(_ part: ExplainedPart) -> String {
    if let rule = part.rule { return " (rule \(rule))" }
    return part.part == "fault" || part.part == "gate" || part.part == "evict" || part.value == "none"
      ? "" : " (the volume's setting)"
  }
}
