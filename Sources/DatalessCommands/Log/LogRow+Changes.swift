import DatalessControl
import DatalessCore

extension LogRow {
  /// What a program has changed on the volume, or what the volume has taken away.
  static func change(_ record: LogRecord, _ row: inout LogRow) {
    let json = record.json
    row.outcome = "ok"
    if json.string("kind") == "directory" { row.detail += "/" }
    switch record.type {
    case .itemCreated:
      let origin = json.name("linked_from", "linked_from_b64")
      row.what = origin == nil ? "create" : "link"
      if let origin { row.detail += " from \(TerminalText.escaped(origin))" }
    case .itemRenamed:
      row.what = json.bool("exchange") == true ? "exchange" : "rename"
      if let old = json.name("old_path", "old_path_b64") { row.detail += " from \(TerminalText.escaped(old))" }
      if let replaced = json.object("replaced") {
        row.detail += " [replaced\(lost(replaced))]"
      }
    case .itemRemoved:
      row.what = "remove"
      row.detail += lost(json)
      if let items = json.integer("items") { row.detail += ", with all in it: \(HumanText.count(items, "item"))" }
    case .itemPurged:
      row.who = json.word("by") ?? ""
      row.what = "purge"
      row.size = json.integer("bytes").map { HumanText.size($0) } ?? ""
      if let reason = json.word("reason") { row.detail += " [\(reason)\(lost(json))]" }
    case .itemChanged:
      row.what = "change"
      if let attributes = json.raw("attributes") { row.detail += " " + TerminalText.escaped(attributes) }
    default:
      row.what = "write"
      row.size = json.integer("bytes").map { HumanText.size($0.plus(json.integer("mapped_bytes") ?? 0)) } ?? ""
    }
  }

  /// What was changed on both sides, and what became of it.
  static func conflict(_ record: LogRecord, _ row: inout LogRow) {
    let json = record.json
    row.what = "conflict"
    row.outcome = json.word("conflict") ?? "?"
    row.isBad = record.type == .conflictFound
    if json.string("kind") == "directory" { row.detail += "/" }
    guard record.type == .conflictResolved else { return }
    row.what = "resolved"
    row.outcome = "kept " + (json.word("kept") ?? "?")
    if let copy = json.name("copy", "copy_b64") { row.detail += " [yours: \(TerminalText.escaped(copy))]" }
  }

  /// What of it is nowhere else.
  private static func lost(_ item: JSONObject) -> String {
    let bytes = item.integer("lost_bytes") ?? 0
    guard bytes <= 0 else { return ", \(HumanText.size(bytes)) lost" }
    return item.bool("was_dataless") == true ? ", dataless" : ""
  }
}
