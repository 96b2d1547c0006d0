import Glibc

/// Starts the detached threads of the lanes.
enum LaneThread {
  /// How late the kernel may be with a thread's timed waits.
  enum TimerSlack {
    /// The process' own, 50 us by default.
    case inherited
    /// 1 ns: as exact as the hardware's timer.
    case exact
  }

  /// Runs `body` on a new detached thread with all signals blocked.
  ///
  /// - Parameters:
  ///   - name: what `ps -L` and `top -H` show; cut to 15 bytes.
  ///   - timerSlack: see `TimerSlack`.
  /// - Returns: the errno of pthread_create(3), 0 when the thread runs. EAGAIN: a limit on threads is reached.
  static func start(
    name: String, timerSlack: TimerSlack = .inherited, _ body: @escaping @Sendable () -> Void
  ) -> Int32 {
    let start = Unmanaged.passRetained(Start(name: name, timerSlack: timerSlack, body: body))
    // A thread inherits the mask of its creator: set here, there is no instant at which a signal could reach it.
    let masks = UnsafeMutablePointer<sigset_t>.allocate(capacity: 2)
    defer { masks.deallocate() }
    sigfillset(masks)
    pthread_sigmask(SIG_SETMASK, masks, masks + 1)
    defer { pthread_sigmask(SIG_SETMASK, masks + 1, nil) }
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    pthread_attr_init(attributes)
    defer {
      pthread_attr_destroy(attributes)
      attributes.deallocate()
    }
    pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let failure = pthread_create(
      &thread, attributes,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, start.toOpaque())
    if failure != 0 { start.release() }
    return failure
  }

  /// As `start`, for a thread without which there is no daemon. Traps when there is none to be had: lanes are made
  /// before anything is mounted.
  static func startOrTrap(
    name: String, timerSlack: TimerSlack = .inherited, _ body: @escaping @Sendable () -> Void
  ) {
    let failure = start(name: name, timerSlack: timerSlack, body)
    precondition(failure == 0, "cannot start thread \(name): errno \(failure). Raise the limit on threads (ulimit -u)")
  }

  private final class Start: Sendable {
    let name: String
    let timerSlack: TimerSlack
    let body: @Sendable () -> Void

    init(name: String, timerSlack: TimerSlack, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.timerSlack = timerSlack
      self.body = body
    }

    func run() {
      // pthread_setname_np and prctl are not visible from Swift (a GNU extension, a variadic function): /proc does the
      // same.
      LaneThread.write(String(name.prefix(15)), to: "/proc/thread-self/comm")
      if timerSlack == .exact, let tid = LaneThread.currentThreadID {
        // Only /proc/TID has this file, /proc/thread-self/ (a task directory) has not.
        LaneThread.write("1", to: "/proc/\(tid)/timerslack_ns")
      }
      body()
    }
  }

  /// The Linux thread id of the calling thread; nil without /proc.
  static var currentThreadID: Int32? {
    var target = [UInt8](repeating: 0, count: 64)
    let count = target.withUnsafeMutableBytes { buffer in
      readlink("/proc/thread-self", buffer.baseAddress!, buffer.count)
    }
    guard count > 0, let slash = target[..<count].lastIndex(of: UInt8(ascii: "/")) else { return nil }
    return Int32(String(decoding: target[(slash + 1)..<count], as: UTF8.self))
  }

  // Best effort: without it the thread has no name or is later than it should be, but works.
  private static func write(_ text: String, to path: String) {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = Glibc.write(descriptor, text, text.utf8.count)
    close(descriptor)
  }
}
