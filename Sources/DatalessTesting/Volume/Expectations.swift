import FoundationEssentials

/// Something that a log is held against.
struct Expectations: Sendable {
  var bounds: [Bound] = []
  var entries: [JSONValue] = []
  /// A scenario file with a section `expect`.
  var file: String?

  var isEmpty: Bool { bounds.isEmpty && entries.isEmpty && file == nil }

  /// Arguments of `dataless check-log` behind the log; it takes one file, so there may be several calls. `written`: the
  /// file that has the entries.
  func calls(written: String, environment: [String: String]) -> [[String]] {
    var files = entries.isEmpty ? [] : [written]
    if let file { files.append(file) }
    let options = Bound.options(bounds, environment: environment)
    guard let first = files.first else { return options.isEmpty ? [] : [options] }
    return [options + ["--expect", first]] + files.dropFirst().map { ["--expect", $0] }
  }

  /// What the entries are as a file.
  var entriesText: String { JSONValue.object(["version": 1, "expect": .array(entries)]).text }

  /// Whether all that keeps a verdict from being that everything holds is that the volume is still mounted.
  static func holdsSoFar(_ verdict: JSONValue) -> Bool {
    (verdict["expectations"]?.elements ?? []).filter { $0["outcome"]?.string == "unknown" }
      .allSatisfy { $0["reason"]?.string?.hasPrefix("the volume is still mounted") == true }
  }

  /// What a verdict's violations lack: stacks that may still be read, by attempt and thread.
  static func lackingStacks(_ verdict: JSONValue) -> Set<[Int64?]> {
    Set(
      (verdict["violations"]?.elements ?? []).filter { $0["stack"] == nil && $0["attempt"] != nil }
        .map { [$0["attempt"]?.integer, $0["tid"]?.integer] })
  }
}

extension DatalessVolume {
  /// Holds what has happened so far against bounds, or against entries as of a scenario's section `expect`; throws an
  /// `ExpectationFailure` that names who, what and the stack. While the volume is mounted, what is not violated yet
  /// holds.
  public func expect(_ bounds: Bound..., entries: [JSONValue] = []) async throws {
    try await judge(Expectations(bounds: bounds, entries: entries))
  }

  /// Unmounts, and holds what was expected when the volume was made against the whole log; throws an
  /// `ExpectationFailure` for what does not hold, and for what nobody knows.
  public func check() async throws {
    try await unmount()
    try await judge(expectations)
  }

  func judge(_ expectations: Expectations) async throws {
    guard !expectations.isEmpty else { return }
    let isLive = isMounted
    do {
      try await judge(expectations, isLive: isLive)
    } catch let failure as ExpectationFailure {
      let lacking = isLive ? Expectations.lackingStacks(failure.verdict) : []
      if lacking.isEmpty { throw failure }
      try await stacksCome(lacking)
      try await judge(expectations, isLive: isLive)
    }
  }

  private func judge(_ expectations: Expectations, isLive: Bool) async throws {
    let log = isLive ? path : logPath
    let written = "\(folder)/expect-\(UInt64.random(in: .min ... .max)).json"
    if !expectations.entries.isEmpty {
      try await Threads.run { try Data(expectations.entriesText.utf8).write(to: URL(filePath: written)) }
    }
    for words in expectations.calls(written: written, environment: workspace.executable.environment) {
      let output = try await workspace.command(["check-log", log] + words)
      guard let verdict = output.answers.first else {
        throw DatalessError(answer: output.error ?? ["message": "check-log has no answer"])
      }
      if output.status == 0 || (isLive && output.status == 91 && Expectations.holdsSoFar(verdict)) { continue }
      guard [90, 91].contains(output.status) else { throw DatalessError(answer: output.error ?? .null) }
      let text = try await workspace.text(["check-log", log] + words.filter { $0 != "--update-baseline" })
      throw ExpectationFailure(isViolated: output.status == 90, text: trimmed(text), verdict: verdict)
    }
  }

  /// Waits for stacks that are being read: at most 3 s.
  private func stacksCome(_ stacks: Set<[Int64?]>) async throws {
    let options = try await command(["status", path]).first?["options"]
    guard let wanted = options?["stacks"]?.string, wanted != "off" else { return }
    var lacking = stacks
    let end = ContinuousClock.now.advanced(by: .seconds(3))
    while !lacking.isEmpty && ContinuousClock.now < end {
      for record in try await log("wait.stack") {
        lacking.remove([record["attempt"]?.integer, record["tid"]?.integer])
      }
      if !lacking.isEmpty { try await Task.sleep(for: .milliseconds(50)) }
    }
  }
}

func trimmed(_ text: String) -> String {
  String(text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
}
