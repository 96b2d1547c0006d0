import FoundationEssentials

extension DatalessVolume {
  /// Records of the log, oldest first: all, or those of these types (`materialization` means all that begin so). More
  /// conditions are options of `dataless log`: `conditions: ["--path", "*.jpg", "--blocked", ">100ms"]`.
  public func log(_ types: String..., conditions: [String] = []) async throws -> [LogRecord] {
    let words = types.flatMap { ["--type", $0] } + conditions
    return try await command(["log", isMounted ? path : logPath] + words).map(LogRecord.init)
  }

  /// The log as `dataless log` prints it: a row for each materialization.
  public func logText() async throws -> String {
    try await workspace.text(["log", isMounted ? path : logPath])
  }

  /// Copies the log as it is to `path`, since it goes with the volume.
  public func keepLog(at path: String) async throws {
    try await Threads.run { [logPath] in
      guard let data = FileManager.default.contents(atPath: logPath) else { throw failure("open", logPath) }
      try data.write(to: URL(filePath: path))
    }
  }

  /// Paths of files of which content became local for programs, each once, sorted.
  public func materialized() async throws -> [String] { try await materialized { _ in true } }

  /// The same, for a program of this name (command, executable or script), and what it started.
  public func materialized(by name: String) async throws -> [String] {
    try await materialized { $0.isCalled(name) }
  }

  /// The same, for a program that the test has started, and what it started.
  public func materialized(by program: DatalessProgram) async throws -> [String] {
    try await materialized { $0.pid == program.pid }
  }

  private func materialized(_ isMeant: (CallerProcess) -> Bool) async throws -> [String] {
    let records = try await log("materialization.finished")
    let several = Set(records.filter { !$0.namesAllWaiters }.map { $0["attempt"]?.integer })
    var waits: [LogRecord] = []
    if !several.isEmpty { waits = try await log("wait.finished").filter { several.contains($0["attempt"]?.integer) } }
    let brought = records.filter { record in
      record.brought(waits: waits.filter { $0["attempt"]?.integer == record["attempt"]?.integer }, isMeant: isMeant)
    }
    return Set(brought.map(\.path)).sorted()
  }

  /// Who waits right now, and where in its program: everybody, or the threads of one process.
  public func stacks(pid: Int32? = nil) async throws -> [BlockedCaller] {
    // Beside them are coordinated accesses that wait, which block no thread.
    try await command(["stack", path] + (pid.map { ["--pid", "\($0)"] } ?? [])).filter { $0["waiter"] != nil }
      .map(BlockedCaller.init)
  }

  /// The same in words, a line for each caller and one for its stack; empty when nobody waits.
  public func whoWaits() async -> String {
    guard isMounted else { return "" }
    do { return try await stacks().map { "  \($0)" }.joined(separator: "\n") } catch { return "  \(error)" }
  }

  /// Writes a mark into the log.
  public func mark(_ label: String) async throws { try await command(["mark", path, label]) }

  /// What happened on the volume, for the report of a test that failed: who waits, what is violated so far, and the
  /// log's last 20 rows.
  public func story() async -> String { await story(isJudged: false) }

  /// `isJudged`: what is violated is said elsewhere.
  func story(isJudged: Bool) async -> String {
    var parts: [String] = []
    let waiting = await whoWaits()
    if !waiting.isEmpty { parts.append("Who waits:\n" + waiting) }
    if !isJudged {
      do { try await judge(expectations) } catch { parts.append("\(error)") }
    }
    if let text = try? await logText() {
      let rows = text.split(separator: "\n")
      parts += rows.prefix(1).map(String.init)
      if rows.count > 20 { parts.append("(\(rows.count - 20) rows more)") }
      parts += rows.dropFirst().suffix(19).map(String.init)
    }
    return parts.joined(separator: "\n")
  }
}
