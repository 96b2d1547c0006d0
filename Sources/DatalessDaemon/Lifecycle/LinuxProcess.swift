import CDatalessLinux
import Glibc

/// Process calls that Swift's Glibc module does not show.
enum LinuxProcess {
  private typealias ProcessControl = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt
  private typealias PidfdOpen = @convention(c) (pid_t, CUnsignedInt) -> CInt

  /// Makes this process the parent of every descendant whose own parent ends, so that descendants stay descendants.
  ///
  /// - Returns: False when the kernel refused. The C counterpart is `prctl(PR_SET_CHILD_SUBREAPER, 1)`.
  static func becomeSubreaper() -> Bool {
    let subreaper: CInt = 36
    // SAFETY: prctl is variadic in C only; on x86-64 and arm64 Linux its integer arguments are passed like these.
    guard let symbol = dlsym(nil, "prctl") else { return false }
    return unsafeBitCast(symbol, to: ProcessControl.self)(subreaper, 1, 0, 0, 0) == 0
  }

  /// A close-on-exec descriptor that becomes readable when the process ends; nil when it is gone or the call is
  /// missing.
  ///
  /// The C counterpart is `pidfd_open` (glibc 2.36).
  static func openProcess(_ pid: pid_t) -> CInt? {
    guard let symbol = dlsym(nil, "pidfd_open") else { return nil }
    // SAFETY: the type is that of sys/pidfd.h.
    let descriptor = unsafeBitCast(symbol, to: PidfdOpen.self)(pid, 0)
    return descriptor >= 0 ? descriptor : nil
  }

  /// Sends a signal to the process of a descriptor from `openProcess`, and to no other that has its pid by now.
  ///
  /// - Returns: False when it has ended, or belongs to somebody else.
  @discardableResult
  static func send(_ signal: CInt, to process: CInt) -> Bool { clinux_send_signal(process, signal) == 0 }
}
