import DatalessCore

/// Whether a log tells of every open of a file that has content, and of what was read through it.
struct WatchedOpens: Sendable {
  private var observesAll = false
  /// Files that were open at the last count.
  private var openNow: Int64?

  mutating func note(_ record: LogRecord) {
    let json = record.json
    switch record.type {
    case .volumeMounted: observesAll = json.object("options")?.string("observe") == "reads"
    case .configurationChanged: configured(json)
    case .volumeCounters, .volumeUnmounted:
      if let open = json.object("opens")?.object("now") {
        openNow = open.counts.reduce(0) { $0.plus(max(0, $1.value)) }
      }
    default: break
    }
  }

  /// Whether every open has its record, and none of the files that were open at the last count is left out.
  var areAllTold: Bool { observesAll && (openNow.map { $0 <= Int64(Event.handlesToldMax) } ?? false) }

  /// What is simulated was changed: opens may leave no records from now on.
  private mutating func configured(_ json: JSONObject) {
    let after = json.object("after")
    guard after?.range("observe") != nil else {
      // Settings of which it is none leave it as it is, a whole scenario without it does not.
      if json.string("what") == "scenario" { observesAll = false }
      return
    }
    if after?.string("observe") != "reads" { observesAll = false }
  }
}
