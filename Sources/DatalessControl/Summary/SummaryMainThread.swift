import DatalessCore

extension SummaryReport {
  /// What main threads waited for: the first thread of a process, which has its window or its prompt.
  public struct MainThread: Codable, Sendable, Equatable {
    public var blocked = Blocked()
    /// Absent when no main thread is known to have been blocked.
    public var longest: LongestWait?
    /// Waits, in no number here, of which the log does not say whether a main thread waited.
    public var unknownWaits: Int64 = 0
    public var hitches = Hitches()
    /// Absent when the watchdog found none.
    public var hangs: Hangs?

    enum CodingKeys: String, CodingKey {
      case blocked, longest, hitches, hangs
      case unknownWaits = "unknown_waits"
    }
  }

  /// Waits of main threads for longer than a frame of an animation.
  public struct Hitches: Codable, Sendable, Equatable {
    /// One frame at 60 Hz.
    public static let defaultFrame: Int64 = 16_700_000

    public var frameNanoseconds = Self.defaultFrame
    public var waits: Int64 = 0
    /// What they lasted beyond one frame each.
    public var overNanoseconds: Int64 = 0

    enum CodingKeys: String, CodingKey {
      case waits
      case frameNanoseconds = "frame_ns"
      case overNanoseconds = "over_ns"
    }
  }

  /// What the watchdog found: main threads that waited for longer than they may.
  public struct Hangs: Codable, Sendable, Equatable {
    public var waits: Int64 = 0
    /// Processes that were sent SIGABRT, and how many of them are known to have gone on.
    public var signalled: Int64 = 0
    public var survived: Int64 = 0
  }

  /// One wait, and who waited for what.
  public struct LongestWait: Codable, Sendable, Equatable {
    /// Absent when the log does not tell what the wait was for.
    public var attempt: UInt64?
    public var path: String?
    public var pathBase64: String?
    public var trigger: String
    /// Absent when unknown.
    public var pid: Int32?
    public var comm: String?
    public var exe: String?
    public var script: String?
    public var blockedNanoseconds: Int64
    /// Whether it has not ended.
    public var isUnderWay = false
    /// Where in its program it stood; absent when the log has no stack of it.
    public var function: String?
    /// Absent without debug information.
    public var file: String?
    public var line: UInt32?
    /// True where `function` begins at `line`, and stands nobody knows where.
    public var hasFunctionLines: Bool?
    /// The language of a program of whose version no functions can be read: `function` is its interpreter's.
    public var unreadable: String?

    enum CodingKeys: String, CodingKey {
      case attempt, path, trigger, pid, comm, exe, script, function, file, line, unreadable
      case pathBase64 = "path_b64"
      case blockedNanoseconds = "blocked_ns"
      case isUnderWay = "under_way"
      case hasFunctionLines = "function_lines"
    }
  }
}

extension SummaryReport.LongestWait {
  fileprivate mutating func stand(at place: SummaryStacks.Place) {
    (function, file, line) = (place.function, place.file, place.line)
    hasFunctionLines = place.isFunctionLine ? true : nil
    unreadable = place.unreadable
  }

  /// Where in its program it stood; nil when the log has no stack of it.
  var place: SummaryStacks.Place? {
    function.map {
      SummaryStacks.Place(function: $0, file: file, line: line, isFunctionLine: hasFunctionLines == true)
    }
  }
}

/// A wait that has ended, or counts up to now.
struct CountedWait: Sendable {
  var attempt: UInt64?
  var process: UInt32?
  var threadID: Int32?
  var trigger: String
  /// nil where the log does not say.
  var isMainThread: Bool?
  /// CLOCK_MONOTONIC, nanoseconds.
  var start: Int64
  var end: Int64
  var isUnderWay: Bool

  var blocked: Int64 { end.minus(start) }
  /// Whether `dataless materialize` waited, which is no program's thread.
  var isCommand: Bool { trigger == "command" || trigger == "eager" }
  /// Whether an intent waited, on a descriptor: nobody was blocked.
  var isOfIntent: Bool { trigger == "coordinate" }
  var isOfNoThread: Bool { isCommand || isOfIntent }
}

/// Adds up the waits of main threads.
struct SummaryMainThread: Sendable {
  /// - Parameter frame: Nanoseconds that a main thread may wait without a hitch.
  init(frame: Int64) { sum.hitches.frameNanoseconds = frame }

  var frame: Int64 { sum.hitches.frameNanoseconds }

  /// - Parameter type: What the watchdog did.
  mutating func addHang(_ type: EventType, outcome: String?) {
    var hangs = sum.hangs ?? SummaryReport.Hangs()
    switch type {
    case .watchdogSignalled: hangs.signalled += outcome == "ok" ? 1 : 0
    case .watchdogSurvived: hangs.survived += 1
    default: hangs.waits += 1
    }
    sum.hangs = hangs
  }

  private var sum = SummaryReport.MainThread()
  private var wall = IntervalUnion(limit: 1_024)
  private var stacks = SummaryStacks()
  /// The longest one.
  private var longest: SummaryStacks.Wait?

  /// A stack may come before and after its wait has ended.
  mutating func stack(_ record: LogRecord) {
    guard let (wait, place) = stacks.add(record), wait == longest else { return }
    sum.longest?.stand(at: place)
  }

  /// - Parameter path: Of what the wait is for; nil when the log does not tell.
  mutating func add(_ wait: CountedWait, path: [UInt8]?, _ processes: LogProcesses) {
    guard !wait.isOfNoThread, let isMainThread = wait.isMainThread else {
      if !wait.isOfNoThread { sum.unknownWaits += 1 }
      return
    }
    guard isMainThread else { return }
    let isLonger = sum.longest.map { wait.blocked > $0.blockedNanoseconds } ?? true
    sum.blocked.add(wait.blocked, isUnderWay: wait.isUnderWay)
    wall.insert(from: wait.start, to: wait.end)
    if wait.blocked > frame {
      sum.hitches.waits += 1
      sum.hitches.overNanoseconds = sum.hitches.overNanoseconds.plus(wait.blocked.minus(frame))
    }
    guard isLonger else { return }
    let process = wait.process.flatMap { processes[$0] }
    func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
    let place = path.map(SummaryReport.split)
    sum.longest = SummaryReport.LongestWait(
      attempt: wait.attempt, path: place?.text, pathBase64: place?.base64, trigger: wait.trigger,
      pid: process?.pid, comm: text(process?.comm), exe: text(process?.exe), script: text(process?.script),
      blockedNanoseconds: wait.blocked, isUnderWay: wait.isUnderWay)
    longest = wait.attempt.flatMap { attempt in
      wait.threadID.map { SummaryStacks.Wait(attempt: attempt, threadID: $0) }
    }
    if let place = longest.flatMap({ stacks.place(of: $0) }) { sum.longest?.stand(at: place) }
  }

  var report: SummaryReport.MainThread {
    var report = sum
    report.blocked.wallNanoseconds = wall.length
    report.blocked.setParallelism()
    return report
  }
}
