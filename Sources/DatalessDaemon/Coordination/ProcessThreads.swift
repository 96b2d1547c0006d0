/// What /proc says of the threads of a process that coordinates. Nothing here waits.
enum ProcessThreads {
  /// LIMIT: threads of one process that are looked at, where the main thread says nothing.
  private static let threadsMax = 4_096
  private static let statMax = 1024

  /// Whether a process is on its way out: that can be seen before its descriptors are closed. Not if only its main
  /// thread has ended, nor where /proc does not show it.
  static func areEnding(of pid: Int32) -> Bool {
    guard stat(of: pid)?.isExiting ?? false else { return false }
    return ProcReader.threads(pid, limit: threadsMax).allSatisfy { stat(of: $0)?.isExiting ?? true }
  }

  /// Whether a process is stopped, by a signal or a debugger.
  static func isStopped(_ pid: Int32) -> Bool { stat(of: pid)?.isStopped ?? false }

  private static func stat(of thread: Int32) -> ProcessStat? {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: statMax) { buffer in
      let count = ProcReader.readStat(thread, into: buffer)
      guard count > 0 else { return nil }
      return ProcessStat(UnsafeBufferPointer(rebasing: buffer[..<count]))
    }
  }
}
