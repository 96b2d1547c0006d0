import DatalessControl

/// JUnit's XML: a test for each expectation, one for how the command ended, one for the log being complete, and one for
/// a verdict that nobody knows for another reason.
enum JUnitWriter {
  private struct Case {
    enum Result { case passed, failed, skipped, error }
    var name: String
    var result: Result
    var message: String
    var details = ""
    /// What is to be known of one that passed; nil for nothing.
    var warning: String?
  }

  static func write(_ report: Report, to file: ReportFile) throws(ControlError) {
    let cases = cases(report)
    let failures = cases.count { $0.result == .failed }
    let skipped = cases.count { $0.result == .skipped }
    let errors = cases.count { $0.result == .error }
    let time = seconds(report.summary.durationNanoseconds)
    let counts =
      "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"\(errors)\" skipped=\"\(skipped)\" time=\"\(time)\""
    let name = EscapedText.markup(name(report))
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"dataless\" \(counts)>\n"
    let timestamp = report.summary.started.map { " timestamp=\"\(EscapedText.markup(String($0.prefix(19))))\"" } ?? ""
    text += "  <testsuite name=\"\(name)\" \(counts)\(timestamp)>\n    <properties>\n"
    for (name, value) in properties(report) {
      text += "      <property name=\"\(name)\" value=\"\(EscapedText.markup(value))\"/>\n"
    }
    text += "    </properties>\n"
    for test in cases { text += self.text(test, suite: name) }
    let output = SummaryText.lines(report.summary, width: 100).map { markedUp($0) }.joined(separator: "\n")
    text += "    <system-out>\(output)\n</system-out>\n  </testsuite>\n</testsuites>\n"
    try file.write(text)
    try file.commit()
  }

  private static func name(_ report: Report) -> String {
    guard let run = report.summary.run, let program = run.command.first else { return "dataless" }
    return "dataless run " + TerminalText.escaped(program)
  }

  private static func text(_ test: Case, suite: String) -> String {
    let head = "    <testcase classname=\"\(suite)\" name=\"\(EscapedText.markup(test.name))\" time=\"0\""
    let message = EscapedText.markup(test.message)
    switch test.result {
    case .passed:
      guard let warning = test.warning else { return head + "/>\n" }
      return "\(head)>\n      <system-out>warning: \(markedUp(warning))</system-out>\n    </testcase>\n"
    case .skipped: return "\(head)>\n      <skipped message=\"\(message)\"/>\n    </testcase>\n"
    case .error: return "\(head)>\n      <error message=\"\(message)\" type=\"log\"/>\n    </testcase>\n"
    case .failed:
      let details = test.details.split(separator: "\n").map { markedUp(String($0)) }.joined(separator: "\n")
      return
        "\(head)>\n      <failure message=\"\(message)\" type=\"expectation\">\(details)</failure>\n    </testcase>\n"
    }
  }

  /// Text of an element: a line end in it is one.
  private static func markedUp(_ line: String) -> String { EscapedText.markup(line) }

  private static func cases(_ report: Report) -> [Case] {
    var cases = report.verdict.checks.map { check in
      let result: Case.Result =
        switch check.outcome {
        case .passed, .none: .passed
        case .failed: .failed
        case .unknown: .skipped
        }
      return Case(
        name: check.name, result: result, message: check.message,
        details: check.violations.map { ViolationText.lines($0).joined(separator: "\n") }.joined(separator: "\n"),
        warning: check.warning)
    }
    if let run = report.summary.run, run.exitStatus != nil || run.signal != nil {
      let end = run.signal.map { "signal \(TerminalText.escaped($0))" } ?? "exit status \(run.exitStatus ?? 0)"
      let isGood = run.signal == nil && run.exitStatus == 0
      cases.append(
        Case(name: "the command ends with status 0", result: isGood ? .passed : .failed, message: end, details: end))
    }
    // No expectation failed by that, but what is not in the log may well be what should have failed.
    let gap = IncompleteLog.sentence(report.summary.completeness)
    cases.append(Case(name: "the log is complete", result: gap == nil ? .passed : .error, message: gap ?? ""))
    // Readers of these files take what was skipped for good: the exit status of such a run is not 0.
    if report.verdict.outcome == .unknown, gap == nil {
      cases.append(Case(name: "the verdict is known", result: .error, message: report.verdict.message))
    }
    return cases
  }

  private static func properties(_ report: Report) -> [(String, String)] {
    let summary = report.summary
    return [
      ("dataless.version", report.context.version), ("dataless.session", TerminalText.escaped(summary.session)),
      ("dataless.source", TerminalText.escaped(summary.source)), ("dataless.log", TerminalText.escaped(summary.log)),
      ("dataless.files", String(summary.materialized.files)),
      ("dataless.directories", String(summary.materialized.directories)),
      ("dataless.bytes", String(summary.materialized.bytes)), ("dataless.waits", String(summary.blocked.waits)),
      ("dataless.blocked_ns", String(summary.blocked.sumNanoseconds)),
      ("dataless.main_thread_blocked_ns", String(summary.mainThread.blocked.sumNanoseconds)),
      ("dataless.needless_files", String(summary.use.needlessFiles)),
      ("dataless.refusals", String(summary.materialized.refusals)),
      ("dataless.failures", String(summary.materialized.failures)),
    ]
  }

  /// Milliseconds are as exact as the readers of these files are.
  private static func seconds(_ nanoseconds: Int64) -> String {
    HumanText.decimal(Double(max(0, nanoseconds)) / 1e9, 3)
  }
}

/// A violation as lines of plain text.
enum ViolationText {
  static func lines(_ violation: ReportVerdict.Violation) -> [String] {
    var lines = [violation.message]
    if let path = violation.path { lines.append("  path: \(path)") }
    if let process = violation.process {
      lines.append("  process: " + ([process] + violation.parents).joined(separator: " < "))
    }
    if let place = violation.place { lines.append("  at: \(place)") }
    lines += violation.stack.map { "    \($0)" }
    if let why = violation.incomplete { lines.append("    (incomplete: \(why))") }
    return lines
  }
}
