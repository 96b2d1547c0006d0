import DatalessControl

/// Writes a trace for Perfetto and Chrome, wait by wait: one track for each thread, and one for what each process
/// coordinates, in Chrome's JSON format. Times are microseconds since the session's first record, with three digits, so
/// that nothing is rounded.
struct TraceWriter {
  /// Above what the kernel gives to processes.
  static let syntheticID: Int64 = 1_000_000_000
  private static let commandProcess = syntheticID + 1
  private static let volumeProcess = syntheticID + 2
  /// The first of these tracks; threads have other numbers, as they are below or above.
  static let coordinationTrackID: Int64 = 500_000_000

  private let file: ReportFile
  private var json = JSONBuffer()
  private var isEmpty = true
  private var namedLanes: Set<Int> = []
  var namedProcesses: Set<Int64> = []
  /// What each process coordinates, by process.
  var coordinationTracks: [Int64: Int64] = [:]
  /// CLOCK_MONOTONIC of the first record.
  var origin: Int64 = 0
  private(set) var spans: Int64 = 0

  init(_ file: ReportFile) throws(ControlError) {
    self.file = file
    try file.write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")
  }

  /// - Parameters:
  ///   - program: Escaped for a terminal.
  ///   - frames: Innermost first.
  mutating func add(
    _ wait: ReportWait, lane: ThreadLanes.Lane, program: String, pid: Int32?, frames: [ReportFrame]
  ) throws(ControlError) {
    let process = wait.isCommand ? Self.commandProcess : pid.flatMap { $0 > 0 ? Int64($0) : nil } ?? Self.syntheticID
    let thread = lane.number == 0 && !wait.isCommand && process != Self.syntheticID ? wait.threadID : nil
    let track = thread ?? Self.syntheticID + 10 + Int64(wait.lane)
    if namedProcesses.insert(process).inserted {
      try name(process, nil, text: wait.isCommand ? "dataless materialize" : program)
    }
    if namedLanes.insert(wait.lane).inserted {
      try name(process, track, text: wait.isCommand ? "command" : lane.title)
    }
    spans += 1
    let origin = origin
    try event { json in
      json.field("ph", "X")
      json.field("cat", wait.kind == .wait ? "wait" : "access")
      json.field("name", "\(TerminalText.escaped(wait.trigger)) \(wait.path.map(PathText.of) ?? "?")")
      json.field("pid", process)
      json.field("tid", track)
      json.key("ts")
      json.microseconds(wait.start.minus(origin))
      json.key("dur")
      json.microseconds(wait.blocked)
      json.key("args")
      json.object { json in
        json.field("path", wait.path.map(PathText.of))
        json.field("outcome", wait.isUnderWay ? "under way" : TerminalText.escaped(wait.outcome))
        json.field("blocked_ns", wait.blocked)
        json.field(wait.kind == .wait ? "attempt" : "access", wait.number.flatMap { Int64(exactly: $0) })
        json.field("process", program)
        if let isMain = wait.isMainThread {
          json.key("main_thread")
          json.bool(isMain)
        }
        switch wait.stack {
        case .known: json.field("stack", frames.map(\.shortName).joined(separator: " < "))
        case .missing(let why): json.field("stack_unavailable", TerminalText.escaped(why))
        case .none: break
        }
      }
    }
  }

  /// Gates, and what happened at one moment, on tracks of their own.
  mutating func add(_ happenings: Happenings, end: Int64) throws(ControlError) {
    guard !happenings.holds.isEmpty || !happenings.moments.isEmpty else { return }
    let origin = origin
    try name(Self.volumeProcess, nil, text: "volume")
    try name(Self.volumeProcess, Self.volumeProcess, text: "what happened")
    for hold in happenings.holds {
      for (phase, time) in [("b", hold.start), ("e", hold.end ?? max(hold.start, end))] {
        try event { json in
          json.field("ph", phase)
          json.field("cat", "gate")
          json.field("id", Int64(clamping: hold.attempt))
          json.field("name", "\(hold.gate): \(PathText.of(hold.path))")
          json.field("pid", Self.volumeProcess)
          json.field("tid", Self.volumeProcess)
          json.key("ts")
          json.microseconds(time.minus(origin))
        }
      }
    }
    for moment in happenings.moments {
      try event { json in
        json.field("ph", "i")
        json.field("s", moment.kind == .mark ? "g" : "t")
        json.field("cat", moment.kind.rawValue)
        json.field("name", "\(moment.kind.rawValue): \(moment.text)")
        json.field("pid", Self.volumeProcess)
        json.field("tid", Self.volumeProcess)
        json.key("ts")
        json.microseconds(moment.time.minus(origin))
      }
    }
  }

  /// Writes the end, with what there is to know about the whole.
  mutating func finish(_ other: [(String, String)]) throws(ControlError) {
    json.removeAll()
    json.object { json in for (key, value) in other { json.field(key, value) } }
    try file.write("\n],\"otherData\":")
    try file.write(json.bytes)
    try file.write("}\n")
    try file.commit()
  }

  mutating func name(_ process: Int64, _ thread: Int64?, text: String) throws(ControlError) {
    try event { json in
      json.field("ph", "M")
      json.field("name", thread == nil ? "process_name" : "thread_name")
      json.field("pid", process)
      json.field("tid", thread ?? 0)
      json.key("args")
      json.object { $0.field("name", text) }
    }
  }

  mutating func event(_ body: (inout JSONBuffer) -> Void) throws(ControlError) {
    json.removeAll()
    json.object(body)
    try file.write(isEmpty ? "\n" : ",\n")
    isEmpty = false
    try file.write(json.bytes)
  }
}
