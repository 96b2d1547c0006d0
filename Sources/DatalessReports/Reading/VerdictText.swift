public import DatalessControl
import DatalessCore

extension ReportVerdict {
  /// A verdict in the words of reports.
  public init(_ verdict: Verdict) {
    let checks = verdict.expectations.map { expectation in
      Check(
        name: Self.name(expectation), outcome: Outcome(expectation.outcome), message: Self.message(expectation),
        violations: verdict.violations.filter { $0.expectation == expectation.name }.map { Violation($0) },
        warning: expectation.warning.map { TerminalText.harmless($0) })
    }
    self.init(checks: checks)
    let notes = (verdict.gaps + verdict.warnings).map { TerminalText.harmless($0) }
    if !notes.isEmpty { message += " (\(notes.joined(separator: "; ")))" }
  }

  /// Two of the same words are two: those that have a name in the file are called by it, too.
  private static func name(_ result: ExpectationResult) -> String {
    result.name == result.measure ? result.words : "\(TerminalText.escaped(result.name)): \(result.words)"
  }

  private static func message(_ result: ExpectationResult) -> String {
    func amount(_ value: Int64, besides other: Int64?) -> String {
      switch result.unit {
      case .bytes, .nanoseconds: result.unit.amount(value, besides: other)
      case .parallelHundredths: HumanText.decimal(Double(value) / 100, 2)
      case .files, .needless: HumanText.count(value, "file")
      case .directories: HumanText.count(value, "directory", plural: "directories")
      case .refusals: HumanText.count(value, "refusal")
      case .repetitions: HumanText.count(value, "time")
      case .lookups: HumanText.count(value, "lookup")
      case .paths: HumanText.count(value, "path")
      }
    }
    var text = result.measured.map { amount($0, besides: result.bound) } ?? "not known"
    if result.isMeasuredIncompletely, result.measured != nil { text += " at least" }
    let most = result.measure == "min_parallel" ? "at least" : "at most"
    text += ", \(most) \(amount(result.bound, besides: result.measured))"
    if let reason = result.reason { text += "; " + TerminalText.harmless(reason) }
    if let place = result.place { text += " (\(TerminalText.escaped(place)))" }
    return text
  }
}

extension ReportVerdict.Outcome {
  init(_ outcome: Verdict.Outcome) {
    self =
      switch outcome {
      case .held: .passed
      case .violated: .failed
      case .unknown: .unknown
      }
  }
}

extension ReportVerdict.Violation {
  init(_ violation: Violation) {
    func name(_ process: Violation.Process) -> String {
      TerminalText.escaped(process.name) + (process.pid.map { "[\($0)]" } ?? "")
    }
    let path = violation.pathBytes.map { PathText.of($0) }
    let other = violation.other.map { "(beside \(name($0)))" }
    var text = [violation.process.map { name($0) }, other, violation.trigger.map { TerminalText.escaped($0) }, path]
      .compactMap { $0 }.joined(separator: " ")
    if violation.count > 1 { text += " (\(HumanText.count(violation.count)) times)" }
    if !violation.hint.isEmpty { text += (text.isEmpty ? "" : ": ") + TerminalText.harmless(violation.hint) }
    if let language = violation.stack?.unreadableLanguage { text += " (\(CallerStack.unreadable(language)))" }
    self.init(text, process: violation.process.map { name($0) }, parents: violation.ancestors.map { name($0) })
    setPath(violation.pathBytes)
    if let stack = violation.stack { setStack(StackTable.stack(stack)) }
  }
}
