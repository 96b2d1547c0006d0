internal import Glibc

/// Lets others have the engine's lock in the middle of work that takes it again and again.
///
/// Who waits for a mutex has to be woken first, and meanwhile a loop has taken it again: with a million names a caller
/// waited for 200 ms (measured), although no step was longer than a millisecond. Used by one thread of a lane.
struct LockYielder {
  private let timer: any TimerLane
  private var last: MonotonicTime

  private static let work = Nanoseconds.milliseconds(1)
  /// Microseconds; about the time that waking a thread takes.
  private static let pause: UInt32 = 50

  init(_ timer: any TimerLane) {
    self.timer = timer
    last = timer.now
  }

  /// To be called between two steps, without the lock.
  mutating func yieldIfDue() {
    guard timer.now - last >= Self.work else { return }
    usleep(Self.pause)
    last = timer.now
  }
}
