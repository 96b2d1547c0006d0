import DatalessCore
import Glibc

extension Timestamp {
  /// The time of day, by CLOCK_REALTIME.
  static var timeOfDay: Timestamp {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Timestamp(seconds: Int64(now.tv_sec), nanoseconds: UInt32(now.tv_nsec))
  }
}
