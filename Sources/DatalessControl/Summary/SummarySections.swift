import DatalessCore

/// What happened between marks.
struct SummarySections: Sendable {
  var current = SummaryReport.Section()
  private var finished: [SummaryReport.Section] = []
  private var counters: [String: Int64]? = [:]

  /// A mark ends a section and begins the next, and so does a reset of the volume.
  mutating func begin(_ mark: LogRecord) {
    let at = Self.requests(mark)
    current.requestsReachingTheVolume = Self.difference(counters, at)
    finished.append(current)
    counters = at
    current = SummaryReport.Section(
      label: mark.type == .volumeReset ? "reset" : mark.json.string("label") ?? "", time: mark.time)
  }

  /// - Parameter requests: At the end of the log.
  func finish(_ requests: [String: Int64]) -> [SummaryReport.Section] {
    guard !finished.isEmpty else { return [] }
    var last = current
    last.requestsReachingTheVolume = Self.difference(counters, requests.isEmpty ? nil : requests)
    return finished + [last]
  }

  /// The counters of a mark: `counters.requests_reaching_the_volume`, or the same on the record itself.
  private static func requests(_ mark: LogRecord) -> [String: Int64]? {
    let counters = mark.json.object("counters") ?? mark.json
    guard let requests = counters.object("requests_reaching_the_volume") else { return nil }
    return Dictionary(requests.counts.map { ($0.name, $0.value) }) { $1 }
  }

  private static func difference(_ from: [String: Int64]?, _ to: [String: Int64]?) -> [String: Int64]? {
    guard let from, let to else { return nil }
    return to.map { ($0.key, $0.value.minus(from[$0.key] ?? 0)) }.filter { $0.1 != 0 }
      .reduce(into: [:]) { $0[$1.0] = $1.1 }
  }
}
