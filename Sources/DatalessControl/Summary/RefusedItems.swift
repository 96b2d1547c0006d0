/// Adds up what refused triggers would have materialized: an item that was refused a thousand times counts once.
struct RefusedItems: Sendable {
  private(set) var sum = SummaryReport.Refused()
  private var seen: Set<UInt64> = []

  mutating func add(_ record: LogRecord) {
    guard let path = record.json.path, seen.insert(PathHash.of(path)).inserted else { return }
    let delay = record.json.integer("requested_delay_ns") ?? 0
    sum.delayNanoseconds = sum.delayNanoseconds.plus(delay)
    if record.json.string("kind") == "directory" {
      sum.directories += 1
    } else {
      sum.files += 1
      sum.bytes = sum.bytes.plus(record.json.integer("size") ?? 0)
    }
  }
}
