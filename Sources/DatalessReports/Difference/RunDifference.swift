import DatalessControl

/// What two runs did differently, the second measured against the first.
public struct RunDifference: Encodable, Sendable {
  /// A number before and after.
  public struct Amount: Encodable, Sendable, Equatable {
    public var before: Int64
    public var after: Int64

    public var change: Int64 { after.minus(before) }
  }

  /// One run.
  public struct Side: Encodable, Sendable {
    public var log: String
    public var session: String
    public var source: String
    public var started: String?
    /// Whether the log tells all that could have been done; if not, what seems gone from it, or not yet in it, may only
    /// be missing.
    public var isComplete: Bool
    /// How the command of `dataless run` ended, escaped for a terminal; nil without a command.
    public var commandEnd: String?
    /// Why it does not: what is missing from it.
    var gaps: [String] = []

    enum CodingKeys: String, CodingKey {
      case log, session, source, started
      case isComplete = "complete"
      case commandEnd = "command_end"
    }
  }

  /// A program, a path, or a place in a program, with what it did before and after.
  public struct Row: Encodable, Sendable {
    public enum Change: String, Encodable, Sendable {
      /// Only in the second run, only in the first, in both with other numbers.
      case new, gone, changed
    }

    /// Escaped for a terminal.
    public var name: String
    public var change: Change
    public var files: Amount
    public var bytes: Amount
    public var waits: Amount
    public var blocked: Amount
    /// Of a stack: functions, innermost first, escaped for a terminal; absent for others.
    public var frames: [String]?
    /// Of a stack: true where the run with fewer waits on it had others of this program and operation of which its log
    /// has no stack: they may have been on it, too. Absent otherwise.
    public var isUnrecorded: Bool?
    /// Of a stack: which of them a line of text shows.
    var shown: Range<Int>?

    enum CodingKeys: String, CodingKey {
      case name, change, files, bytes, waits, frames
      case isUnrecorded = "unrecorded"
      case blocked = "blocked_ns"
    }
  }

  public var before: Side
  public var after: Side
  /// By name: `files`, `directories`, `bytes`, `waits`, `blocked_ns`, `longest_wait_ns`, `main_thread_blocked_ns`,
  /// `needless_files`, `failures`, `refusals`; where one of both coordinates, also `intents`, `intents_granted`,
  /// `intent_waits`, `intents_waited_ns`, `longest_intent_wait_ns`, `intent_waits_unknown`, `presenters_asked`,
  /// `presenters_timed_out`, `presenters_longest_ns`.
  public var totals: [String: Amount]
  /// Those that differ, greatest difference of blocked time first.
  public var programs: [Row]
  /// Files that differ in what was fetched of them. Of those that differ only in blocked time, the greatest 1,000.
  public var paths: [Row]
  public var stacks: [Row]
  /// Programs whose intents differ, greatest difference of what they waited for others first.
  public var intents: [Intents] = []
  /// Programs that differ in how they answer as presenters, greatest difference of the longest answer first.
  public var presenters: [Presenter] = []
  /// Rows that are left out of each list, because there are too many.
  public var omitted: Int64 = 0
  /// What was asked to fail and did: sentences.
  public var failures: [String] = []
  /// What was asked to fail, and nobody knows whether it does: sentences.
  public var unknown: [String] = []
  /// Files that only the second run fetched, also those that are left out, and the first of them.
  var newPathCount: Int64 = 0
  var firstNewPath: String?
  /// How much is in no total of this name, because the logs do not tell of it: files, or waits.
  var untold: [String: Amount] = [:]

  enum CodingKeys: String, CodingKey {
    case before, after, totals, programs, paths, stacks, intents, presenters, omitted, failures, unknown
  }

  // LIMIT: of each list.
  static let rowsMax = 10_000
  static let slowerMax = 1_000
}

extension RunDifference {
  public init(before: Report, after: Report) {
    self.init(DifferenceSide(before), DifferenceSide(after))
  }

  init(_ first: DifferenceSide, _ second: DifferenceSide) {
    var totals: [String: Amount] = [:]
    for name in Set(first.totals.keys).union(second.totals.keys) {
      totals[name] = Amount(before: first.totals[name] ?? 0, after: second.totals[name] ?? 0)
    }
    let files = DifferencePaths.compare(first.files, second.files)
    self.init(
      before: first.side, after: second.side, totals: totals, programs: Self.rows(first.programs, second.programs),
      paths: files.rows, stacks: Self.stacks(first, second),
      intents: Self.intents(first.coordination, second.coordination),
      presenters: Self.presenters(first.coordination, second.coordination),
      omitted: files.omitted)
    (newPathCount, firstNewPath) = (files.newCount, files.firstNew)
    for (name, count) in first.untold { untold[name] = Amount(before: count, after: second.untold[name] ?? 0) }
    for list in [\RunDifference.programs, \.stacks] where self[keyPath: list].count > Self.rowsMax {
      omitted += Int64(self[keyPath: list].count - Self.rowsMax)
      self[keyPath: list].removeLast(self[keyPath: list].count - Self.rowsMax)
    }
    omitted += Int64(max(0, intents.count - Self.rowsMax) + max(0, presenters.count - Self.rowsMax))
    (intents, presenters) = (Array(intents.prefix(Self.rowsMax)), Array(presenters.prefix(Self.rowsMax)))
  }

