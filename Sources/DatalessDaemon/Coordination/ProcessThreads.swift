/// What /proc says of the threads of a process that coordinates. Nothing here waits.
enum ProcessThreads {
  /// That a process is stopped, and what is another one if it has gone on meanwhile.
  struct Standstill: Equatable {
    /// One of its threads that are stopped.
    let thread: Int32
    /// How often that thread has given up a processor; nil where the kernel does not say.
    let switches: UInt64?
  }

  /// LIMIT: threads of one process that are looked at, where the main thread says nothing.
  private static let threadsMax = 4_096
  /// Groups of a process stand before what is looked for; of thousands of them it is not found.
  private static let statusMax = 16 << 10

  /// nil if it is not stopped.
  static func standstill(of pid: Int32) -> Standstill? {
    stoppedThread(of: pid).map { Standstill(thread: $0, switches: switches(of: $0)) }
  }

  /// The main thread of a process that is stopped, by a signal or a debugger; another one if that has ended.
  ///
  /// - Returns: nil if it is not stopped.
  static func stoppedThread(of pid: Int32) -> Int32? {
    guard let main = ProcessStat.read(pid) else { return nil }
    if main.isStopped { return pid }
    guard main.isExiting else { return nil }
    // The main thread has ended, and stays as a zombie until the others have.
    var stopped: Int32?
    for thread in ProcReader.threads(pid, limit: threadsMax) where thread != pid {
      guard let state = ProcessStat.read(thread), !state.isExiting else { continue }
      // One that waits for a disk stops when it has come back from there.
      guard state.isStopped || state.isUninterruptible else { return nil }
      if stopped == nil, state.isStopped { stopped = thread }
    }
    return stopped
  }

  /// Whether a process is on its way out: that can be seen before its descriptors are closed. Not if only its main
  /// thread has ended, nor where /proc does not show it.
  static func areEnding(of pid: Int32) -> Bool {
    guard ProcessStat.read(pid)?.isExiting ?? false else { return false }
    return ProcReader.threads(pid, limit: threadsMax).allSatisfy { ProcessStat.read($0)?.isExiting ?? true }
  }

  private static func switches(of thread: Int32) -> UInt64? {
    var failure: Int32 = 0
    return ProcReader.bytes(thread, "status", limit: statusMax, failure: &failure).flatMap { switches(in: $0) }
  }

  /// Those that the thread wanted, as when it waits for something, and those that it did not want.
  static func switches(in status: [UInt8]) -> UInt64? {
    var sum: UInt64?
    for line in status.split(separator: UInt8(ascii: "\n")) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
        line[..<colon].elementsEqual("voluntary_ctxt_switches".utf8)
          || line[..<colon].elementsEqual("nonvoluntary_ctxt_switches".utf8)
      else { continue }
      let digits = line[(colon + 1)...].drop { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
      guard let count = UInt64(String(decoding: digits, as: UTF8.self)) else { return nil }
      sum = (sum ?? 0) &+ count
    }
    return sum
  }
}
