import Glibc
import Synchronization

/// SIGINT, for a command that has something to say when it is cut short.
///
/// The signal is taken with sigwaitinfo(2) on a thread of its own. The second one ends the process at once. A process
/// that was started with SIGINT ignored, as shells start background jobs, goes on ignoring it.
final class InterruptSignal: Sendable {
  private struct State {
    var isRaised = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Blocks the signal in this thread and all later ones: made before the command starts any.
  init() {
    var old = sigaction()
    guard sigaction(SIGINT, nil, &old) == 0, unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) != 1 else {
      return
    }
    var set = Self.signals
    pthread_sigmask(SIG_BLOCK, &set, nil)
    var thread = pthread_t()
    let reference = Unmanaged.passRetained(self)
    let result = pthread_create(
      &thread, nil,
      { argument in
        // SAFETY: the pointer is the reference retained above, taken back exactly once, here.
        if let argument { Unmanaged<InterruptSignal>.fromOpaque(argument).takeRetainedValue().serve() }
        return nil
      }, reference.toOpaque())
    if result == 0 {
      pthread_detach(thread)
    } else {
      // Without a thread it is as without us: the signal ends the process.
      reference.release()
      pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }
  }

  /// Whether the signal has come.
  var isRaised: Bool { state.withLock { $0.isRaised } }

  /// What the signal does from now on; nil for nothing. Called at once when it has come already.
  func onRaise(_ action: (@Sendable () -> Void)?) {
    let isRaised = state.withLock { state in
      state.action = action
      return state.isRaised
    }
    if isRaised { action?() }
  }

  private func serve() {
    Self.wait()
    let action = state.withLock { state in
      state.isRaised = true
      return state.action
    }
    action?()
    Self.wait()
    _exit(ExitStatus.interrupted.rawValue)
  }

  private static var signals: sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    return set
  }

  private static func wait() {
    var set = signals
    while sigwaitinfo(&set, nil) < 0 {}
  }
}

/// The dispositions of signals that this process was started with. It undoes them for itself, and gives them back to
/// what it starts.
enum InheritedSignals {
  private static let isChildIgnored = isIgnored(signal(SIGCHLD, SIG_DFL))
  private static let isPipeIgnored = isIgnored(signal(SIGPIPE, SIG_IGN))

  /// Called first of all: with SIGCHLD ignored the kernel keeps no child's status, and waitpid(2) has none to give.
  /// SIGPIPE is ignored: what is written to nobody is an error, and no death.
  static func takeOver() { _ = (isChildIgnored, isPipeIgnored) }

  /// Those that a command of ours has to find ignored.
  static var ignored: [CInt] { (isChildIgnored ? [SIGCHLD] : []) + (isPipeIgnored ? [SIGPIPE] : []) }

  /// Called before exec(2), so that the next program finds the signals as they were.
  static func giveBack() {
    signal(SIGCHLD, isChildIgnored ? SIG_IGN : SIG_DFL)
    signal(SIGPIPE, isPipeIgnored ? SIG_IGN : SIG_DFL)
  }

  private static func isIgnored(_ handler: sighandler_t?) -> Bool { unsafeBitCast(handler, to: Int.self) == 1 }
}
