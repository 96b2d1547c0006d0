import DatalessCore

/// Whether a volume fetches as many files at once as it is asked for, each as fast as alone: only then the log tells
/// how long what was waited for one after the other would have taken at once.
struct FetchCapacity: Sendable {
  /// Why nobody knows; nil for a volume without a common limit, all the time so far.
  private(set) var limit: String?

  mutating func note(_ record: LogRecord) {
    switch record.type {
    case .volumeMounted:
      limit = nil
      guard let options = record.json.object("options") else { return }
      if Self.isSet(options, "concurrency") { note("the volume fetches only so many files at once (concurrency)") }
      if Self.isSet(options, "bandwidth_bytes_per_second") { note("all transfers share one line (bandwidth)") }
    case .configurationChanged:
      guard let after = record.json.object("after") else { return }
      if after.range("omitted_bytes") != nil { note("what is simulated was replaced, and is not in the log") }
      if Self.isSet(after, "concurrency") { note("the volume fetches only so many files at once (concurrency)") }
      if Self.isSet(after, "bandwidth") { note("all transfers share one line (bandwidth)") }
    default: break
    }
  }

  private mutating func note(_ reason: String) { if limit == nil { limit = reason } }

  private static func isSet(_ json: JSONObject, _ key: StaticString) -> Bool {
    guard let value = json.raw(key) else { return false }
    return !value.elementsEqual("null".utf8) && !value.elementsEqual("\"none\"".utf8)
  }
}
