import DatalessControl
import DatalessCore

/// The cells of one line of `dataless log`, escaped for a terminal.
struct LogRow {
  var time: String
  var who = ""
  var what = ""
  var size = ""
  /// The longest wait.
  var blocked = ""
  var outcome = ""
  /// The path, or what there is to say instead.
  var detail = ""
  /// Whether it is a failure, a refusal or a loss.
  var isBad = false
  /// Whose row it is.
  var process: UInt32?

  init(time: String, who: String) {
    self.time = time
    self.who = who
  }

  /// Records that are not about one item.
  static func other(_ record: LogRecord, _ row: inout LogRow) {
    let json = record.json
    func text(_ key: StaticString, _ base64Key: StaticString) -> String {
      TerminalText.escaped(json.name(key, base64Key) ?? [])
    }
    switch record.type {
    case .mark:
      row.what = "mark"
      row.detail = text("label", "label_b64")
    case .volumeReset:
      row.what = "reset"
      row.who = json.word("by") ?? ""
      let files = HumanText.count(json.integer("files") ?? 0, "file")
      row.detail = "\(files) evicted"
    case .volumeMounted:
      row.what = "mounted"
      row.detail = "\(text("source", "source_b64")) on \(text("mountpoint", "mountpoint_b64"))"
    case .volumeUnmounted:
      row.what = "unmounted"
      row.detail = text("reason", "reason_b64")
    case .volumeCounters:
      row.what = "counters"
      row.detail = (json.object("requests_reaching_the_volume")?.counts ?? [])
        .map { "\(TerminalText.escaped($0.name)) \(HumanText.count($0.value))" }.joined(separator: ", ")
    case .materializationHeld:
      row.what = "gate"
      row.outcome = "held"
      row.detail += " [\(text("gate", "gate_b64"))]"
    case .materializationReleased:
      row.what = "gate"
      row.who = json.word("by") ?? ""
      row.blocked = json.integer("held_ns").map { HumanText.duration(nanoseconds: $0) } ?? ""
      row.outcome = json.word("errno") ?? "released"
      row.detail += " [\(text("gate", "gate_b64"))]"
    case .configurationChanged:
      row.what = text("what", "what_b64")
      row.who = json.word("by") ?? ""
      row.outcome = "changed"
      row.detail = TerminalText.escaped(json.raw("after") ?? [])
    case .logDropped:
      row.what = "log"
      row.outcome = "LOST"
      row.isBad = true
      row.detail = "\(HumanText.count(json.integer("count") ?? 0, "record")) lost: the log's buffer or disk was full"
    case .processSeen:
      row.what = "process"
      row.detail = text("exe", "exe_b64")
      if let arguments = json.raw("argv") {
        row.detail += " " + TerminalText.escaped(arguments)
      } else if json.raw("script") != nil {
        row.detail += " " + text("script", "script_b64") + " ..."
      }
    case .budgetExceeded:
      row.what = "budget"
      row.outcome = "EXCEEDED"
      row.isBad = true
      let amount = "\(text("budget", "budget_b64")): \(json.integer("used") ?? 0) of \(json.integer("limit") ?? 0)"
      row.detail = "\(amount), by \(row.detail.isEmpty ? "?" : row.detail)"
    case .runStarted:
      row.what = "run"
      row.outcome = "started"
      row.detail =
        TerminalText.escaped(json.raw("command") ?? []) + (json.bool("command_withheld") == true ? " ..." : "")
    case .runFinished:
      row.what = "run"
      row.outcome = json.word("signal") ?? json.integer("exit_status").map { "exit \($0)" } ?? "ended"
      if let errno = json.word("not_started") { row.detail = "could not be executed: \(errno)" }
      if let signal = json.word("interrupted_by") { row.detail = "told to end by \(signal)" }
    default:
      row.what = record.typeName.isEmpty ? "?" : TerminalText.escaped(record.typeName)
      if row.detail.isEmpty { row.detail = TerminalText.escaped(record.line) }
    }
  }
}

extension JSONObject {
  /// The text of a string value for a terminal: words of ours in a log of ours, and anything in another.
  func word(_ key: StaticString) -> String? { text(key).map { TerminalText.escaped($0) } }
}

extension LogRow {
  /// What a refresh found, and its end.
  static func refresh(_ record: LogRecord, _ row: inout LogRow) {
    let json = record.json
    row.who = json.word("by") ?? ""
    guard record.type == .sourceChanged else {
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

extension LogRow {
  /// Where a caller stood that was blocked.
  ///
  /// - Parameter place: nil where nobody knows.
  static func stack(_ record: LogRecord, at place: String?, into row: inout LogRow) {
    let json = record.json
    row.what = "stack: " + (json.word("trigger") ?? json.word("operation") ?? "?")
    row.outcome = json.word("outcome") ?? "?"
    row.detail = place ?? StackText.reason(json.string("outcome") ?? "")
    let access = json.unsigned("access").map { "access \($0)" }
    row.detail += " [\(access ?? "attempt \(record.attempt ?? 0)")]"
  }
}

extension LogRow {
  /// A main thread has waited for too long, and what was done about it.
  static func watchdog(_ record: LogRecord, _ row: inout LogRow) {
    let json = record.json
    row.what = "hang: " + (json.word("trigger") ?? json.word("operation") ?? "?")
    row.blocked = json.integer("blocked_ns").map { HumanText.duration(nanoseconds: $0) } ?? ""
    row.isBad = true
    let spared = json.word("spared").map { ", not aborted: \($0)" } ?? ""
    let limit = json.integer("limit_ns").map { HumanText.duration(nanoseconds: $0) } ?? "?"
    switch record.type {
    case .watchdogSignalled: row.outcome = spared.isEmpty ? json.word("signal") ?? "signal" : "spared"
    case .watchdogSurvived: row.outcome = "survived"
    default: row.outcome = "over \(limit)"
    }
    if row.outcome == "SIGABRT", let outcome = json.word("outcome"), outcome != "ok" { row.detail += " (\(outcome))" }
    let cause = json.integer("access").map { "delayed call \($0)" } ?? "attempt \(record.attempt ?? 0)"
    row.detail += "\(spared) [main thread, \(cause)]"
  }
}
