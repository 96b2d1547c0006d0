import Glibc

/// What whoever started this process did to its signals, and we undo for ourselves but not for what we start.
enum InheritedSignals {
  private static let isChildIgnored = isIgnored(signal(SIGCHLD, SIG_DFL))
  private static let isPipeIgnored = isIgnored(signal(SIGPIPE, SIG_IGN))

  /// Called first of all: with SIGCHLD ignored the kernel keeps no child's status, and waitpid(2) has none to give.
  /// SIGPIPE is ignored: what is written to nobody is an error, and no death.
  static func takeOver() { _ = (isChildIgnored, isPipeIgnored) }

  /// Those that a command of ours has to find ignored.
  static var ignored: [CInt] { (isChildIgnored ? [SIGCHLD] : []) + (isPipeIgnored ? [SIGPIPE] : []) }

  /// For exec(2): what becomes of this process finds the signals as they were.
  static func giveBack() {
    signal(SIGCHLD, isChildIgnored ? SIG_IGN : SIG_DFL)
    signal(SIGPIPE, isPipeIgnored ? SIG_IGN : SIG_DFL)
  }

  private static func isIgnored(_ handler: sighandler_t?) -> Bool { unsafeBitCast(handler, to: Int.self) == 1 }
}
