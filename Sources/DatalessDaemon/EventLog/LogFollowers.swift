import Synchronization

/// Those who follow the log live.
final class LogFollowers: Sendable {
  private struct State {
    var continuations: [UInt64: AsyncStream<[UInt8]>.Continuation] = [:]
    var next: UInt64 = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  var isEmpty: Bool { state.withLock { $0.continuations.isEmpty } }

  func add(limit: Int) -> AsyncStream<[UInt8]> {
    let (stream, continuation) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingNewest(limit))
    let key = state.withLock { state -> UInt64? in
      guard !state.isFinished else { return nil }
      state.next += 1
      state.continuations[state.next] = continuation
      return state.next
    }
    guard let key else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { $0.continuations[key] = nil }
    }
    return stream
  }

  /// Hands out lines, without their newlines.
  func send(_ lines: some Sequence<ArraySlice<UInt8>>) {
    let continuations = state.withLock { Array($0.continuations.values) }
    for line in lines {
      let line = Array(line)
      for continuation in continuations { continuation.yield(line) }
    }
  }

  func finish() {
    let continuations = state.withLock { state in
      state.isFinished = true
      return Array(state.continuations.values)
    }
    for continuation in continuations { continuation.finish() }
  }
}