  private static func rows(
    _ first: [DifferenceSide.Key: DifferenceSide.Numbers], _ second: [DifferenceSide.Key: DifferenceSide.Numbers]
  ) -> [Row] {
    var rows: [Row] = []
    for key in Set(first.keys).union(second.keys) {
      let (old, new) = (first[key], second[key])
      guard old != new else { continue }
      rows.append(Row(name: key.name, stack: key.stack, before: old, after: new))
    }
    return rows.sorted(by: Row.precedes)
  }

  /// What a log has no stacks of looks the same as what never waited there.
  private static func stacks(_ first: DifferenceSide, _ second: DifferenceSide) -> [Row] {
    rows(first.stacks, second.stacks).map { row in
      var row = row
      // Of as many waits one side may have been blocked longer by those that it has no stack of.
      let (isLess, isMore) = (row.waits.change < 0, row.waits.change > 0)
      let isUnrecorded =
        (!isLess && first.withoutStack.contains(row.name)) || (!isMore && second.withoutStack.contains(row.name))
      row.isUnrecorded = isUnrecorded ? true : nil
      return row
    }
  }
}

/// One of two runs that are compared: its numbers by program, path and stack.
struct DifferenceSide: Sendable {
  /// A stack is what its functions are called.
  struct Stack: Hashable, Sendable {
    var frames: [String]
    /// Which of them a line of text shows; says nothing of what the stack is.
    var shown: Range<Int>

    static func == (first: Stack, second: Stack) -> Bool { first.frames == second.frames }
    func hash(into hasher: inout Hasher) { hasher.combine(frames) }
  }

  struct Key: Hashable, Sendable {
    var name: String
    var stack: Stack?
  }

  struct Numbers: Equatable, Sendable {
    var files: Int64 = 0
    var bytes: Int64 = 0
    var waits: Int64 = 0
    var blocked: Int64 = 0
  }

  let side: RunDifference.Side
  var totals: [String: Int64]
  /// Of totals: what may belong to them, too.
  var untold: [String: Int64]
  var programs: [Key: Numbers] = [:]
  /// Those of which content was fetched.
  let files: DifferencePaths
  var stacks: [Key: Numbers] = [:]
  /// Names of rows of stacks, for programs and operations with waits of which the log has no stack.
  var withoutStack: Set<String> = []
  let coordination: CoordinationPrograms

  init(_ report: Report) {
    let summary = report.summary
    side = RunDifference.Side(summary)
    coordination = report.intents.programs
    files = DifferencePaths(report.files)
    totals = [
      "files": summary.materialized.files, "directories": summary.materialized.directories,
      "bytes": summary.materialized.bytes, "waits": summary.blocked.waits, "blocked_ns": summary.blocked.sumNanoseconds,
      "longest_wait_ns": summary.blocked.longestNanoseconds,
      "main_thread_blocked_ns": summary.mainThread.blocked.sumNanoseconds,
      "needless_files": summary.use.needlessFiles, "failures": summary.materialized.failures,
      "refusals": summary.materialized.refusals,
    ]
    untold = [
      "needless_files": summary.use.unknown, "main_thread_blocked_ns": summary.mainThread.unknownWaits,
      "intents_waited_ns": summary.coordination?.unknownWaits ?? 0,
    ]
    totals.merge(summary.coordination?.totals ?? [:]) { first, _ in first }
    for program in summary.processes {
      programs[Key(name: ProgramText.name(program)), default: Numbers()].add(
        files: program.files, bytes: program.bytes, waits: program.blocked.waits,
        blocked: program.blocked.sumNanoseconds)
    }
    for row in report.blocked.rows {
      let name = "\(row.program) [\(TerminalText.escaped(row.trigger))]"
      guard case .known(let index) = row.stack else {
        withoutStack.insert(name)
        continue
      }
      let found = report.stackTable[index]
      let stack = Stack(frames: found.frames.map(\.name), shown: found.shown)
      stacks[Key(name: name, stack: stack), default: Numbers()].add(
        files: 0, bytes: 0, waits: row.waits, blocked: row.blocked)
    }
  }
}

extension DifferenceSide.Numbers {
  mutating func add(files: Int64, bytes: Int64, waits: Int64, blocked: Int64) {
    self.files = self.files.plus(files)
    self.bytes = self.bytes.plus(bytes)
    self.waits = self.waits.plus(waits)
    self.blocked = self.blocked.plus(blocked)
  }
}

extension RunDifference.Side {
  init(_ summary: SummaryReport) {
    (log, session, source) = (summary.log, summary.session, summary.source)
    (started, isComplete) = (summary.started, summary.completeness.isComplete)
    gaps = CompletenessText.gaps(summary.completeness)
    commandEnd = summary.run?.end
    if let gap = summary.run?.gap { (isComplete, gaps) = (false, gaps + [gap]) }
  }
}
