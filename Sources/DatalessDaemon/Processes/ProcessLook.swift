/// One look at a process: what can change without a new process id, and what tells processes apart.
struct ProcessLook {
  var pid: Int32
  var parent: Int32
  var startTicks: UInt64
  var comm: [UInt8]
  var executable: ProcessExecutable
}

extension ProcessLook {
  /// Reads /proc/PID/stat and exe; safe on a request thread. nil when there is no such process (or thread).
  init?(_ pid: Int32) {
    self.pid = pid
    let read = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { buffer -> (ProcessStat, [UInt8])? in
      let count = ProcReader.readStat(pid, into: buffer)
      let text = UnsafeBufferPointer(rebasing: buffer[..<max(count, 0)])
      return ProcessStat(text).map { ($0, Array(text[$0.comm])) }
    }
    guard let (stat, comm) = read else { return nil }
    parent = stat.parent
    startTicks = stat.startTicks
    self.comm = comm
    executable = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { buffer in
      let count = ProcReader.readExecutable(pid, into: buffer)
      return ProcessExecutable(count: count, buffer: buffer, isKernelThread: stat.isKernelThread)
    }
  }
}
