import DatalessControl

extension LogRow {
  /// What a refresh found, and its end.
  static func refresh(_ record: LogRecord, _ row: inout LogRow) {
    let json = record.json
    row.who = json.word("by") ?? ""
    guard record.type == "source.changed" else {
      row.what = "refresh"
      row.outcome = record.json.word("outcome") ?? "ended"
      row.isBad = row.outcome != "ok" || (json.integer("failures") ?? 0) > 0
      let words: [StaticString] = ["added", "changed", "renamed", "gone", "kept", "unchanged", "failures"]
      row.detail = words.compactMap { word in
        json.integer(word).flatMap { $0 > 0 ? "\(HumanText.count($0)) \(word)" : nil }
      }.joined(separator: ", ")
      return
    }
    row.what = "source"
    row.outcome = json.word("change") ?? "changed"
    row.size = json.object("new")?.integer("size").map { HumanText.size($0) } ?? ""
    if let old = json.name("old_path", "old_path_b64") { row.detail += " (was \(TerminalText.escaped(old)))" }
  }
}
