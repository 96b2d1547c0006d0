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
