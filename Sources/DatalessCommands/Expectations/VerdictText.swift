import DatalessControl
import DatalessCore

/// A verdict as text for a terminal: whatever stands in names is escaped.
enum VerdictText {
  /// Of one expectation.
  static let violationsMax = 20

  /// - Parameter header: Whether to say which session of which log it is about.
  static func lines(_ verdict: Verdict, header: Bool = false) -> [String] {
    var lines: [String] = []
    if header {
      lines.append("session \(TerminalText.escaped(verdict.session)) of \(TerminalText.escaped(verdict.log))")
      if verdict.earlierSessions > 0 {
        lines.append("\(HumanText.count(verdict.earlierSessions, "earlier session")) in it, not looked at")
      }
    }
    lines.append(headline(verdict))
    for warning in verdict.warnings { lines.append("warning: \(TerminalText.harmless(warning))") }
    let order: [Verdict.Outcome] = [.violated, .unknown, .held]
    for outcome in order {
      for result in verdict.expectations where result.outcome == outcome { lines += self.lines(result, verdict) }
    }
    if let baseline = verdict.baseline { lines += self.lines(baseline) }
    return lines
  }

  private static func headline(_ verdict: Verdict) -> String {
    func count(_ outcome: Verdict.Outcome) -> Int64 { Int64(verdict.expectations.count { $0.outcome == outcome }) }
    let all = HumanText.count(Int64(verdict.expectations.count), "expectation")
    let parts = [("violated", count(.violated)), ("unknown", count(.unknown)), ("held", count(.held))]
      .filter { $0.1 > 0 }.map { "\(HumanText.count($0.1)) \($0.0)" }
    return parts.isEmpty ? "\(all)" : "\(all): \(parts.joined(separator: ", "))"
  }

  private static func lines(_ result: ExpectationResult, _ verdict: Verdict) -> [String] {
    let word =
      switch result.outcome {
      case .held: "held     "
      case .violated: "VIOLATED "
      case .unknown: "UNKNOWN  "
      }
    var lines = ["\(word) \(TerminalText.escaped(result.name)): \(sentence(result))"]
    if let place = result.place, result.outcome != .held { lines.append("  from \(TerminalText.escaped(place))") }
    if result.outcome == .unknown, let reason = result.reason { lines.append("  \(TerminalText.harmless(reason))") }
    guard result.outcome == .violated else { return lines }
    let violations = verdict.violations.filter { $0.expectation == result.name }
    for violation in violations.prefix(violationsMax) { lines += self.lines(violation, result) }
    let rest = result.violationCount - violations.prefix(violationsMax).reduce(0) { $0 + $1.count }
    if rest > 0 {
      lines.append("  and \(HumanText.count(rest)) more (--json names up to \(Violation.listedMax) paths)")
    }
    if let hint = violations.first?.hint { lines.append("  look at: \(TerminalText.harmless(hint))") }
    return lines
  }

  /// `at most 10 files materialized; 11 files`.
  static func sentence(_ result: ExpectationResult) -> String {
    guard result.unit != .paths, let measured = result.measured else { return result.words }
    if result.measure == Expectation.Measure.minParallel.rawValue, measured == 0 { return result.words }
    let amount =
      switch result.unit {
      case .files: HumanText.count(measured, "file")
      case .directories: HumanText.count(measured, "directory", plural: "directories")
      case .bytes: "\(HumanText.size(measured)) (\(HumanText.count(measured)) bytes)"
      case .nanoseconds: result.unit.amount(measured, besides: result.bound)
      case .needless: HumanText.count(measured, "file")
      case .refusals: HumanText.count(measured, "refusal")
      case .repetitions: HumanText.count(measured, "time")
      case .lookups: HumanText.count(measured, "lookup")
      case .parallelHundredths: HumanText.decimal(Double(measured) / 100, measured % 100 == 0 ? 0 : 2)
      case .paths: ""
      }
    return "\(result.words); \(result.isMeasuredIncompletely ? "at least " : "")\(amount)"
  }

  private static func lines(_ violation: Violation, _ result: ExpectationResult) -> [String] {
    var parts: [String] = []
    if let path = violation.pathBytes { parts.append(path.isEmpty ? "." : TerminalText.escaped(path)) }
    if violation.kind == "directory" { parts.append("(directory)") }
    switch result.unit {
    case .nanoseconds: parts.append("blocked \(result.unit.amount(violation.measured, besides: result.bound))")
    case .parallelHundredths:
      parts.append(
        "\(HumanText.decimal(Double(violation.measured) / 100, violation.measured % 100 == 0 ? 0 : 2)) in flight")
    default: break
    }
    parts.append("by \(who(violation))")
    if let other = violation.other { parts.append("beside \(name(other))") }
    if let trigger = violation.trigger { parts.append(TerminalText.escaped(trigger)) }
    if violation.count > 1 { parts.append("\(HumanText.count(violation.count)) times") }
    var lines = ["  " + parts.joined(separator: " ")]
    if !violation.ancestors.isEmpty {
      lines.append("    below " + violation.ancestors.prefix(8).map(name).joined(separator: " < "))
    }
    if let stack = violation.stack { lines.append("    at \(StackText.summary(stack))") }
    var record: [String] = []
    if let time = violation.time { record.append(TerminalText.escaped(time)) }
    if let attempt = violation.attempt { record.append("attempt \(attempt)") }
    if let access = violation.access { record.append("access \(access)") }
    if !record.isEmpty { lines.append("    " + record.joined(separator: ", ")) }
    return lines
  }

  /// `python3 fm.py[18] thread 20`.
  private static func who(_ violation: Violation) -> String {
    guard let process = violation.process else { return "a process that the log does not tell" }
    var words = name(process)
    if violation.isMainThread == true {
      words += " main thread"
    } else if let threadID = violation.threadID {
      words += " thread \(threadID)" + (violation.threadName.map { " (\(TerminalText.escaped($0)))" } ?? "")
    }
    return words
  }

  private static func name(_ process: Violation.Process) -> String {
    TerminalText.escaped(process.name) + (process.pid.map { "[\($0)]" } ?? "")
  }

  private static func lines(_ baseline: BaselineResult) -> [String] {
    var lines: [String] = []
    if baseline.isUpdated {
      lines.append(
        "baseline \(baseline.file) written: \(HumanText.count(baseline.newCount)) new, "
          + "\(HumanText.count(baseline.untouchedCount)) gone")
      return lines
    }
    guard let untouched = baseline.untouched, !untouched.isEmpty else { return lines }
    lines.append(
      "baseline \(baseline.file): \(HumanText.count(baseline.untouchedCount)) of "
        + "\(HumanText.count(baseline.entryCount, "path")) not touched any more (--update-baseline takes them out):")
    for entry in untouched.prefix(violationsMax) {
      let path = entry.pathBytes.isEmpty ? "." : TerminalText.escaped(entry.pathBytes)
      lines.append("  \(entry.kind) \(path)")
    }
    let rest = baseline.untouchedCount - Int64(min(untouched.count, violationsMax))
    if rest > 0 { lines.append("  and \(HumanText.count(rest)) more") }
    return lines
  }
}
