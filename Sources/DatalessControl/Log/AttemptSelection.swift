import DatalessCore

/// Attempts of which something that a filter asks for was seen, because later records of them name their number only.
///
/// Memory: some 50 bytes for each selected attempt that is under way, and as much for the last of those that have
/// ended: waits, stacks and what a watchdog has done may be told after that.
struct AttemptSelection: Sendable {
  // LIMIT: of an attempt that so many selected ones have ended after, no record is selected any more by its number
  // alone. A stack is told 10 s after its wait at the latest, and most within milliseconds.
  static let endedMax = 65_536

  private struct Key: Hashable {
    /// Numbers of attempts hold within one.
    var session: String?
    var number: UInt64
  }

  private var underWay: Set<Key> = []
  private var ended: Set<Key> = []
  /// `ended` in the order of their ends, from `oldest` on and around.
  private var ends: [Key] = []
  private var oldest = 0

  /// Whether the attempt of a record is, or is by now, among them. Every record must be shown, in order.
  ///
  /// - Parameter isMatch: Whether the record itself has what is asked for.
  mutating func selects(_ record: LogRecord, isMatch: Bool) -> Bool {
    guard let number = record.attempt else { return isMatch }
    let key = Key(session: record.session, number: number)
    // Whatever else is told of one that has ended, it is not under way again.
    if ended.contains(key) { return true }
    guard isMatch || underWay.contains(key) else { return false }
    if record.type == .materializationFinished { end(key) } else { underWay.insert(key) }
    return true
  }

  private mutating func end(_ key: Key) {
    underWay.remove(key)
    ended.insert(key)
    guard ends.count >= Self.endedMax else { return ends.append(key) }
    ended.remove(ends[oldest])
    ends[oldest] = key
    oldest = (oldest + 1) % Self.endedMax
  }
}
