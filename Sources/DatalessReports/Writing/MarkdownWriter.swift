import DatalessControl

/// A summary for a pull request: GitHub's Markdown, short, with the rest folded away.
enum MarkdownWriter {
  private static let rowsMax = 20

  static func write(_ report: Report, to file: ReportFile) throws(ControlError) {
    try file.write(text(report))
    try file.commit()
  }

  static func text(_ report: Report) -> String {
    var lines: [String] = []
    lines.append("### \(symbol(report.verdict.outcome)) dataless: \(EscapedText.markdown(title(report)))")
    lines.append("")
    if let gap = IncompleteLog.sentence(report.summary.completeness) {
      lines += [":warning: \(EscapedText.markdown(gap))", ""]
    }
    for check in report.verdict.checks { lines += self.lines(check) }
    if !report.verdict.checks.isEmpty { lines.append("") }
    lines += facts(report)
    lines += findings(report)
    lines += coordination(report)
    lines += programs(report)
    lines += stacks(report)
    lines += files(report)
    lines += ["", "Run it again: \(EscapedText.markdownCode(report.commandLine))"]
    return lines.joined(separator: "\n") + "\n"
  }

  /// Verdict and numbers alone.
  static func short(_ report: Report) -> String {
    let title = EscapedText.markdown(String(title(report).prefix(2_000)))
    return
      "### \(symbol(report.verdict.outcome)) dataless: \(title)\n\n"
      + "The rest is too long for this place: see the other reports.\n"
  }

  private static func title(_ report: Report) -> String {
    let headline = SummaryText.headline(report.summary)
    return report.verdict.outcome == .none ? headline : "\(report.verdict.message); \(headline)"
  }

  private static func symbol(_ outcome: ReportVerdict.Outcome) -> String {
    switch outcome {
    case .passed: ":white_check_mark:"
    case .failed: ":x:"
    case .unknown: ":grey_question:"
    case .none: ":information_source:"
    }
  }

  private static func lines(_ check: ReportVerdict.Check) -> [String] {
    var lines = [
      "* \(symbol(check.outcome)) \(EscapedText.markdownCode(check.name)): \(EscapedText.markdown(check.message))"
    ]
    if let warning = check.warning { lines.append("  * warning: \(EscapedText.markdown(warning))") }
    for violation in check.violations.prefix(rowsMax) {
      lines.append("  * \(EscapedText.markdownCode(violation.message))")
      for detail in ViolationText.lines(violation).dropFirst() {
        lines.append("    * \(EscapedText.markdownCode(String(detail.drop { $0 == " " })))")
      }
    }
    if check.violations.count > rowsMax {
      lines.append("  * and \(HumanText.count(Int64(check.violations.count - rowsMax))) more")
    }
    return lines
  }

  private static func facts(_ report: Report) -> [String] {
    ["| | |", "|---|---|"]
      + SummaryText.facts(report.summary).map { title, text in
        "| \(EscapedText.markdown(title)) | \(EscapedText.markdown(text)) |"
      }
  }

  private static func folded(_ title: String, _ lines: [String]) -> [String] {
    ["", "<details><summary>\(EscapedText.markdown(title))</summary>", ""] + lines + ["", "</details>"]
  }

  private static func findings(_ report: Report) -> [String] {
    let rows = report.summary.findings.flatMap { finding in
      finding.places.prefix(rowsMax).map { place in
        "| \(EscapedText.markdown(FindingText.title(finding.kind))) | \(place.count) "
          + "| \(HumanText.duration(nanoseconds: place.blockedNanoseconds)) "
          + "| \(place.sparedNanoseconds.map { HumanText.duration(nanoseconds: $0) } ?? "?") "
          + "| \(EscapedText.markdownCell(FindingText.who(place))) | \(EscapedText.markdownCell(FindingText.paths(place))) "
          + "| \(FindingText.place(place).map { EscapedText.markdownCell($0) } ?? "") | \(EscapedText.markdown(finding.rule)) |"
      }
    }
    guard !rows.isEmpty else { return [] }
    return folded(
      "Findings (\(HumanText.count(Int64(report.summary.findings.count { $0.count > 0 }))))",
      [
        "| finding | count | blocked | spared | program | paths | function | rule |",
        "|---|--:|--:|--:|---|---|---|---|",
      ]
        + rows)
  }

