/// What /proc says of the threads of a process that coordinates. Nothing here waits.
enum ProcessThreads {
  /// LIMIT: threads of one process that are looked at, where the main thread says nothing.
  private static let threadsMax = 4_096
  private static let statMax = 1024

  /// The main thread of a process that is stopped, by a signal or a debugger; another one if that has ended.
  ///
  /// - Returns: nil if it is not stopped.
  static func stoppedThread(of pid: Int32) -> Int32? {
    guard let main = stat(of: pid) else { return nil }
    if main.isStopped { return pid }
    guard main.isExiting else { return nil }
    // The main thread has ended, and stays as a zombie until the others have.
    var stopped: Int32?
    for thread in ProcReader.threads(pid, limit: threadsMax) where thread != pid {
      guard let state = stat(of: thread), !state.isExiting else { continue }
      // One that waits for a disk stops when it has come back from there.
      guard state.isStopped || state.isUninterruptible else { return nil }
      if stopped == nil, state.isStopped { stopped = thread }
    }
    return stopped
  }

  /// Whether a process is on its way out: that can be seen before its descriptors are closed. Not if only its main
  /// thread has ended, nor where /proc does not show it.
  static func areEnding(of pid: Int32) -> Bool {
    guard stat(of: pid)?.isExiting ?? false else { return false }
    return ProcReader.threads(pid, limit: threadsMax).allSatisfy { stat(of: $0)?.isExiting ?? true }
  }

  private static func stat(of thread: Int32) -> ProcessStat? {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: statMax) { buffer in
      let count = ProcReader.readStat(thread, into: buffer)
      guard count > 0 else { return nil }
      return ProcessStat(UnsafeBufferPointer(rebasing: buffer[..<count]))
    }
  }
}
