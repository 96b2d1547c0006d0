import Glibc

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
