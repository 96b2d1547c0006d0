import DatalessControl

/// A difference as text for a terminal, as Markdown and as a page.
public enum DifferenceText {
  private static let rowsMax = 20
  private static let order = [
    "files", "directories", "bytes", "waits", "blocked_ns", "longest_wait_ns", "main_thread_blocked_ns",
    "needless_files", "failures", "refusals", "intents", "intents_granted", "intent_waits", "intents_waited_ns",
    "longest_intent_wait_ns", "intent_waits_unknown", "presenters_asked", "presenters_timed_out",
    "presenters_longest_ns",
  ]

  /// Rows that differ, as cells; the last column is the name, and code.
  private struct List {
    /// Of the names.
    var title: String
    /// Of the other columns.
    var heads: [String]
    var rows: [[String]]
  }

  /// How a total is written.
  static func amount(_ name: String) -> (Int64) -> String {
    if name.hasSuffix("_ns") { return { HumanText.duration(nanoseconds: $0) } }
    if name == "bytes" { return { HumanText.size($0) } }
    return { HumanText.count($0) }
  }

  /// How a total is written where its rounded text does not tell it from another.
  static func exactAmount(_ name: String) -> (Int64) -> String {
    if name.hasSuffix("_ns") { return { HumanText.count($0) + " ns" } }
    if name == "bytes" { return { HumanText.count($0, "byte") } }
    return { HumanText.count($0) }
  }

  public static func lines(_ difference: RunDifference) -> [String] {
    var lines = [("before", difference.before), ("after ", difference.after)].map { name, side in
      "\(name)  \(origin(side))"
    }
    lines.append("")
    var totals = TextTable([.init("TOTAL"), .init("BEFORE", .right), .init("AFTER", .right), .init("CHANGE", .right)])
    totals.rows = self.totals(difference)
    lines += totals.lines
    let lists = lists(difference)
    for list in lists {
      lines.append("")
      let columns = list.heads.dropFirst().map { TextTable.Column($0.uppercased(), .right) }
      var table = TextTable([TextTable.Column("CHANGE")] + columns + [TextTable.Column(list.title)])
      table.rows = Array(list.rows.prefix(rowsMax))
      lines += table.lines
      if list.rows.count > rowsMax {
        lines.append("... and \(HumanText.count(Int64(list.rows.count - rowsMax))) more (--json has them)")
      }
    }
    if lists.isEmpty { lines += ["", "no program, no file and no stack differs"] }
    for failure in difference.failures { lines += ["", "FAILED  \(failure)"] }
    for sentence in difference.unknown { lines += ["", "unknown: \(sentence)"] }
    return lines
  }

