import DatalessControl
import DatalessDaemon

/// What `run` says about the processes that its command left running.
enum RunChildrenText {
  static let namesMaximum = 5

  /// While it waits.
  static func notice(_ left: [LeftProcess], limit: String) -> String {
    let names = left.prefix(namesMaximum).map(name).joined(separator: ", ")
    let more = left.count > namesMaximum ? " and \(left.count - namesMaximum) more" : ""
    return "the command has ended and left running: \(names)\(more). "
      + "What they materialize counts; waiting \(limit) at most (--wait-children, Ctrl-C)."
  }

  /// A line for each that was left when the wait ended, and what follows from it.
  static func lines(_ wait: ChildrenWait, hasExpectation: Bool) -> [String] {
    var lines = wait.left.map(line)
    switch wait.end {
    case .noneLeft: return []
    case .volumeEnded, .interrupted: break
    case .timeUp: break
    case .unknown:
      lines.append(
        "cannot tell what the command left running: /proc does not show this process' children. "
          + "Mount a /proc of this pid namespace (unshare --mount-proc).")
    }
    if hasExpectation {
      lines.append(
        "cut short: what was left running could have materialized more, so nobody knows whether what was expected holds. "
          + "Let the command end it, or give it more time with --wait-children.")
    }
    return lines
  }

  private static func line(_ process: LeftProcess) -> String {
    let what: String
    if let holds = process.holds {
      let words = LeftProcess.Hold.allCases.filter { holds.contains($0) }.map(words)
      what = words.isEmpty ? "it does not use the volume" : "it has \(words.joined(separator: ", ")) on the volume"
    } else {
      what = "what it uses cannot be seen"
    }
    let fate =
      !process.wasEnded
      ? "it goes on (--kill-children ends it)" : process.hasEnded ? "ended" : "told to end, but did not"
    return "left running by the command: \(name(process)); \(what); \(fate)."
  }

  private static func name(_ process: LeftProcess) -> String {
    let name = process.comm ?? process.exe.map { String(decoding: $0, as: UTF8.self) } ?? "?"
    return "\(TerminalText.escaped(name))[\(process.pid)]"
  }

  private static func words(_ hold: LeftProcess.Hold) -> String {
    switch hold {
    case .workingDirectory: "its working directory"
    case .rootDirectory: "its root directory"
    case .openFile: "open files"
    case .mapping: "a mapping"
    case .waitingCall: "a waiting call"
    }
  }
}