  private static func coordination(_ report: Report) -> [String] {
    guard let coordination = report.summary.coordination else { return [] }
    var lines = ["| | |", "|---|---|"]
    for (title, text) in CoordinationText.facts(coordination) {
      lines.append("| \(EscapedText.markdown(title)) | \(EscapedText.markdown(text)) |")
    }
    if !coordination.longest.isEmpty {
      lines += ["", "| waited | program | access | outcome | for |", "|--:|---|---|---|---|"]
    }
    for wait in coordination.longest {
      let (who, access) = (CoordinationText.who(wait.process), CoordinationText.path(wait))
      lines.append(
        "| \(HumanText.duration(nanoseconds: wait.waitedNanoseconds)) | \(EscapedText.markdownCell(who)) "
          + "| \(EscapedText.markdownCell(access)) | \(EscapedText.markdown(CoordinationText.outcome(wait))) "
          + "| \(EscapedText.markdownCell(CoordinationText.holders(wait))) |")
    }
    if !coordination.slowest.isEmpty {
      lines += ["", "| longest | asked | timed out | presenter | path |", "|--:|--:|--:|---|---|"]
    }
    for row in coordination.slowest {
      let who = CoordinationText.who(row.process)
      lines.append(
        "| \(HumanText.duration(nanoseconds: row.longestNanoseconds)) | \(row.asked) | \(row.timedOut) "
          + "| \(EscapedText.markdownCell(who)) | \(EscapedText.markdownCell(TerminalText.escaped(row.path))) |")
    }
    return folded("\(CoordinationText.title) (\(HumanText.count(coordination.intents)))", lines)
  }

  private static func programs(_ report: Report) -> [String] {
    let programs = report.summary.processes
    guard !programs.isEmpty else { return [] }
    let rows = programs.prefix(rowsMax).map { program in
      "| \(EscapedText.markdownCell(ProgramText.name(program))) | \(program.files) | \(program.directories) "
        + "| \(HumanText.size(program.bytes)) | \(HumanText.duration(nanoseconds: program.blocked.sumNanoseconds)) "
        + "| \(EscapedText.markdown(program.verdict)) |"
    }
    return folded(
      "Programs (\(HumanText.count(Int64(programs.count))))",
      ["| program | files | directories | bytes | blocked | read |", "|---|--:|--:|--:|--:|---|"] + rows)
  }

  /// Beside frames of an interpreter, where those of the program cannot be read.
  private static func note(_ stack: ReportStack, _ report: Report) -> String {
    report.unreadable(stack).map { " (\(EscapedText.markdown(CallerStack.unreadable($0))))" } ?? ""
  }

  private static func stacks(_ report: Report) -> [String] {
    let known = report.blocked.sorted.filter { if case .known = $0.stack { true } else { false } }
    guard !known.isEmpty else { return [] }
    let rows = known.prefix(rowsMax).map { row in
      let frames = report.stackText(row.stack, framesMax: 5)
      return
        "| \(HumanText.duration(nanoseconds: row.blocked)) | \(row.waits) | \(EscapedText.markdownCell(row.program)) "
        + "| \(EscapedText.markdownCell(frames))\(note(row.stack, report)) "
        + "| \(EscapedText.markdownCell(PathText.of(row.path ?? []))) |"
    }
    return folded(
      "Where it waited (\(HumanText.count(Int64(known.count), "stack")))",
      ["| blocked | waits | program | innermost functions | longest at |", "|--:|--:|---|---|---|"] + rows)
  }

  private static func files(_ report: Report) -> [String] {
    let count = report.files.count
    guard count > 0 else { return [] }
    let rows = report.files.first(rowsMax, by: .needless).map { row in
      let file = report.files[row]
      let share = file.readShare.map { "\(HumanText.decimal($0 * 100, 0)) %" } ?? "?"
      return "| \(EscapedText.markdownCell(PathText.of(file.pathBytes))) | \(HumanText.size(file.bytes)) | \(share) "
        + "| \(HumanText.duration(nanoseconds: file.blocked.sumNanoseconds)) | \(file.isNeedless ? "needless" : "") |"
    }
    let shown = count > rowsMax ? "\(rowsMax) of \(HumanText.count(Int64(count)))" : "\(count)"
    return folded(
      "Files (\(shown); needless ones first)",
      ["| path | fetched | read | blocked | |", "|---|--:|--:|--:|---|"] + rows)
  }
}
