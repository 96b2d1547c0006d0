import DatalessCore
import SystemPackage

/// The event log of one session: takes records from any thread, and writes them as lines of JSON on a thread of its
/// own.
///
/// Recording never blocks: it stores a reference in a bounded ring. When the ring is full, because the disk is slow or
/// fails, records are lost, counted, and said to be lost by a `log.dropped` record in their place. The order of the
/// lines, their numbers, and the order of recording are one and the same.
final class EventLog: EventSink, ProcessSink {
  private let monitor: Monitor<LogState>
  private let followers = LogFollowers()
  private let end = Monitor<Bool?>(nil)

  /// Starts the writer.
  ///
  /// - Parameters:
  ///   - descriptor: an open file, from `LogFiles.open`; the log closes it.
  ///   - session: 12 lowercase hexadecimal digits.
  ///   - capacity: records that may wait for the disk, 65,536 by default.
  init(descriptor: Int32, session: String, capacity: Int = 65_536, clock: SessionClock = SessionClock()) {
    monitor = Monitor(LogState(ring: LogRing(capacity: capacity)))
    let writer = LogWriter(
      monitor: monitor, followers: followers, output: LogOutput(descriptor: descriptor),
      encoder: LogEncoder(session: session, clock: clock))
    LaneThread.startOrTrap(name: "dl-log") { [end] in
      var writer = writer
      let isComplete = writer.run()
      end.withLock { $0 = isComplete }
      end.broadcast()
    }
  }

  /// `LogFiles.open`.
  static func open(path: [UInt8]) throws(Errno) -> Int32 { try LogFiles.open(path) }

  func record(_ event: Event) { push(.event(event), time: event.time) }

  func processSeen(_ process: ProcessRecord) { push(.process(process), time: process.seen) }

  func argumentsResolved(of process: ProcessRecord) {
    // The empty lock: the writer looks at the arguments and falls asleep under it, so it cannot do so in between.
    monitor.withLock { _ in }
    monitor.broadcast()
  }

  func recordMounted(_ volume: VolumeMounted) { push(.mounted(volume), time: .current) }

  /// The last record: what comes after it, from a lane that has not noticed the end yet, is lost.
  ///
  /// - Parameter reason: why the volume ended, in a word or a short sentence.
  func recordUnmounted(reason: String, counters: VolumeCounters) {
    push(.unmounted(reason: reason, counters: counters, dropped: status.dropped), time: .current, isLast: true)
  }

  func recordCounters(_ counters: VolumeCounters) {
    push(.counters(counters, dropped: status.dropped), time: .current)
  }

  /// Writes a tester's mark.
  ///
  /// - Returns: the number of its record; nil when it was lost.
  @discardableResult
  func mark(label: String, counters: VolumeCounters) -> UInt64? {
    push(.mark(label: label, counters: counters), time: .current)
  }

  /// - Returns: As `mark`.
  func recordReset(_ reset: VolumeReset) -> UInt64? { push(.reset(reset), time: .current) }

  func recordConfigurationChanged(_ change: ConfigurationChange) {
    push(.configurationChanged(change), time: .current)
  }

  func recordStack(_ stack: WaitStack) { push(.waitStack(stack), time: .current) }

  func recordWatchdog(_ record: WatchdogRecord) { push(.watchdog(record), time: .current) }

  /// - Parameter isWithheld: Whether there is more of the command than is to be recorded.
  func recordRunStarted(command: [[UInt8]], isWithheld: Bool, pid: Int32) {
    push(.runStarted(command: command, isWithheld: isWithheld, pid: pid), time: .current)
  }

  /// - Returns: the number of the record; nil when it was lost.
  @discardableResult
  func recordRunFinished(
    _ end: RunEnd, budgets: LogValue, rules: LogValue, children: LogValue?
  ) -> UInt64? {
    push(.runFinished(end, budgets: budgets, rules: rules, children: children), time: .current)
  }

  var status: LogStatus {
    monitor.withLock { state in
      LogStatus(
        dropped: state.ring.dropped + state.late, waiting: state.ring.count + state.inHand, failure: state.failure)
    }
  }

  /// Calls `completion`, on the writer's thread or at once on this one, when all that was recorded before is in the
  /// file, or when the disk has just refused it. On a disk that hangs it is called when the disk answers.
  func flush(_ completion: @escaping @Sendable (LogFlush) -> Void) {
    let now = monitor.withLock { state -> LogFlush? in
      let target = state.ring.lastNumber
      if state.isClosing || target <= state.writtenNumber {
        let missing = target - min(state.writtenNumber, target)
        return LogFlush(lost: state.reportedLost + state.late + missing)
      }
      state.flushes.append(LogState.PendingFlush(target: target, completion: completion))
      return nil
    }
    if let now { completion(now) } else { monitor.broadcast() }
  }

  /// As `flush(_:)`.
  func flush() async -> LogFlush {
    await withCheckedContinuation { continuation in flush { continuation.resume(returning: $0) } }
  }

  /// The lines from now on, without their newlines, as they are written. Ends with the log. A follower that does not
  /// keep up loses the oldest lines; the gap shows in `seq`.
  ///
  /// - Parameter limit: lines kept for this follower, 4,096 by default.
  func subscribe(limit: Int = 4096) -> AsyncStream<[UInt8]> { followers.add(limit: limit) }

  /// Writes what waits, ends the followers' streams, and closes the file. Blocks the calling thread. What is recorded
  /// after the call, or still waits when the disk fails, is lost.
  ///
  /// - Parameter timeout: how long to wait at most; the writer goes on by itself if it is not done by then.
  /// - Returns: whether everything has been written in time.
  @discardableResult
  func close(timeout: Nanoseconds) -> Bool {
    monitor.withLock { $0.isClosing = true }
    monitor.broadcast()
    let deadline = MonotonicTime.current + timeout
    return end.wait { isComplete in
      if let isComplete { return .done(isComplete) }
      return MonotonicTime.current >= deadline ? .done(false) : .wait(until: deadline)
    }
  }

  @discardableResult
  private func push(_ record: LogRecord, time: MonotonicTime, isLast: Bool = false) -> UInt64? {
    let (number, wakes) = monitor.withLock { state -> (UInt64?, Bool) in
      if state.isClosing || state.hasLast {
        state.late += 1
        return (nil, false)
      }
      state.hasLast = isLast
      let number = state.ring.push(record, time: time)
      let wakes = state.writerSleeps
      state.writerSleeps = false
      return (number, wakes)
    }
    if wakes { monitor.broadcast() }
    return number
  }
}
