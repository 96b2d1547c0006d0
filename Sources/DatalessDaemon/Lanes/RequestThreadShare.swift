import Synchronization

/// How many of the session's request threads may do a short fetch themselves at a time, for all lanes together: the
/// others are left for requests, whatever a disk does.
final class RequestThreadShare: Sendable {
  private let limit: Int
  private let taken = Atomic<Int>(0)

  init(limit: Int) { self.limit = limit }

  /// Runs `work` here unless the share is used up. - Returns: Whether it ran.
  func run(_ work: () -> Void) -> Bool {
    guard taken.add(1, ordering: .relaxed).newValue <= limit else {
      taken.subtract(1, ordering: .relaxed)
      return false
    }
    defer { taken.subtract(1, ordering: .relaxed) }
    work()
    return true
  }
}