  public static func markdown(_ difference: RunDifference) -> String {
    let failure = difference.failures.first.map { EscapedText.markdown($0) }
    var lines = [failure.map { "### :x: dataless: \($0)" } ?? "### dataless: two runs compared", ""]
    lines += difference.failures.dropFirst().map { "* \(EscapedText.markdown($0))" }
    lines += difference.unknown.map { "* unknown: \(EscapedText.markdown($0))" }
    for (name, side) in [("before", difference.before), ("after", difference.after)] {
      guard let end = side.commandEnd else { continue }
      lines.append("* \(EscapedText.markdown("the command \(name): \(end)"))")
    }
    for (name, side) in [("before", difference.before), ("after", difference.after)] where !side.isComplete {
      let gaps = side.gaps.joined(separator: ", ")
      lines.append("* \(EscapedText.markdown("the log \(name) does not tell all: \(gaps)"))")
    }
    lines += ["", "| total | before | after | change |", "|---|--:|--:|--:|"]
    lines += totals(difference).map { row in "| \(row.map { EscapedText.markdown($0) }.joined(separator: " | ")) |" }
    for list in lists(difference) {
      let title = "\(list.title.lowercased()) (\(list.rows.count))"
      lines += ["", "<details><summary>\(EscapedText.markdown(title))</summary>", ""]
      lines.append("| \(list.heads.joined(separator: " | ")) | |")
      lines.append("|---|" + list.heads.dropFirst().map { _ in "--:|" }.joined() + "---|")
      lines += list.rows.prefix(rowsMax).map { cells in
        let numbers = cells.dropLast().map { EscapedText.markdown($0) }.joined(separator: " | ")
        return "| \(numbers) | \(EscapedText.markdownCell(cells.last ?? "")) |"
      }
      lines += ["", "</details>"]
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A page without a script.
  static func page(_ difference: RunDifference) -> String {
    let style = PackageResources.report_css
    var html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    let policy = "default-src 'none'; style-src '\(HTMLWriter.styleHash)'"
    html += "<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\">\n"
    html +=
      "<title>Two runs compared</title>\n<style>\(String(decoding: style, as: UTF8.self))</style>\n</head>\n<body>\n"
    html += "<h1>Two runs compared</h1>\n"
    for (name, side) in [("before", difference.before), ("after", difference.after)] {
      html += "<p>\(name): <code>\(EscapedText.markup(origin(side)))</code></p>\n"
    }
    for failure in difference.failures {
      html += "<div class=\"verdict failed\"><span class=\"word\">FAILED</span> \(EscapedText.markup(failure))</div>\n"
    }
    for sentence in difference.unknown {
      html += "<div class=\"verdict unknown\"><span class=\"word\">unknown</span> "
      html += "\(EscapedText.markup(sentence))</div>\n"
    }
    html += table("Totals", ["", "before", "after", "change"], rows: totals(difference), nameColumn: 0)
    for list in lists(difference) {
      html += table(
        "\(list.title.lowercased()) (\(HumanText.count(Int64(list.rows.count))))", list.heads + [""], rows: list.rows,
        nameColumn: list.heads.count)
    }
    return html + "</body>\n</html>\n"
  }

  private static func table(_ title: String, _ heads: [String], rows: [[String]], nameColumn: Int) -> String {
    func kind(_ column: Int) -> String { column == nameColumn ? "name" : "number" }
    var html = "<h2>\(EscapedText.markup(title))</h2>\n<table>\n<tr>"
    for (index, head) in heads.enumerated() { html += "<th class=\"\(kind(index))\">\(head)</th>" }
    html += "</tr>\n"
    for row in rows {
      html += "<tr>"
      for (index, cell) in row.enumerated() { html += "<td class=\"\(kind(index))\">\(EscapedText.markup(cell))</td>" }
      html += "</tr>\n"
    }
    return html + "</table>\n"
  }

  private static func origin(_ side: RunDifference.Side) -> String {
    let time = side.started.map { " from \(TerminalText.escaped(String($0.prefix(19))))Z" } ?? ""
    let gaps = side.isComplete ? "" : "; its log does not tell all: \(side.gaps.joined(separator: ", "))"
    let end = side.commandEnd.map { "; its command: \($0)" } ?? ""
    return "session \(TerminalText.escaped(side.session)) of \(TerminalText.escaped(side.source))\(time), "
      + TerminalText.escaped(side.log) + end + gaps
  }

  private static func totals(_ difference: RunDifference) -> [[String]] {
    order.compactMap { name in
      guard let amount = difference.totals[name] else { return nil }
      let words = self.amount(name)
      let title = name.hasSuffix("_ns") ? String(name.dropLast(3)) : name
      return [
        title.split(separator: "_").joined(separator: " "), words(amount.before), words(amount.after),
        change(amount, words),
      ]
    }
  }

  private static func change(_ amount: RunDifference.Amount, _ words: (Int64) -> String) -> String {
    guard amount.change != 0 else { return "-" }
    let sign = amount.change > 0 ? "+" : "-"
    let text = sign + words(Int64(clamping: amount.change.magnitude))
    guard amount.before > 0 else { return text }
    return "\(text) (\(sign)\(HumanText.decimal(Double(amount.change.magnitude) * 100 / Double(amount.before), 1)) %)"
  }

  // MARK: - Lists

  private static func lists(_ difference: RunDifference) -> [List] {
    let heads = ["change", "files", "bytes", "waits", "blocked"]
    let lists = [
      List(title: "PROGRAM", heads: heads, rows: difference.programs.map { cells($0, difference) }),
      List(title: "PATH", heads: heads, rows: difference.paths.map { cells($0, difference) }),
      List(title: "STACK", heads: heads, rows: difference.stacks.map { cells($0, difference) }),
      List(
        title: "INTENTS OF", heads: ["change", "intents", "waits", "waited", "longest"],
        rows: difference.intents.map { cells($0, difference) }),
      List(
        title: "PRESENTER", heads: ["change", "asked", "timed out", "took", "longest"],
        rows: difference.presenters.map { cells($0, difference) }),
    ]
    return lists.filter { !$0.rows.isEmpty }
  }

  private static func cells(_ row: RunDifference.Row, _ difference: RunDifference) -> [String] {
    let all = row.frames ?? []
    let shown = (row.shown ?? all.indices).clamped(to: all.indices).prefix(4).map { all[$0] }
    let frames = shown.isEmpty ? "" : " " + shown.joined(separator: " < ")
    return [
      word(row.change, by: row.blocked, in: difference, isUnrecorded: row.isUnrecorded == true), count(row.files),
      signed(row.bytes) { HumanText.size($0) }, count(row.waits), duration(row.blocked), row.name + frames,
    ]
  }

  private static func cells(_ row: RunDifference.Intents, _ difference: RunDifference) -> [String] {
    [
      word(row.change, by: row.waited, in: difference), count(row.intents), count(row.waits), duration(row.waited),
      duration(row.longest), row.name,
    ]
  }

  private static func cells(_ row: RunDifference.Presenter, _ difference: RunDifference) -> [String] {
    [
      word(row.change, by: row.longest, in: difference), count(row.asked), count(row.timedOut), duration(row.took),
      duration(row.longest), row.name,
    ]
  }

  /// What a log lacks that does not tell all looks the same as what was never done, and so do stacks that were not
  /// taken.
  private static func word(
    _ change: RunDifference.Row.Change, by time: RunDifference.Amount, in difference: RunDifference,
    isUnrecorded: Bool = false
  ) -> String {
    switch change {
    case .gone where isUnrecorded && difference.after.isComplete: "gone, or not recorded"
    case .new where isUnrecorded && difference.before.isComplete: "new, or not recorded before"
    case .gone: difference.after.isComplete ? "gone" : "gone, or missing"
    case .new: difference.before.isComplete ? "new" : "new, or missing before"
    case .changed where isUnrecorded: "changed, or not all recorded"
    case .changed: time.change > 0 ? "slower" : time.change < 0 ? "faster" : "changed"
    }
  }

  private static func count(_ amount: RunDifference.Amount) -> String { signed(amount) { HumanText.count($0) } }

  private static func duration(_ amount: RunDifference.Amount) -> String {
    signed(amount) { HumanText.duration(nanoseconds: $0) }
  }

  private static func signed(_ amount: RunDifference.Amount, _ words: (Int64) -> String) -> String {
    guard amount.change != 0 else { return "-" }
    return (amount.change > 0 ? "+" : "-") + words(Int64(clamping: amount.change.magnitude))
  }
}
