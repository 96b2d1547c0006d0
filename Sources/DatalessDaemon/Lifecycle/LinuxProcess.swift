import CDatalessLinux
import Glibc

/// Process calls that Swift's Glibc module does not show.
enum LinuxProcess {
  private typealias ProcessControl = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt

  /// Makes this process the parent of every descendant whose own parent ends, so that descendants stay descendants.
  ///
  /// - Returns: False when the kernel refused. The C counterpart is `prctl(PR_SET_CHILD_SUBREAPER, 1)`.
  static func becomeSubreaper() -> Bool {
    let subreaper: CInt = 36
    // SAFETY: prctl is variadic in C only; on x86-64 and arm64 Linux its integer arguments are passed like these.
    guard let symbol = dlsym(nil, "prctl") else { return false }
    return unsafeBitCast(symbol, to: ProcessControl.self)(subreaper, 1, 0, 0, 0) == 0
  }

  /// A close-on-exec descriptor that becomes readable when the process ends; nil when it is gone or the kernel (before
  /// 5.3) or a sandbox does not give it.
  ///
  /// The C counterpart is `pidfd_open`.
  static func openProcess(_ pid: pid_t) -> CInt? {
    let descriptor = clinux_pidfd_open(pid)
    return descriptor >= 0 ? CInt(descriptor) : nil
  }

  /// Sends a signal to the process of a descriptor from `openProcess`, and to no other that has its pid by now.
  ///
  /// - Returns: 0, or the errno: ESRCH when it has ended, EPERM when it belongs to somebody else.
  @discardableResult
  static func send(_ signal: CInt, to process: CInt) -> CInt {
    -CInt(truncatingIfNeeded: clinux_send_signal(process, signal))
  }
}
