public import DatalessControl
import Glibc

/// Makes all reports that are asked for, in one reading of the log.
public enum ReportExporter {
  /// - Parameters:
  ///   - log: A regular file.
  ///   - owner: As in `LogFile.init`.
  ///   - session: nil for the one that was mounted last.
  ///   - isMounted: Whether the volume still writes the log: then waits that have not ended count up to now.
  ///   - lost: Records that the daemon says are not in the file.
  ///   - context: Asked for once, when the log has been read.
  ///   - frame: Nanoseconds that a main thread may wait without a hitch. Default: a frame at 60 Hz.
  ///   - other: Who reads along.
  /// - Returns: What they are made of.
  /// - Throws: `ControlError.system` when the log cannot be read, or a report not written; `.malformed` when the log
  ///   holds no record, `.otherVersion` when those that it holds are of another version of the format.
  @discardableResult
  public static func export(
    _ requests: [ReportRequest], log: [UInt8], owner: UInt32? = nil, session: String? = nil, isMounted: Bool = false,
    lost: Int64 = 0, context: @autoclosure () -> ReportContext, frame: Int64 = SummaryReport.Hitches.defaultFrame,
    other: LogReader? = nil
  ) throws(ControlError) -> Report {
    var now: Int64?
    if isMounted {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      now = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    // A trace is written while the log is read, so it has to be known before whose records count.
    let isSessionGiven = session != nil
    var session = session
    var earlierSessions: Int64 = 0
    if session == nil, let last = try LogFile.lastSession(of: log, owner: owner) {
      (session, earlierSessions) = (last.name, last.earlierSessions)
    }
    var traces: [ReportRequest] = []
    var others: [ReportRequest] = []
    for request in requests { if request.kind == .trace { traces.append(request) } else { others.append(request) } }
    var report = try read(
      log: log, owner: owner, session: session, isSessionGiven: isSessionGiven,
      trace: traces.first.map { $0.path }, context: context,
      isMounted: isMounted, lost: lost, now: now, frame: frame, other: other)
    // Those of a session that is given are not counted.
    if !isSessionGiven { report.summary.completeness.earlierSessions = earlierSessions }
    for request in others { try write(report, request) }
    for request in traces.dropFirst() {
      _ = try read(
        log: log, owner: owner, session: session, isSessionGiven: isSessionGiven, trace: request.path,
        context: { report.context },
        isMounted: isMounted, lost: lost, now: now, frame: frame, other: nil)
    }
    return report
  }

  private static func read(
    log: [UInt8], owner: UInt32?, session: String?, isSessionGiven: Bool, trace: [UInt8]?,
    context: () -> ReportContext, isMounted: Bool,
    lost: Int64, now: Int64?, frame: Int64, other: LogReader?
  ) throws(ControlError) -> Report {
    let file = try LogFile(path: log, owner: owner)
    var writer: TraceWriter?
    if let trace { writer = try TraceWriter(ReportFile(path: trace)) }
    var builder = ReportBuilder(session: session, isSessionGiven: isSessionGiven, frame: frame, trace: writer)
    while true {
      var record = try file.next()
      if record == nil { record = file.tornLine() }
      let unread = file.takeUnread()
      builder.addUnread(unread)
      other?(record, unread)
      guard let record else { break }
      try builder.add(record)
    }
    guard builder.recordCount > 0 else { throw .noRecord(log, file.unread) }
    return try builder.finish(log: log, context: context(), isMounted: isMounted, lost: lost, now: now)
  }

  private static func write(_ report: Report, _ request: ReportRequest) throws(ControlError) {
    let file = try ReportFile(path: request.path)
    switch request.kind {
    case .junit: try JUnitWriter.write(report, to: file)
    case .html: try HTMLWriter.write(report, to: file)
    case .markdown: try MarkdownWriter.write(report, to: file)
    case .json: try JSONReportWriter.write(report, to: file)
    case .collapsed: try CollapsedWriter.write(report, to: file)
    case .trace: break
    }
  }
}
