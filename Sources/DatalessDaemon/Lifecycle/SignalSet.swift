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
