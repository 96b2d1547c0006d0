internal import CFuse3
internal import Glibc
internal import Synchronization

/// The threads that take requests from the kernel and hand them to libfuse.
///
/// Not libfuse's own loop: that one starts and ends threads as it likes and cannot be stopped while all of them wait in
/// read(2). Each thread here waits in read(2) with all signals blocked but one, whose handler does nothing: delivered
/// without SA_RESTART it ends the read, so that the thread sees the session's exit flag.
final class LoopThreads: Sendable {
  // SAFETY: libfuse's session is made for use by many threads, and is never destroyed once it was mounted.
  private nonisolated(unsafe) let session: OpaquePointer
  private let dispatcher: Dispatcher
  private let connection = Mutex<(device: Int32, channel: ReplyChannel)?>(nil)
  private let running = Atomic<Int>(0)
  private let threads = Mutex<[pthread_t]>([])
  private let onEnd: @Sendable () -> Void

  init(session: OpaquePointer, dispatcher: Dispatcher, onEnd: @escaping @Sendable () -> Void) {
    self.session = session
    self.dispatcher = dispatcher
    self.onEnd = onEnd
  }

  /// Where requests come from, and where libfuse answers them; before `start`.
  func attach(device: Int32, channel: ReplyChannel) { connection.withLock { $0 = (device, channel) } }

  /// Starts `count` threads named fuse-0, fuse-1, ...
  ///
  /// - Returns: 0, or the errno of the thread that could not be made when there is not even one.
  func start(count: Int) -> Int32 {
    Self.installWakeHandler()
    var saved = sigset_t()
    var mask = Self.blockedSignals()
    pthread_sigmask(SIG_SETMASK, &mask, &saved)
    defer { pthread_sigmask(SIG_SETMASK, &saved, nil) }
    // The first count is this function's own: no early thread may end the loop while others are being made.
    running.store(1, ordering: .relaxed)
    var failure: Int32 = 0
    threads.withLock { threads in
      for index in 0..<max(count, 1) {
        let seat = Unmanaged.passRetained(Seat(loop: self, index: index))
        running.add(1, ordering: .relaxed)
        var thread = pthread_t()
        failure = pthread_create(&thread, nil, { Seat.run($0) }, seat.toOpaque())
        if failure != 0 {
          running.subtract(1, ordering: .relaxed)
          seat.release()
          break
        }
        threads.append(thread)
      }
    }
    let started = threads.withLock { !$0.isEmpty }
    leave(quietly: !started)
    return started ? 0 : failure
  }

  /// Sends every thread the wake signal. One that is between looking at the exit flag and read(2) misses it, so repeat.
  func wake() {
    guard running.load(ordering: .acquiring) > 0 else { return }
    threads.withLock { threads in
      for thread in threads { pthread_kill(thread, cfuse_wake_signal()) }
    }
  }

  /// Wakes and waits until all threads have ended, or the time is over.
  ///
  /// - Returns: Whether all have ended. Never call it from one of them.
  func join(timeout: Duration) -> Bool {
    let deadline = ContinuousClock.now + timeout
    var pause: Int = 100_000
    while running.load(ordering: .acquiring) > 0 {
      if ContinuousClock.now >= deadline { return false }
      wake()
      var time = timespec(tv_sec: 0, tv_nsec: pause)
      nanosleep(&time, nil)
      pause = min(pause * 2, 5_000_000)
    }
    let ended = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    for thread in ended { pthread_join(thread, nil) }
    return true
  }

  private func serve(index: Int) {
    cfuse_name_thread("fuse-\(index)")
    var wakeable = sigset_t()
    sigemptyset(&wakeable)
    sigaddset(&wakeable, cfuse_wake_signal())
    pthread_sigmask(SIG_UNBLOCK, &wakeable, nil)
    if let (device, channel) = connection.withLock({ $0 }) { serve(device, channel) }
    fuse_session_exit(session)
    leave(quietly: false)
  }

  private func serve(_ device: Int32, _ channel: ReplyChannel) {
    // The kernel wants room for the largest WRITE and its headers, whatever comes. Pages that are not used cost
    // nothing.
    let capacity = max(Int(dispatcher.options.maxWrite), 1 << 20) + 1 << 16
    let memory = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 4096)
    defer { memory.deallocate() }
    while fuse_session_exited(session) == 0 {
      let count = dispatcher.receive(from: device, into: memory, capacity: capacity)
      // Unmounted or aborted. The others see it too; those in a handler look at the flag.
      if count == -Int(ENODEV) { return }
      guard count > 0 else { continue }
      var buffer = fuse_buf()
      buffer.mem = memory
      buffer.size = count
      fuse_session_process_buf(session, &buffer)
      dispatcher.passOnInit(channel, to: device)
    }
  }

  private func leave(quietly: Bool) {
    let (_, left) = running.subtract(1, ordering: .acquiringAndReleasing)
    if left == 0, !quietly { onEnd() }
  }

  /// What a thread is given to start with.
  private final class Seat: Sendable {
    let loop: LoopThreads
    let index: Int

    init(loop: LoopThreads, index: Int) {
      self.loop = loop
      self.index = index
    }

    static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      guard let argument else { return nil }
      // SAFETY: Retained by `start` for this one call.
      let seat = Unmanaged<Seat>.fromOpaque(argument).takeRetainedValue()
      seat.loop.serve(index: seat.index)
      return nil
    }
  }

  /// Everything but the signals by which the kernel reports a fault of the thread itself: blocked, they would kill the
  /// process without a trace.
  private static func blockedSignals() -> sigset_t {
    var mask = sigset_t()
    sigfillset(&mask)
    for signal in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&mask, signal) }
    return mask
  }

  private static func installWakeHandler() {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    sigemptyset(&action.sa_mask)
    sigaction(cfuse_wake_signal(), &action, nil)
  }
}
