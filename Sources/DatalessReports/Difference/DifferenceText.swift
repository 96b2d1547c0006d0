import DatalessControl

/// A difference as text for a terminal, as Markdown and as a page.
public enum DifferenceText {
  private static let rowsMax = 20
  private static let order = [
    "files", "directories", "bytes", "waits", "blocked_ns", "longest_wait_ns", "main_thread_blocked_ns",
    "needless_files", "failures", "refusals",
  ]

  /// How a total is written.
  static func amount(_ name: String) -> (Int64) -> String {
    if name.hasSuffix("_ns") { return { HumanText.duration(nanoseconds: $0) } }
    if name == "bytes" { return { HumanText.size($0) } }
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
    for (title, rows) in lists(difference) {
      lines.append("")
      var table = TextTable([
        .init("CHANGE"), .init("FILES", .right), .init("BYTES", .right), .init("WAITS", .right),
        .init("BLOCKED", .right), .init(title),
      ])
      table.rows = rows.prefix(rowsMax).map { cells($0) }
      lines += table.lines
      if rows.count > rowsMax {
        lines.append("... and \(HumanText.count(Int64(rows.count - rowsMax))) more (--json has them)")
      }
    }
    if lists(difference).isEmpty { lines += ["", "no program, no file and no stack differs"] }
    for failure in difference.failures { lines += ["", "FAILED  \(failure)"] }
    return lines
  }

  public static func markdown(_ difference: RunDifference) -> String {
    let failure = difference.failures.first.map { EscapedText.markdown($0) }
    var lines = [failure.map { "### :x: dataless: \($0)" } ?? "### dataless: two runs compared", ""]
    lines += difference.failures.dropFirst().map { "* \(EscapedText.markdown($0))" }
    lines += ["", "| total | before | after | change |", "|---|--:|--:|--:|"]
    lines += totals(difference).map { row in "| \(row.map { EscapedText.markdown($0) }.joined(separator: " | ")) |" }
    for (title, rows) in lists(difference) {
      lines += ["", "<details><summary>\(EscapedText.markdown("\(title.lowercased()) (\(rows.count))"))</summary>", ""]
      lines += ["| change | files | bytes | waits | blocked | |", "|---|--:|--:|--:|--:|---|"]
      lines += rows.prefix(rowsMax).map { row in
        let cells = cells(row)
        let numbers = cells.dropLast().map { EscapedText.markdown($0) }.joined(separator: " | ")
        return "| \(numbers) | \(EscapedText.markdownCode(cells[5])) |"
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
    html += table("Totals", ["", "before", "after", "change"], rows: totals(difference), nameColumn: 0)
    for (title, rows) in lists(difference) {
      html += table(
        "\(title.lowercased()) (\(HumanText.count(Int64(rows.count))))",
        ["change", "files", "bytes", "waits", "blocked", ""], rows: rows.map { cells($0) }, nameColumn: 5)
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
    let gaps = side.isComplete ? "" : "; its log does not tell all"
    return "session \(TerminalText.escaped(side.session)) of \(TerminalText.escaped(side.source))\(time), "
      + TerminalText.escaped(side.log) + gaps
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

  private static func lists(_ difference: RunDifference) -> [(String, [RunDifference.Row])] {
    [("PROGRAM", difference.programs), ("PATH", difference.paths), ("STACK", difference.stacks)]
      .filter { !$0.1.isEmpty }
  }

  private static func cells(_ row: RunDifference.Row) -> [String] {
    func signed(_ amount: RunDifference.Amount, _ words: (Int64) -> String) -> String {
      guard amount.change != 0 else { return "-" }
      return (amount.change > 0 ? "+" : "-") + words(Int64(clamping: amount.change.magnitude))
    }
    let frames = row.frames.map { " " + $0.prefix(4).joined(separator: " < ") } ?? ""
    return [
      row.change == .changed
        ? (row.blocked.change > 0 ? "slower" : row.blocked.change < 0 ? "faster" : "changed")
        : row.change.rawValue,
      signed(row.files) { HumanText.count($0) }, signed(row.bytes) { HumanText.size($0) },
      signed(row.waits) { HumanText.count($0) }, signed(row.blocked) { HumanText.duration(nanoseconds: $0) },
      row.name + frames,
    ]
  }
}
