import Glibc

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
