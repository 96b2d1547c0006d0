import DatalessCore
import Synchronization

/// The materializations that a command has under way: so many at once, without a task for each.
///
/// One task enters and waits; any thread leaves. Who waits for room is woken when half of it is free, because a
/// hand-over between threads costs as much as a small file.
final class TransferWindow: Sendable {
  private struct State {
    var running: Set<WaiterID> = []
    /// The task that waits, and for how many at most to be left.
    var sleeper: (continuation: CheckedContinuation<Void, Never>, threshold: Int)?
    var isCancelled = false
  }

  private let limit: Int
  private let state = Mutex(State())

  /// - Parameter limit: How many run at once, at least 1.
  init(limit: Int) { self.limit = limit }

  /// Waits for room, and takes it. - Returns: False when cancelled; nothing is taken then.
  func enter(_ waiter: WaiterID) async -> Bool {
    let isFull = state.withLock { !$0.isCancelled && $0.running.count >= limit }
    if isFull { await wait(until: limit / 2) }
    return state.withLock { state in
      guard !state.isCancelled else { return false }
      state.running.insert(waiter)
      return true
    }
  }

  /// Gives the room back.
  func leave(_ waiter: WaiterID) {
    let sleeper = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.running.remove(waiter)
      guard let sleeper = state.sleeper, state.running.count <= sleeper.threshold else { return nil }
      state.sleeper = nil
      return sleeper.continuation
    }
    sleeper?.resume()
  }

  /// Waits until nothing is under way.
  func drain() async { await wait(until: 0) }

  /// Lets nobody in any more. - Returns: What is under way, for the caller to end.
  func cancel() -> Set<WaiterID> {
    state.withLock { state in
      state.isCancelled = true
      return state.running
    }
  }

  /// How many are under way.
  var count: Int { state.withLock { $0.running.count } }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  private func wait(until threshold: Int) async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if state.running.count <= threshold { return true }
        state.sleeper = (continuation, threshold)
        return false
      }
      if isReached { continuation.resume() }
    }
  }
}
