internal import Synchronization

/// Calls an action when the last of several parts is done; at once when there are none.
final class Countdown: Sendable {
  private let left: Atomic<Int>
  private let action: @Sendable () -> Void

  init(_ count: Int, _ action: @escaping @Sendable () -> Void) {
    left = Atomic(count)
    self.action = action
    if count == 0 { action() }
  }

  func one() { if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { action() } }
}
