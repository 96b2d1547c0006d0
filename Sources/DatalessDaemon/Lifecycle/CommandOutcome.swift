import Glibc

/// How a child process ended.
public enum CommandOutcome: Sendable, Equatable {
  /// By itself, with a status of 0...255.
  case exited(Int32)
  /// By a signal, given by its number.
  case signalled(Int32)

  /// - Parameter waitStatus: As waitpid(2) gives it, without WUNTRACED.
  public init(waitStatus: Int32) {
    let signal = waitStatus & 0x7f
    self = signal == 0 ? .exited((waitStatus >> 8) & 0xff) : .signalled(signal)
  }

  /// Waits for the end of a child; nil when the kernel has no status of it for us (ECHILD), which is not a status of 0.
  init?(waitingFor pid: Int32) {
    var status: Int32 = 0
    while true {
      let result = waitpid(pid, &status, 0)
      if result == pid { break }
      guard result < 0, errno == EINTR else { return nil }
    }
    self.init(waitStatus: status)
  }

  static let lostWords = "its status is lost"

  /// As a shell reports it: the status, or 128 plus the signal's number.
  public var exitStatus: Int32 {
    switch self {
    case .exited(let status): status
    case .signalled(let signal): 128 + signal
    }
  }

  /// For a message: `exit status 3`, `killed by SIGSEGV`.
  public var words: String {
    switch self {
    case .exited(let status): "exit status \(status)"
    case .signalled(let signal): "killed by \(SignalName.of(signal))"
    }
  }
}
