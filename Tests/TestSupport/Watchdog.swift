import Glibc
import Synchronization

/// Ends the process when a case has no end, and says which one it was.
///
/// No assertion about time: the limit is a thousand times what any case takes.
final class Watchdog: Sendable {
  private let current = Atomic<Int>(-1)
  /// Its write end is closed at the end.
  private let pipe: (read: CInt, write: CInt)
  private let name: String
  private let seed: UInt64
  private let limit: Int

  init(_ name: String, _ seed: UInt64, limit: Int) {
    self.name = name
    self.seed = seed
    self.limit = limit
    var ends: [CInt] = [-1, -1]
    _ = Glibc.pipe(&ends)
    pipe = (ends[0], ends[1])
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self).toOpaque()
    let started = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Watchdog>.fromOpaque(context).takeRetainedValue().watch() }
        return nil
      }, context)
    if started == 0 { pthread_detach(thread) } else { Unmanaged<Watchdog>.fromOpaque(context).release() }
  }

  func note(_ number: Int) { current.store(number, ordering: .relaxed) }

  func end() { close(pipe.write) }

  private func watch() {
    var (last, since) = (-1, 0)
    var end = pollfd(fd: pipe.read, events: 0, revents: 0)
    defer { close(pipe.read) }
    while poll(&end, 1, 1_000) == 0 {
      let now = current.load(ordering: .relaxed)
      since = now == last ? since + 1 : 0
      last = now
      guard since >= limit else { continue }
      print("fuzz: no end after \(limit) s: \(name): DATALESS_TEST_SEED=\(seed):\(now)")
      fflush(nil)
      abort()
    }
  }
}
