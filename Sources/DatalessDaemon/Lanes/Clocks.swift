import DatalessCore
import Glibc

extension MonotonicTime {
  /// The time now, by CLOCK_MONOTONIC, in nanoseconds.
  static var current: MonotonicTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// The same instant for pthread_cond_timedwait; a time before zero becomes zero, which has passed.
  var timespecValue: timespec {
    let bounded = max(nanoseconds, 0)
    return timespec(tv_sec: Int(bounded / 1_000_000_000), tv_nsec: Int(bounded % 1_000_000_000))
  }
}

extension Timestamp {
  /// The time of day, by CLOCK_REALTIME.
  static var timeOfDay: Timestamp {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Timestamp(seconds: Int64(now.tv_sec), nanoseconds: UInt32(now.tv_nsec))
  }
}

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

/// Turns monotonic times of one session into wall-clock text. Both clocks are read once, so the order of two times is
/// the order of their texts even if somebody sets the clock.
struct SessionClock: Sendable {
  private let wallOffset: Nanoseconds
  // Formatting a date costs more than all else in a line, and changes once a second.
  private var second = Int64.min
  private var line: [UInt8] = []
  /// Where the nanoseconds stand in it.
  private var start = 0

  /// - Parameter wallOffset: UTC minus monotonic time.
  init(wallOffset: Nanoseconds) { self.wallOffset = wallOffset }

  /// Reads both clocks.
  init() {
    var wall = timespec()
    let before = MonotonicTime.current
    clock_gettime(CLOCK_REALTIME, &wall)
    let after = MonotonicTime.current
    let monotonic = before.nanoseconds + (after - before).rawValue / 2
    self.init(wallOffset: .seconds(Int64(wall.tv_sec)) + Nanoseconds(Int64(wall.tv_nsec) - monotonic))
  }

  /// RFC 3339 in UTC with nine digits: 2026-01-02T03:04:05.123456789Z.
  mutating func text(_ time: MonotonicTime) -> [UInt8] {
    let wall = (time + wallOffset).nanoseconds
    let nanoseconds = Int(((wall % 1_000_000_000) + 1_000_000_000) % 1_000_000_000)
    let second = (wall - Int64(nanoseconds)) / 1_000_000_000
    if second != self.second {
      self.second = second
      line = Self.text(second)
      start = line.count
      line += [UInt8](repeating: UInt8(ascii: "0"), count: 9) + [UInt8(ascii: "Z")]
    }
    line.withUnsafeMutableBufferPointer { line in
      var rest = nanoseconds
      for position in stride(from: start + 8, through: start, by: -1) {
        line[position] = 48 + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
    }
    return line
  }

  /// `2026-01-02T03:04:05.`; years 0 to 9999.
  private static func text(_ second: Int64) -> [UInt8] {
    var time = time_t(second)
    var parts = tm()
    gmtime_r(&time, &parts)
    var text: [UInt8] = []
    append(Int(parts.tm_year) + 1900, digits: 4, to: &text)
    for (mark, part) in [("-", parts.tm_mon + 1), ("-", parts.tm_mday), ("T", parts.tm_hour), (":", parts.tm_min)] {
      text.append(contentsOf: mark.utf8)
      append(Int(part), digits: 2, to: &text)
    }
    text.append(UInt8(ascii: ":"))
    append(Int(parts.tm_sec), digits: 2, to: &text)
    text.append(UInt8(ascii: "."))
    return text
  }

  private static func append(_ value: Int, digits: Int, to buffer: inout [UInt8]) {
    var divisor = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      buffer.append(UInt8(48 + (value / divisor) % 10))
      divisor /= 10
    }
  }
}
