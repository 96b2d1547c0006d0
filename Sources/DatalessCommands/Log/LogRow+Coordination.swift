import DatalessControl
import DatalessCore

extension LogRow {
  /// Who coordinates, who waits for whom, and what came of it.
  static func coordination(_ record: LogRecord, _ row: inout LogRow) {
    let json = record.json
    let (reads, writes) = (json.integer("reads") ?? 0, json.integer("writes") ?? 0)
    row.what = "coordinate: " + (writes > 0 ? reads > 0 ? "both" : "write" : "read")
    let others = reads.plus(writes).minus(1)
    if others > 0 { row.detail += " +\(HumanText.count(others))" }
    row.detail += " [intent \(json.unsigned("intent") ?? 0)]"
    switch record.type {
    case .coordinationGranted:
      row.outcome = "granted"
      row.blocked =
        [json.integer("waited_ns"), json.integer("asking_ns"), json.integer("materializing_ns")]
        .reduce(Int64(0)) { $0.plus($1 ?? 0) }.duration
    case .coordinationFinished:
      row.outcome = json.word("outcome") ?? "ended"
      row.isBad = !["ok", "cancelled", "ended"].contains(row.outcome)
      if let message = json.text("message") { row.detail += " (\(TerminalText.escaped(message)))" }
      if let more = json.integer("others"), more > 0 { row.detail += ", and \(HumanText.count(more)) more like it" }
    default:
      row.outcome = "started"
      let waitsFor = json.integers("waits_for")
      guard !waitsFor.isEmpty else { return }
      row.outcome = "waiting"
      row.detail += " behind " + waitsFor.map { "\($0)" }.joined(separator: ", ")
      row.detail +=
        " at " + (json.name("waits_at", "waits_at_b64").map { $0.isEmpty ? "." : TerminalText.escaped($0) } ?? "?")
    }
  }
}

extension LogRow {
  /// Who presents what, and how long it took to answer.
  static func presenter(_ record: LogRecord, _ row: inout LogRow) {
    let json = record.json
    row.what = "presenter"
    row.detail += " [presenter \(json.unsigned("presenter") ?? 0)]"
    switch record.type {
    case .presenterAnswered:
      row.blocked = json.integer("took_ns").map(\.duration) ?? ""
      row.outcome = json.word("outcome") ?? "?"
      row.isBad = row.outcome == "timed_out"
      let what = json.word("what") ?? "?"
      let number = json.unsigned("intent") ?? 0
      let isAnnounced = what == "evict" || what == "change"
      row.detail += " \(what)" + (isAnnounced ? ", question \(number)" : " by intent \(number)")
    case .presenterFinished:
      row.outcome = json.word("outcome") ?? "ended"
      row.isBad = !["ok", "ended"].contains(row.outcome)
      if let message = json.text("message") { row.detail += " (\(TerminalText.escaped(message)))" }
    default: row.outcome = "started"
    }
  }
}

extension Int64 {
  fileprivate var duration: String { HumanText.duration(nanoseconds: self) }
}
