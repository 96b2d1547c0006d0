import Glibc

extension SummaryReport {
  /// Reads a log file from its beginning to its end.
  ///
  /// - Parameters:
  ///   - session: Whose records count. Default: those of the session that was mounted last.
  ///   - isMounted: Whether the volume still writes the log, so that it may well have no end. Default: no.
  ///   - owner: As in `LogFile.init`. Default: nil.
  ///   - lost: Records that the daemon says are not in the file. Default: only what the file itself tells of losses.
  ///   - files: In which order to report on every file. Default: not at all.
  /// - Throws: `ControlError.system` when the file cannot be read; `.malformed` when it holds no record.
  public static func load(
    log: [UInt8], owner: UInt32? = nil, session: String? = nil, isMounted: Bool = false, lost: Int64 = 0,
    files: FileSummary.Order? = nil
  ) throws(ControlError) -> SummaryReport {
    // Waits that have not ended count up to here; the daemon's clock is this machine's.
    let now = isMounted ? MonotonicClock.nanoseconds : nil
    let file = try LogFile(path: log, owner: owner)
    var builder = SummaryBuilder(session: session, files: files)
    var malformed = 0
    func add(_ record: LogRecord?) {
      builder.addMalformed(lines: file.malformedLines - malformed)
      malformed = file.malformedLines
      if let record { builder.add(record) }
    }
    while let record = try file.next() { add(record) }
    add(file.tornLine())
    guard builder.recordCount > 0 else { throw .noRecord(log) }
    return builder.finish(log: log, malformedLines: 0, isMounted: isMounted, lost: lost, now: now)
  }
}

/// CLOCK_MONOTONIC, as the log's `monotonic_ns`.
enum MonotonicClock {
  static var nanoseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
