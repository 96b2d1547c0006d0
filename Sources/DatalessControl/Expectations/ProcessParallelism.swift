/// How many attempts each process had in flight at the same time.
///
/// An attempt is in flight for a process from the moment at which the process started or joined it until the attempt
/// ended, whether it still waits or not. The mean is over the time in which the process had any.
struct ProcessParallelism: Sendable {
  struct Process: Sendable {
    /// Attempts that it started or joined.
    fileprivate(set) var attempts: Int64 = 0
    fileprivate(set) var inFlight: Int64 = 0
    fileprivate(set) var peak: Int64 = 0
    /// Nanoseconds with any in flight; and each of these times their number.
    fileprivate var busy: Int64 = 0
    fileprivate var sum: Double = 0
    fileprivate var since: Int64 = 0

    fileprivate mutating func pass(to time: Int64) {
      let passed = max(0, time.minus(since))
      if inFlight > 0 {
        busy = busy.plus(passed)
        sum += Double(passed) * Double(inFlight)
      }
      since = max(since, time)
    }

    /// The mean in hundredths; the peak where no time passed that the log could tell.
    var meanHundredths: Int64 {
      guard busy > 0 else { return peak.multipliedReportingOverflow(by: 100).partialValue }
      return Int64(exactly: (sum * 100 / Double(busy)).rounded()) ?? .max
    }
  }

  private(set) var processes: [UInt32: Process] = [:]
  /// Who has each attempt that is under way.
  private var holders: [UInt64: Set<UInt32>] = [:]

  /// A process starts or joins an attempt. - Returns: How many it has in flight with this one; nil if it had it
  /// already.
  mutating func begin(_ attempt: UInt64, by id: UInt32, at time: Int64) -> Int64? {
    guard holders[attempt, default: []].insert(id).inserted else { return nil }
    var process = processes[id] ?? Process(since: time)
    process.pass(to: time)
    process.attempts += 1
    process.inFlight += 1
    process.peak = max(process.peak, process.inFlight)
    processes[id] = process
    return process.inFlight
  }

  mutating func end(_ attempt: UInt64, at time: Int64) {
    for id in holders.removeValue(forKey: attempt) ?? [] {
      processes[id]?.pass(to: time)
      processes[id]?.inFlight -= 1
    }
  }
}
