/// A process whose first thread has ended lives on in its others. /proc/PID shows that thread all the same: a zombie
/// without `exe`, `cmdline`, `cwd`, `root` and descriptors. /proc/TID of any other thread has them.
///
/// Nothing here waits, or takes a lock of the process: it may be used on a request thread.
enum LivingThread {
  /// LIMIT: threads of one process that are looked at.
  private static let threadsMax = 4_096

  /// The thread by which /proc tells of a process: its first one, or another one that goes on where that has ended.
  ///
  /// - Returns: `pid` where none goes on, or /proc does not show it.
  static func of(_ pid: Int32) -> Int32 {
    guard ProcessStat.read(pid)?.isExiting ?? false else { return pid }
    return besideFirst(of: pid) ?? pid
  }

  /// A thread of a process that goes on, other than its first one; nil where there is none.
  static func besideFirst(of pid: Int32) -> Int32? {
    ProcReader.threads(pid, limit: threadsMax).first { $0 != pid && !(ProcessStat.read($0)?.isExiting ?? true) }
  }
}

extension ProcessStat {
  private static let bytesMax = 1024

  /// Of a thread, or the first one of a process; nil where /proc does not show it. Safe on a request thread.
  static func read(_ thread: Int32) -> ProcessStat? {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: bytesMax) { buffer in
      let count = ProcReader.readStat(thread, into: buffer)
      guard count > 0 else { return nil }
      return ProcessStat(UnsafeBufferPointer(rebasing: buffer[..<count]))
    }
  }
}
