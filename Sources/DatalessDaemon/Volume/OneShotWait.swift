import DatalessCore
import Synchronization

/// Lets one task wait for whichever comes first of several events: each event calls `end`.
final class OneShotWait: Sendable {
  private enum State {
    case notBegun
    case waiting(CheckedContinuation<Void, Never>)
    case over
  }

  private let state = Mutex<State>(.notBegun)

  func begin(_ continuation: CheckedContinuation<Void, Never>) {
    let isOver = state.withLock { state in
      if case .over = state { return true }
      state = .waiting(continuation)
      return false
    }
    if isOver { continuation.resume() }
  }

  func end() {
    let waiting = state.withLock { state in
      defer { state = .over }
      return if case .waiting(let continuation) = state { continuation } else {
        nil as CheckedContinuation<Void, Never>?
      }
    }
    waiting?.resume()
  }
}

extension Volume {
  /// Suspends a task of the control lane; the timer lane wakes it, or its cancellation does.
  func pause(_ span: Nanoseconds) async {
    let pause = OneShotWait()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        pause.begin(continuation)
        timer.schedule(at: timer.now + span) { pause.end() }
      }
    } onCancel: {
      pause.end()
    }
  }
}
