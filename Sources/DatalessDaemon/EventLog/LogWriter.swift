import DatalessCore
import SystemPackage

/// The writer's thread of an `EventLog`: takes records from the ring, encodes them, appends them to the file.
struct LogWriter: Sendable {
  // LIMIT: records taken per turn; a turn is one write(2), and what recorders wait for at most is the moving of 512
  // slots.
  private static let batch = 512
  // LIMIT: a reply never waits for the arguments of a process; its line does, for this long.
  private static let argumentPatience = Nanoseconds.milliseconds(50)
  // For a while after a write the writer looks again by itself: to wake it costs a recorder ten times the recording.
  private static let linger = Nanoseconds.milliseconds(50)
  private static let lingerInterval = Nanoseconds.milliseconds(2)
  private static let retryInterval = Nanoseconds.milliseconds(500)

  private let monitor: Monitor<LogState>
  private let followers: LogFollowers
  private var output: LogOutput
  private var encoder: LogEncoder
  // The records in the encoder's buffer: where each ends, its number, and how many lost ones it stands for.
  private var lines: [(end: Int, number: UInt64, lost: UInt64)] = []
  private var lastWrite = MonotonicTime(nanoseconds: .min)

  init(monitor: Monitor<LogState>, followers: LogFollowers, output: LogOutput, encoder: LogEncoder) {
    self.monitor = monitor
    self.followers = followers
    self.output = output
    self.encoder = encoder
  }

  /// Runs until the log is closed.
  ///
  /// - Returns: whether all that was recorded is in the file or said to be lost there.
  mutating func run() -> Bool {
    var batch: [LogRing.Entry] = []
    batch.reserveCapacity(Self.batch)
    var isComplete = true
    while take(&batch) {
      for entry in batch {
        if case .process(let process) = entry.record, process.arguments == .pending {
          // What comes before must not wait with it.
          isComplete = writeOut() && isComplete
          waitForArguments(of: process, since: entry.time)
        }
        encoder.append(entry)
        var lost: UInt64 = 0
        if case .dropped(let count) = entry.record { lost = count }
        lines.append((encoder.json.count, entry.number, lost))
      }
      batch.removeAll(keepingCapacity: true)
      isComplete = writeOut() && isComplete
    }
    followers.finish()
    output.close()
    let flushes = monitor.withLock { $0.takeFlushes(all: true) }
    for (flush, completion) in flushes { completion(flush) }
    return isComplete
  }

  private func take(_ batch: inout [LogRing.Entry]) -> Bool {
    monitor.wait { state in
      state.writerSleeps = false
      // Not for every few records by itself: a write costs as much as recording fifty.
      let soonest = lastWrite.nanoseconds == .min ? lastWrite : lastWrite + Self.lingerInterval
      if state.ring.count < Self.batch, !state.isClosing, state.flushes.isEmpty, MonotonicTime.current < soonest {
        return .wait(until: soonest)
      }
      state.ring.pop(into: &batch, limit: Self.batch)
      state.inHand = batch.count
      if !batch.isEmpty { return .done(true) }
      if state.isClosing { return .done(false) }
      let now = MonotonicTime.current
      if now < lastWrite + Self.linger { return .wait(until: now + Self.lingerInterval) }
      state.writerSleeps = true
      return .wait(until: nil)
    }
  }

  private func waitForArguments(of process: ProcessRecord, since time: MonotonicTime) {
    let deadline = time + Self.argumentPatience
    monitor.wait { _ -> Monitor<LogState>.Step<Void> in
      if process.arguments != .pending || MonotonicTime.current >= deadline { return .done(()) }
      return .wait(until: deadline)
    }
  }

  /// Writes the lines in the buffer; while the disk fails, tries again and again. Returns false when it had to give up,
  /// because the log is being closed.
  private mutating func writeOut() -> Bool {
    while !lines.isEmpty {
      let result = output.write(encoder.json.bytes)
      finishWrite(result)
      guard result.failure != nil else { break }
      if waitForRetry() { continue }
      encoder.json.removeAll()
      lines.removeAll(keepingCapacity: true)
      return false
    }
    return true
  }

  /// Accounts for the records that a write brought into the file, and hands the lines that are in the file to
  /// followers.
  private mutating func finishWrite(_ result: LogOutput.Result) {
    let whole = lines.firstIndex { $0.end > result.consumed } ?? lines.count
    if whole > 0, !followers.isEmpty {
      let bytes = encoder.json.bytes
      var start = 0
      followers.send(
        lines[..<whole].map { line in
          defer { start = line.end }
          return bytes[max(start, 0)..<(line.end - 1)]
        })
    }
    let written = lines[..<whole]
    let flushes = monitor.withLock { state in
      state.failure = result.failure
      state.inHand -= whole
      if let last = written.last { state.writtenNumber = last.number }
      state.reportedLost += written.reduce(0) { $0 + $1.lost }
      return state.takeFlushes(all: result.failure != nil)
    }
    for (flush, completion) in flushes { completion(flush) }
    lastWrite = .current
    if result.failure == nil {
      encoder.json.removeAll()
      lines.removeAll(keepingCapacity: true)
    } else {
      encoder.json.removeFirst(result.consumed)
      lines.removeFirst(whole)
      for index in lines.indices { lines[index].end -= result.consumed }
    }
  }

  /// Waits until it is worth trying again: after a while, for a flush, or once more before the end.
  ///
  /// - Returns: false when the log is being closed and the last try has failed.
  private func waitForRetry() -> Bool {
    let deadline = MonotonicTime.current + Self.retryInterval
    return monitor.wait { state in
      if state.isClosing { return .done(false) }
      if !state.flushes.isEmpty || MonotonicTime.current >= deadline { return .done(true) }
      return .wait(until: deadline)
    }
  }
}
