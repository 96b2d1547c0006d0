import ArgumentParser
import DatalessControl

/// `dataless gate list`: who is held, on what, for how long.
struct GateListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List gates with what they hold: who, on what, for how long.",
    discussion: """
      Also says what the kernel keeps locked behind a held listing or lookup, and warns of what is held for longer than \
      kernel.hung_task_timeout_secs.

      EXAMPLES
        dataless gate list /mnt/project
        dataless gate list /mnt/project --json | jq .callers

      EXIT STATUS
        0 listed (also when there are none); 1 failure; 2 usage error; 3 no such volume, or its daemon is not running; \
      4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Flag(help: "Print each gate as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    let list = try RemoteCall.run(mountpoint, failure: "cannot list the gates of \(mountpoint.description)") { client in
      try await client.gates()
    }
    let output = StandardOutput()
    if json {
      for gate in list.gates { try output.line(json: gate) }
      return try output.flush()
    }
    if list.gates.isEmpty { try output.line("no rule names a gate") }
    for gate in list.gates {
      for line in Self.lines(gate) { try output.line(line) }
    }
    try output.flush()
  }

  static func lines(_ gate: GateStatus) -> [String] {
    var lines = [
      "\(TerminalText.escaped(gate.name)): \(gate.isOpen ? "open" : "closed"), "
        + "\(HumanText.count(gate.callers, "caller")), \(HumanText.count(gate.attemptCount, "attempt")) held "
        + (gate.accessCount > 0 ? "and \(HumanText.count(gate.accessCount, "access", plural: "accesses")) " : "")
        + "(\(gate.rules.count == 1 ? "rule" : "rules") \(TerminalText.escaped(gate.rules.joined(separator: ", "))))"
    ]
    for attempt in gate.held {
      let path = attempt.pathBytes.isEmpty ? "." : TerminalText.escaped(attempt.pathBytes)
      let duration = HumanText.duration(nanoseconds: attempt.heldNanoseconds)
      lines.append(
        "  attempt \(attempt.attempt): \(path) (\(TerminalText.escaped(attempt.kind))), held for \(duration)")
      lines += WaiterText.lines(attempt.waiters, count: attempt.waiterCount, indent: "    ")
      for block in attempt.blocks { lines.append("    kernel: \(TerminalText.escaped(block))") }
      if let warning = attempt.warning { lines.append("    warning: \(TerminalText.escaped(warning))") }
    }
    let more = gate.attemptCount.minus(Int64(gate.held.count))
    if more > 0 { lines.append("  and \(HumanText.count(more, "more attempt"))") }
    for call in gate.accesses {
      let path = call.pathBytes.isEmpty ? "." : TerminalText.escaped(call.pathBytes)
      lines.append("  access \(call.number): \(path) (\(TerminalText.escaped(call.kind)))")
      lines += WaiterText.lines([call.waiter], count: 1, indent: "    ")
    }
    let others = gate.accessCount.minus(Int64(gate.accesses.count))
    if others > 0 { lines.append("  and \(HumanText.count(others, "more access", plural: "more accesses"))") }
    return lines
  }
}
