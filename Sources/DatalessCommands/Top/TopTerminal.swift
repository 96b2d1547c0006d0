import Glibc
import Synchronization

/// The terminal while `dataless top` has it: keys one by one, no echo, the alternate screen. Given back at the end
/// whatever the end is: `leave` calls nothing that a signal handler may not call.
enum TopTerminal {
  // Written once, by the main thread, before any handler that reads it is there: the memory stays for good.
  nonisolated(unsafe) private static var saved: UnsafeMutablePointer<termios>?
  private static let isTaken = Atomic<Bool>(false)
  /// Alternate screen, no cursor, no wrapping of long lines; and all of it back.
  private static let taking: StaticString = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[2J"
  private static let giving: StaticString = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

  /// Whether standard input and output are terminals that can do what is needed.
  static var isUsable: Bool {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { return false }
    return getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false
  }

  /// Takes the terminal, the first time and after a stop.
  static func enter() {
    if saved == nil {
      let attributes = UnsafeMutablePointer<termios>.allocate(capacity: 1)
      attributes.initialize(to: termios())
      guard tcgetattr(STDIN_FILENO, attributes) == 0 else { return attributes.deallocate() }
      saved = attributes
      for number in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE] { signal(number, crashed) }
    }
    guard let saved else { return }
    var attributes = saved.pointee
    attributes.c_lflag &= ~tcflag_t(ICANON | ECHO)
    // read(2) never waits: Ctrl-C drops the keys before it (termios(3), NOFLSH), also those of which poll(2) has told.
    withUnsafeMutableBytes(of: &attributes.c_cc) { ($0[Int(VMIN)], $0[Int(VTIME)]) = (0, 0) }
    tcsetattr(STDIN_FILENO, TCSANOW, &attributes)
    isTaken.store(true, ordering: .sequentiallyConsistent)
    write(STDOUT_FILENO, taking.utf8Start, taking.utf8CodeUnitCount)
  }

  /// Gives the terminal back; does nothing when it was not taken.
  static func leave() {
    guard isTaken.exchange(false, ordering: .sequentiallyConsistent), let saved else { return }
    write(STDOUT_FILENO, giving.utf8Start, giving.utf8CodeUnitCount)
    tcsetattr(STDIN_FILENO, TCSANOW, saved)
  }

  /// A trap of ours: the terminal first, then the end that it would have been.
  private static let crashed: @convention(c) (CInt) -> Void = { number in
    leave()
    signal(number, SIG_DFL)
    raise(number)
  }

  static var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Everything anew, without a newline at the end, which would scroll.
  static func screen(_ lines: [String]) -> [UInt8] {
    Array(("\u{1b}[H" + lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J").utf8)
  }
}

/// Signals as bytes of a pipe: what a loop that waits for several things can wait for, too.
final class SignalPipe: Sendable {
  /// Readable when a signal has come; each byte is the number of one.
  let descriptor: CInt

  /// Blocks the signals in this thread and all later ones: made before the command starts any.
  init?(_ numbers: [CInt]) {
    guard let (reading, writing) = Pipe.make() else { return nil }
    descriptor = reading
    var set = sigset_t()
    sigemptyset(&set)
    for number in numbers { sigaddset(&set, number) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
    let waited = set
    DetachedWait.start {
      var set = waited
      while true {
        let number = sigwaitinfo(&set, nil)
        guard number > 0 else { continue }
        var byte = UInt8(truncatingIfNeeded: number)
        write(writing, &byte, 1)
      }
    }
  }

  /// Ends this process by a signal that was taken, as if it never had been.
  static func die(of number: CInt) -> Never {
    signal(number, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    raise(number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    _exit(128 + number)
  }
}

/// pipe(2), its ends closed by an exec: who uses it starts nothing, so that nobody gets them in between.
enum Pipe {
  static func make() -> (reading: CInt, writing: CInt)? {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}

/// A thread that nobody joins.
enum DetachedWait {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// - Returns: Whether there is such a thread.
  @discardableResult
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    var thread = pthread_t()
    let reference = Unmanaged.passRetained(Body(body))
    let result = pthread_create(
      &thread, nil,
      { argument in
        // SAFETY: the pointer is the reference retained above, taken back exactly once, here.
        if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      }, reference.toOpaque())
    if result == 0 { pthread_detach(thread) } else { reference.release() }
    return result == 0
  }
}
