import DatalessControl
import DatalessCore
import DatalessDaemon
import SystemPackage

/// What `run` says about the processes that its command left running, and about others that hold its volume.
enum RunChildrenText {
  static let namesMaximum = 5
  /// Of each kind.
  static let linesMaximum = 20

  /// While it waits.
  static func notice(_ wait: ChildrenWait, limit: String) -> String {
    let what: String
    if wait.leftCount > 0 {
      let names = wait.left.prefix(namesMaximum).map(name).joined(separator: ", ")
      let rest = wait.leftCount - min(wait.left.count, namesMaximum)
      what = "left running: \(names)\(rest > 0 ? " and \(rest) more" : "")"
    } else {
      what = "\(HumanText.count(Int64(wait.attempts), "attempt")) of it still under way"
    }
    return "the command has ended and \(wait.leftCount > 0 ? "" : "has ")\(what). "
      + "What they materialize counts; waiting \(limit) at most (--wait-children, Ctrl-C)."
  }

  /// A line for each that was left when the wait ended, and what follows from it.
  static func lines(_ wait: ChildrenWait, _ budget: BudgetStatus?, hasExpectation: Bool) -> [String] {
    var lines = wait.left.prefix(linesMaximum).map(line)
    let rest = wait.left.count - lines.count
    if rest > 0 {
      lines.append("left running by the command: \(rest) more (--json names up to \(RunChildren.listedMax)).")
    }
    if wait.notLookedAt > 0 {
      lines.append(
        "left running by the command: \(wait.notLookedAt) more that could not be looked at, for want of descriptors. "
          + "Raise the hard limit of open files (ulimit -Hn).")
    }
    let underWay = max(budget?.inFlight ?? 0, Int64(wait.attempts))
    if hasExpectation, underWay > 0 {
      lines.append(
        "left under way by the command: \(HumanText.count(underWay, "attempt")); what was still to come is not counted."
      )
    }
    if case .unknown = wait.end {
      lines.append(
        "cannot tell what the command left running: /proc does not show this process' children. "
          + "Mount a /proc of this pid namespace (unshare --mount-proc).")
    }
    if hasExpectation, wait.isCutShort || underWay > 0 {
      lines.append(
        "cut short: what was left could have materialized more, so nobody knows whether what was expected holds. "
          + "Let the command end it, or give it more time with --wait-children.")
    }
    return lines + outsiders(wait.outsiders)
  }

  private static func outsiders(_ processes: [RemainingProcess]) -> [String] {
    let lines = processes.prefix(linesMaximum).map { process in
      "not started by the command: \(name(process)); \(uses(process)); it is left alone."
    }
    let rest = processes.count - lines.count
    return lines + (rest > 0 ? ["not started by the command: \(rest) more that use the volume."] : [])
  }

  private static func line(_ process: RemainingProcess) -> String {
    "left running by the command: \(name(process)); \(uses(process)); \(fate(process))."
  }

  private static func uses(_ process: RemainingProcess) -> String {
    guard let holds = process.holds else { return "what it uses cannot be seen" }
    let words = RemainingProcess.Hold.allCases.filter { holds.contains($0) }.map(words)
    return words.isEmpty ? "it does not use the volume" : "it has \(words.joined(separator: ", ")) on the volume"
  }

  private static func fate(_ process: RemainingProcess) -> String {
    if process.wasEnded { return process.hasEnded ? "ended" : "told to end, but did not" }
    if process.hasEnded { return "it has ended by itself" }
    guard let number = process.endErrno else { return "it goes on (--kill-children ends it)" }
    return "it goes on, and could not be told to end (\(Errno(rawValue: number).name)): end it with kill \(process.pid)"
  }

  private static func name(_ process: RemainingProcess) -> String {
    let name = process.comm ?? process.exe.map { String(decoding: $0, as: UTF8.self) } ?? "?"
    return "\(TerminalText.escaped(name))[\(process.pid)]"
  }

  private static func words(_ hold: RemainingProcess.Hold) -> String {
    switch hold {
    case .workingDirectory: "its working directory"
    case .rootDirectory: "its root directory"
    case .openFile: "open files"
    case .mapping: "a mapping"
    case .waitingCall: "a waiting call"
    }
  }
}
