import Glibc

/// The signals that end a volume or a run in good order.
enum SignalSet {
  /// SIGTERM, SIGINT and SIGHUP.
  static var ending: sigset_t { of([SIGTERM, SIGINT, SIGHUP]) }

  static func of(_ signals: [CInt]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    return set
  }

  /// Blocks signals for this thread and for all that it starts; called before any other thread exists.
  ///
  /// - Returns: The mask before.
  @discardableResult
  static func block(_ set: sigset_t) -> sigset_t {
    var new = set
    var old = sigset_t()
    pthread_sigmask(SIG_BLOCK, &new, &old)
    return old
  }

  /// Whether the process was started with the signal ignored (as nohup does), and should leave it so.
  static func isIgnored(_ signal: CInt) -> Bool {
    var action = sigaction()
    guard sigaction(signal, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}

/// Names of signals, as kill(1) has them: numbers differ between systems.
public enum SignalName {
  private static let names: [Int32: String] = [
    SIGHUP: "SIGHUP", SIGINT: "SIGINT", SIGQUIT: "SIGQUIT", SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT",
    SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGKILL: "SIGKILL", SIGUSR1: "SIGUSR1", SIGSEGV: "SIGSEGV", SIGUSR2: "SIGUSR2",
    SIGPIPE: "SIGPIPE", SIGALRM: "SIGALRM", SIGTERM: "SIGTERM", SIGCHLD: "SIGCHLD", SIGCONT: "SIGCONT",
    SIGSTOP: "SIGSTOP", SIGTSTP: "SIGTSTP", SIGTTIN: "SIGTTIN", SIGTTOU: "SIGTTOU", SIGURG: "SIGURG",
    SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGVTALRM: "SIGVTALRM", SIGPROF: "SIGPROF", SIGWINCH: "SIGWINCH",
    SIGPOLL: "SIGPOLL", SIGSYS: "SIGSYS",
  ]

  /// `SIGKILL` for 9; `SIG40` for a signal without a name of its own.
  public static func of(_ signal: Int32) -> String { names[signal] ?? "SIG\(signal)" }

  /// The number of a name that `of` gives; nil for other text.
  static func number(of name: String) -> Int32? {
    names.first { $0.value == name }?.key ?? (name.hasPrefix("SIG") ? Int32(name.dropFirst(3)) : nil)
  }
}

/// The one owner of a daemon's signals.
///
/// SIGTERM and SIGINT are taken with sigwaitinfo(2) on a thread of its own, so no handler of ours runs Swift code
/// between two instructions of somebody else. SIGPIPE is ignored: the daemon handles EPIPE where it writes. So is
/// SIGHUP, as there is no terminal; a volume in the foreground ends with its terminal.
struct SignalWaiter {
  private let signals: [CInt]

  /// Blocks the signals in this thread and all later ones. The first statement of a daemon, before any thread exists.
  init(isForeground: Bool) {
    let endsOnHangup = isForeground && !SignalSet.isIgnored(SIGHUP)
    signals = [SIGTERM, SIGINT] + (endsOnHangup ? [SIGHUP] : [])
    SignalSet.block(SignalSet.of(signals))
    signal(SIGPIPE, SIG_IGN)
    // Sent when somebody opens a content file on which a lease is held for a moment (see `isUsedElsewhere`).
    signal(SIGIO, SIG_IGN)
    // Who starts us under a limit on the size of files gets EFBIG from what would be larger, and keeps the volume.
    signal(SIGXFSZ, SIG_IGN)
    guard !endsOnHangup else { return }
    signal(SIGHUP, SIG_IGN)
    var hangup = SignalSet.of([SIGHUP])
    pthread_sigmask(SIG_UNBLOCK, &hangup, nil)
  }

  /// Begins to wait.
  ///
  /// - Parameters:
  ///   - first: Called with the signal's name at the first one.
  ///   - second: Called at the second one, which ends the process at once: exit closes /dev/fuse and the kernel answers
  ///     every caller. Must not block.
  func start(first: @escaping @Sendable (String) -> Void, second: @escaping @Sendable () -> Void) {
    DetachedThread.start { [self] in
      first(SignalName.of(next()))
      let signal = next()
      second()
      _exit(128 + signal)
    }
  }

  private func next() -> CInt {
    var set = SignalSet.of(signals)
    while true {
      let signal = sigwaitinfo(&set, nil)
      if signal > 0 { return signal }
    }
  }
}
