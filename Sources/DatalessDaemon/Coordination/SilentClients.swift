import DatalessCore
import DequeModule

/// Clients of `CoordinationLoop` that have said nothing yet, in the order in which they came.
struct SilentClients {
  static let silenceMax = Nanoseconds.seconds(10)

  private var clients = Deque<(id: UInt64, since: MonotonicTime)>()

  /// When the first of them has been silent for too long.
  var next: MonotonicTime? { clients.first.map { $0.since + Self.silenceMax } }

  mutating func add(_ id: UInt64, since: MonotonicTime) { clients.append((id, since)) }

  /// Those that are not silent any more are dropped.
  ///
  /// - Returns: The next one that has been silent for too long.
  mutating func takeDue(at now: MonotonicTime, isSilent: (UInt64) -> Bool) -> UInt64? {
    while let first = clients.first {
      let isStill = isSilent(first.id)
      guard !isStill || now - first.since >= Self.silenceMax else { return nil }
      clients.removeFirst()
      if isStill { return first.id }
    }
    return nil
  }
}
