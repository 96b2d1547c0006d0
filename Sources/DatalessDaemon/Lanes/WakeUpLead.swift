import DatalessCore

/// How much earlier than it has work a thread has itself woken, so that it is awake when the time comes.
///
/// A kernel wakes a thread late, by more the longer the processor has slept: 40 us after 1 ms and 115 us after 50 ms
/// on a virtual machine of two processors, which is a quarter of what a delayed read is late by. How late is measured
/// at each wake-up; the rest until the time is waited for awake.
struct WakeUpLead: Equatable {
  // LIMIT: what is waited for awake at each wake-up at most. A thread that is woken later than this waits for a
  // processor, not for its wake-up, and being earlier is no help to it.
  static let most = Nanoseconds.microseconds(200)

  /// The mean of the last wake-ups, the newest weighing an eighth.
  private(set) var lead = Nanoseconds(0)

  /// The thread was woken by the clock. - Parameter late: How much after the time it asked for, 0 or more.
  mutating func note(late: Nanoseconds) {
    lead = lead + Nanoseconds((min(max(late, Nanoseconds(0)), Self.most) - lead).rawValue / 8)
  }

  /// When to ask to be woken, to be awake at a time.
  func time(before deadline: MonotonicTime) -> MonotonicTime {
    MonotonicTime(nanoseconds: deadline.nanoseconds - lead.rawValue)
  }

  /// Whether to stay awake until a time, as a wake-up would come after it.
  func isShort(until deadline: MonotonicTime, from now: MonotonicTime) -> Bool { deadline - now <= lead }
}
