import DatalessCore

/// The bounded queue between those who record and the writer: numbers the records, and counts what it has no room for.
///
/// A loss is itself a record, at its place in the order: one slot beyond the capacity is kept for it, and it grows as
/// long as nothing else is recorded behind it. Lost records use up numbers, so a reader can check every count.
struct LogRing {
  struct Entry: Sendable {
    var number: UInt64
    var time: MonotonicTime
    var record: LogRecord
  }

  private let capacity: Int
  private var slots: [Entry?]
  private var head = 0
  private(set) var count = 0
  /// The number of the latest record, lost ones included; 0 before the first.
  private(set) var lastNumber: UInt64 = 0
  /// Records lost so far.
  private(set) var dropped: UInt64 = 0

  /// - Parameter capacity: records that may wait, 1 or more.
  init(capacity: Int) {
    self.capacity = max(capacity, 1)
    slots = Array(repeating: nil, count: self.capacity + 1)
  }

  /// - Returns: the record's number, or nil when it was lost.
  mutating func push(_ record: LogRecord, time: MonotonicTime) -> UInt64? {
    lastNumber += 1
    if count < capacity {
      append(Entry(number: lastNumber, time: time, record: record))
      return lastNumber
    }
    dropped += 1
    let last = (head + count - 1) % slots.count
    if case .dropped(let lost) = slots[last]?.record {
      slots[last]?.number = lastNumber
      slots[last]?.record = .dropped(lost + 1)
    } else {
      append(Entry(number: lastNumber, time: time, record: .dropped(1)))
    }
    return nil
  }

  /// Moves the oldest records into `batch`, at most `limit`.
  mutating func pop(into batch: inout [Entry], limit: Int) {
    var left = min(limit, count)
    while left > 0, let entry = slots[head] {
      batch.append(entry)
      slots[head] = nil
      head = (head + 1) % slots.count
      count -= 1
      left -= 1
    }
  }

  private mutating func append(_ entry: Entry) {
    slots[(head + count) % slots.count] = entry
    count += 1
  }
}
