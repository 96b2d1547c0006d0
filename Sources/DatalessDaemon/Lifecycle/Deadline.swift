import Glibc

/// Time limits of the lifecycle, on CLOCK_MONOTONIC.
struct Deadline: Sendable {
  private let end: Int64

  /// - Parameter milliseconds: From now; at least 0.
  init(milliseconds: Int) { end = Self.now() + Int64(milliseconds) }

  /// Milliseconds left, at least 0.
  var remaining: Int32 { Int32(clamping: max(0, end - Self.now())) }

  var hasPassed: Bool { remaining == 0 }

  /// CLOCK_MONOTONIC in milliseconds.
  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
