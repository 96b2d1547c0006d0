import DatalessControl
import DatalessCore

extension LogRow {
  /// What a program has changed on the volume.
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
    case .itemChanged:
      row.what = "change"
      if let attributes = json.raw("attributes") { row.detail += " " + TerminalText.escaped(attributes) }
    default:
      row.what = "write"
      row.size = json.integer("bytes").map { HumanText.size($0.plus(json.integer("mapped_bytes") ?? 0)) } ?? ""
    }
  }

  /// What of it is nowhere else.
  private static func lost(_ item: JSONObject) -> String {
    let bytes = item.integer("lost_bytes") ?? 0
    guard bytes <= 0 else { return ", \(HumanText.size(bytes)) lost" }
    return item.bool("was_dataless") == true ? ", dataless" : ""
  }
}
