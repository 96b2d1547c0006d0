import DatalessCore

@testable import DatalessDaemon

/// Something a test waits for: values that arrive from other threads, in order.
final class TestSignal<Value>: Sendable {
  private let monitor = Monitor<[Value]>([])

  func send(_ value: Value) {
    monitor.withLock { $0.append(value) }
    monitor.broadcast()
  }

  var values: [Value] { monitor.withLock { $0 } }

  /// Blocks until so many values have come; nil after `seconds`, by which a test fails instead of hanging.
  func wait(count: Int = 1, seconds: Int64 = 30) -> [Value]? {
    let deadline = MonotonicTime.current + seconds * 1_000_000_000
    return monitor.wait { values in
      if values.count >= count { return .done(values) }
      return MonotonicTime.current >= deadline ? .done(nil) : .wait(until: deadline)
    }
  }
}

extension TestSignal where Value == Void {
  func send() { send(()) }
}
