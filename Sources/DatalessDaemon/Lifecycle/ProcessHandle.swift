import CDatalessLinux
import DatalessControl
import Glibc
import SystemPackage

/// One process, whatever becomes of its id: a pidfd.
public final class ProcessHandle: Sendable {
  /// The id (a pid_t) that it has, or had, here. For messages and /proc; never for a signal.
  public let pid: Int32
  /// Readable when the process has ended.
  let descriptor: CInt

  /// - Returns: nil when there is no such process, or the kernel (before 5.3) or a sandbox does not give it.
  init?(pid: Int32) {
    guard pid > 0, let descriptor = LinuxProcess.openProcess(pid) else { return nil }
    self.pid = pid
    self.descriptor = descriptor
  }

  /// - Throws: ESRCH (no such process), EINVAL (a thread), ENOSYS (before Linux 5.3), EPERM (a sandbox), EMFILE.
  init(opening pid: Int32) throws(Errno) {
    guard pid > 0 else { throw .noSuchProcess }
    let result = clinux_pidfd_open(pid)
    guard result >= 0 else { throw Errno(rawValue: CInt(truncatingIfNeeded: -result)) }
    self.pid = pid
    descriptor = CInt(result)
  }

  deinit { close(descriptor) }

  /// Whether it has ended; a zombie has.
  var hasEnded: Bool { waitForEnd(until: Deadline(milliseconds: 0)) }

  /// - Returns: False when the time is up before it ends.
  func waitForEnd(until deadline: Deadline) -> Bool {
    !DescriptorIO.waitReadable([descriptor], until: deadline).isEmpty
  }

  /// - Returns: 0 or the errno: ESRCH when it has ended, EPERM, or EINVAL for one in a pid namespace beside this one.
  func signal(_ number: CInt) -> CInt { -CInt(truncatingIfNeeded: clinux_send_signal(descriptor, number)) }

  /// The user ids (real, effective, saved, of the file system) it runs with; nil when it has ended or cannot be looked
  /// at.
  var userIDs: [UInt32]? {
    guard let bytes = file("status") else { return nil }
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: "Uid:".utf8) {
      let fields = line.dropFirst(4).split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
      return fields.compactMap { UInt32(String(decoding: $0, as: UTF8.self)) }
    }
    return nil
  }

  /// Processor time of all threads so far, in clock ticks (10 ms); 0 when it has ended.
  var processorTicks: UInt64 {
    guard let bytes = file("stat"), let name = bytes.lastIndex(of: UInt8(ascii: ")")) else { return 0 }
    // After the name: state is field 3, utime and stime are 14 and 15.
    let fields = bytes[(name + 1)...].split(separator: UInt8(ascii: " "))
    guard fields.count > 12 else { return 0 }
    return fields[11...12].reduce(0) { $0 + (UInt64(String(decoding: $1, as: UTF8.self)) ?? 0) }
  }

  /// Reads a file of /proc/PID. That the process lives afterwards proves that it was its own.
  private func file(_ name: String) -> [UInt8]? {
    guard let bytes = try? FileBytes.read("/proc/\(pid)/\(name)"), !hasEnded else { return nil }
    return bytes
  }
}

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
