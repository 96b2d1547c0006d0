public import DatalessControl
import DatalessCore

/// The report as JSON: verdict, summary with files, stacks and the longest waits. `docs/schemas/report.schema.json`.
enum JSONReportWriter {
  static let stacksMax = 10_000

  static func write(_ report: Report, to file: ReportFile) throws(ControlError) {
    try file.write(try WireCoding.encode(ReportDocument(report)) + [UInt8(ascii: "\n")])
    try file.commit()
  }
}

/// What `--report json` writes.
public struct ReportDocument: Encodable, Sendable {
  /// Grows only when the meaning of a key changes.
  public var format: Int64 = 1
  /// Of dataless.
  public var version: String
  public var verdict: ReportVerdict
  public var summary: SummaryReport
  /// Blocked time by program, stack and operation, the longest first.
  public var stacks: [ReportDocument.Stack]
  public var stacksOmitted: Int64
  public var longestWaits: [ReportDocument.Wait]
  /// A command line that does the same again, as far as it is known.
  public var again: String

  enum CodingKeys: String, CodingKey {
    case format, version, verdict, summary, stacks, again
    case stacksOmitted = "stacks_omitted"
    case longestWaits = "longest_waits"
  }

  /// Callers of one program that waited for the same operation at the same place of it.
  public struct Stack: Encodable, Sendable {
    var program: String
    var trigger: String
    var waits: Int64
    var blockedNanoseconds: Int64
    var mainThreadBlockedNanoseconds: Int64
    var longestNanoseconds: Int64
    /// Of the longest wait.
    var path: String?
    var pathBase64: String?
    /// Innermost first; empty when there is no stack.
    var frames: [ReportFrame]
    /// Whether the outermost frame is one in which threads begin; absent without a stack.
    var isComplete: Bool?
    /// Why there is no stack, where the log says so.
    var unavailable: String?
    /// The language of a program of whose version no functions can be read: `frames` are its interpreter's.
    var unreadable: String?

    enum CodingKeys: String, CodingKey {
      case program, trigger, waits, path, frames, unavailable, unreadable
      case blockedNanoseconds = "blocked_ns"
      case mainThreadBlockedNanoseconds = "main_thread_blocked_ns"
      case longestNanoseconds = "longest_ns"
      case pathBase64 = "path_b64"
      case isComplete = "complete"
    }
  }

  public struct Wait: Encodable, Sendable {
    var program: String
    var pid: Int32?
    var tid: Int64?
    var isMainThread: Bool?
    var attempt: UInt64?
    var path: String?
    var pathBase64: String?
    var trigger: String
    /// Since the session's first record.
    var startNanoseconds: Int64
    var blockedNanoseconds: Int64
    /// Absent while it is under way.
    var outcome: String?
    /// Innermost first; empty when there is no stack.
    var frames: [ReportFrame]

    enum CodingKeys: String, CodingKey {
      case program, pid, tid, attempt, path, trigger, outcome, frames
      case isMainThread = "main_thread"
      case pathBase64 = "path_b64"
      case startNanoseconds = "start_ns"
      case blockedNanoseconds = "blocked_ns"
    }
  }
}

extension ReportDocument {
  init(_ report: Report) {
    version = report.context.version
    verdict = report.verdict
    summary = report.summary
    summary.files = report.files.summaries(by: .needless)
    again = report.commandLine
    let rows = report.blocked.sorted
    stacks = rows.prefix(JSONReportWriter.stacksMax).map { row in
      let path = row.path.map { WirePath.split($0) }
      var stack = Stack(
        program: row.program, trigger: row.trigger, waits: row.waits, blockedNanoseconds: row.blocked,
        mainThreadBlockedNanoseconds: row.mainThreadBlocked, longestNanoseconds: max(0, row.longest), path: path?.0,
        pathBase64: path?.1, frames: report.frames(row.stack))
      switch row.stack {
      case .known(let index): stack.isComplete = report.stackTable[index].isComplete
      case .missing(let why): stack.unavailable = why
      case .none: break
      }
      stack.unreadable = report.unreadable(row.stack)
      return stack
    }
    stacksOmitted = Int64(rows.count - stacks.count)
    longestWaits = report.longest.map { entry in
      let path = entry.wait.path.map { WirePath.split($0) }
      return Wait(
        program: entry.program, pid: entry.pid, tid: entry.wait.threadID, isMainThread: entry.wait.isMainThread,
        attempt: entry.wait.number, path: path?.0, pathBase64: path?.1, trigger: entry.wait.trigger,
        startNanoseconds: entry.wait.start.minus(report.origin), blockedNanoseconds: entry.wait.blocked,
        outcome: entry.wait.isUnderWay ? nil : entry.wait.outcome, frames: report.frames(entry.wait.stack))
    }
  }
}
