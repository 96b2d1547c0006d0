import DatalessControl

/// Coordinated accesses: on a track of each process, as pairs of a beginning and an end, since those of one process
/// overlap.
extension TraceWriter {
  /// - Parameter program: Escaped for a terminal.
  mutating func add(_ slice: IntentSlices.Slice, program: String, pid: Int32?) throws(ControlError) {
    let (process, track) = try coordinationTrack(program: program, pid: pid)
    let use = CoordinationText.use(reads: slice.reads, writes: slice.writes)
    let name = "\(slice.isGranted ? "may" : "asks to") \(use) \(PathText.of(slice.path))"
    let times = [("b", slice.start), ("e", slice.end)].map { ($0.0, $0.1.minus(origin)) }
    for (phase, time) in times {
      try event { json in
        json.field("ph", phase)
        json.field("cat", "intent")
        json.field("id", Int64(clamping: slice.intent))
        json.field("name", name)
        json.field("pid", process)
        json.field("tid", track)
        json.key("ts")
        json.microseconds(time)
        if phase == "b" { Self.arguments(slice, program: program, &json) }
      }
    }
  }

  private static func arguments(_ slice: IntentSlices.Slice, program: String, _ json: inout JSONBuffer) {
    json.key("args")
    json.object { json in
      json.field("phase", slice.isGranted ? "granted" : "asked")
      json.field("intent", Int64(clamping: slice.intent))
      json.key("paths")
      json.strings((slice.names.isEmpty ? [slice.path] : slice.names).map { PathText.of($0) })
      json.field("reads", slice.reads)
      json.field("writes", slice.writes)
      if !slice.options.isEmpty {
        json.key("options")
        json.strings(slice.options.map { TerminalText.escaped($0) })
      }
      json.field("within", slice.within.map { Int64(clamping: $0) })
      json.field("outcome", slice.outcome.map { TerminalText.escaped($0) } ?? "under way")
      json.field("duration_ns", slice.end.minus(slice.start))
      json.field("waited_ns", slice.waited)
      json.field("asking_ns", slice.asking)
      json.field("materializing_ns", slice.materializing)
      json.field("process", program)
    }
  }

  /// A presenter has answered, or has not in time.
  mutating func add(_ answer: IntentSlices.Answer, program: String, pid: Int32?) throws(ControlError) {
    let (process, track) = try coordinationTrack(program: program, pid: pid)
    let what = "\(TerminalText.escaped(answer.what)) \(PathText.of(answer.path))"
    let time = answer.time.minus(origin)
    try event { json in
      json.field("ph", "i")
      json.field("s", "t")
      json.field("cat", "presenter")
      json.field("name", "\(TerminalText.escaped(answer.outcome)): \(what)")
      json.field("pid", process)
      json.field("tid", track)
      json.key("ts")
      json.microseconds(time)
      json.key("args")
      json.object { json in
        json.field("path", PathText.of(answer.path))
        json.field("presenter", Int64(clamping: answer.presenter))
        json.field("intent", answer.intent.map { Int64(clamping: $0) })
        json.field("what", TerminalText.escaped(answer.what))
        json.field("took_ns", answer.took)
        json.field("outcome", TerminalText.escaped(answer.outcome))
        json.field("process", program)
      }
    }
  }

  private mutating func coordinationTrack(
    program: String, pid: Int32?
  ) throws(ControlError) -> (process: Int64, track: Int64) {
    let process = pid.flatMap { $0 > 0 ? Int64($0) : nil } ?? Self.syntheticID
    if namedProcesses.insert(process).inserted { try name(process, nil, text: program) }
    if let track = coordinationTracks[process] { return (process, track) }
    let track = Self.coordinationTrackID + Int64(coordinationTracks.count)
    coordinationTracks[process] = track
    try name(process, track, text: "coordinated accesses")
    return (process, track)
  }
}
