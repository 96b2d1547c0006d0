import FoundationEssentials
import Synchronization

/// A mounted volume of dataless files, and the verbs of a test on it.
///
/// No verb blocks a thread of the cooperative pool. A verb that fails throws a `DatalessError` with the words of
/// `dataless`. A test must not read a file of its volume by itself where that may take long: have a program read it
/// (`start`, `run`).
public final class DatalessVolume: Sendable {
  private struct State {
    var isMounted = true
    var isClosed = false
    var programs: [DatalessProgram] = []
  }

  /// The mountpoint.
  public let path: String
  /// What is mounted: a folder, or a synthetic specification.
  public let source: String
  /// The event log (docs/EVENTS.md), which goes with the volume: see `keepLog`.
  public let logPath: String
  /// The session's name in the log.
  public let session: String

  let workspace: Workspace
  let folder: String
  let expectations: Expectations
  private let state = Mutex(State())

  init(workspace: Workspace, folder: String, answer: JSONValue, expectations: Expectations) {
    (self.workspace, self.folder, self.expectations) = (workspace, folder, expectations)
    path = answer["mountpoint"]?.string ?? folder + "/mnt"
    source = answer["source"]?.string ?? ""
    logPath = answer["log"]?.string ?? folder + "/log.jsonl"
    session = answer["session"]?.string ?? ""
  }

  /// Whether it has not been unmounted yet.
  public var isMounted: Bool { state.withLock(\.isMounted) }

  // MARK: Programs

  /// Starts a program; `{}` in its words is the mountpoint, and so is the environment's DATALESS_MOUNT. It ends with
  /// the volume at the latest, with what it has started. `environment` is added to that of the test. Throws a
  /// `DatalessError` (`not_executable`) if it cannot be executed.
  public func start(_ command: String..., environment: [String: String] = [:]) async throws -> DatalessProgram {
    try await start(command, environment: environment)
  }

  /// The same, of a list of words.
  public func start(_ command: [String], environment: [String: String] = [:]) async throws -> DatalessProgram {
    let whole = workspace.executable.environment.merging(environment) { $1 }.merging(["DATALESS_MOUNT": path]) { $1 }
    let program = try await DatalessProgram.start(
      command.map { $0.replacing("{}", with: path) }, environment: whole, folder: folder,
      explain: { [weak self] in await self?.whoWaits() ?? "" })
    state.withLock { $0.programs.append(program) }
    return program
  }

  /// Runs a program to its end: `start` and `wait`. A status that is not 0 throws, unless `check` is false.
  @discardableResult public func run(
    _ command: String..., timeout: Duration = .seconds(60), check: Bool = true, environment: [String: String] = [:]
  ) async throws -> ProgramResult {
    try await run(command, timeout: timeout, check: check, environment: environment)
  }

  /// The same, of a list of words.
  @discardableResult public func run(
    _ command: [String], timeout: Duration = .seconds(60), check: Bool = true, environment: [String: String] = [:]
  ) async throws -> ProgramResult {
    let result = try await start(command, environment: environment).wait(timeout: timeout)
    if check && result.status != 0 { throw result.failure(command.first ?? "") }
    return result
  }

  // MARK: What is simulated

  /// Changes settings: `set(["latency": "2s", "concurrency": 4])`. All are changed, or none.
  public func set(_ settings: [String: JSONValue]) async throws {
    try await command(["set", path] + VolumeOptions(settings: settings).assignments)
  }

  /// Puts another scenario in the place of this one: a file (docs/SCENARIOS.md), by an absolute path.
  public func scenario(file: String) async throws { try await command(["scenario", "apply", path, file]) }

  /// The same, of a scenario's keys: `scenario(["latency": "2s", "rules": [...]])`.
  public func scenario(_ scenario: [String: JSONValue]) async throws {
    let file = "\(folder)/scenario-\(UInt64.random(in: .min ... .max)).json"
    let text = JSONValue.object(scenario.merging(["version": 1]) { given, _ in given }).text
    try await Threads.run { try Data(text.utf8).write(to: URL(filePath: file)) }
    try await self.scenario(file: file)
  }

  /// A gate that a rule names: `rules: [["match": ["path": "*.jpg"], "gate": "photos"]]`.
  public func gate(_ name: String) -> DatalessGate { DatalessGate(volume: self, name: name) }

  /// Makes the store unreachable, until `online`: what needs it fails with ETIMEDOUT.
  public func offline() async throws { try await command(["offline", path]) }

  /// Makes the store reachable again.
  public func online() async throws { try await command(["online", path]) }

  /// Makes the store unreachable while `body` runs.
  public func offline(isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void) async throws {
    try await offline()
    do { try await body() } catch {
      _ = try? await online()
      throw error
    }
    try await online()
  }

  // MARK: What is there

  /// Makes files dataless again, folders with all below; without a path all. What is refused throws (`incomplete`, with
  /// EBUSY, EMLINK or EPERM for each in the words).
  public func evict(_ paths: String...) async throws { try await command(["evict"] + absolute(paths)) }

  /// Brings content in, of folders with all below; without a path all. Counts as nobody's doing.
  public func materialize(_ paths: String...) async throws { try await command(["materialize"] + absolute(paths)) }

  private func absolute(_ paths: [String]) -> [String] {
    paths.isEmpty ? [path] : paths.map { $0 == path || $0.hasPrefix(path + "/") ? $0 : "\(path)/\($0)" }
  }

  // MARK: The end

  /// Ends programs and the volume; its log is complete then. Does nothing the second time.
  public func unmount() async throws {
    let programs = state.withLock { state in
      defer { state.programs = [] }
      return state.programs
    }
    for program in programs { await program.kill() }
    guard isMounted else { return }
    try await command(["unmount", path])
    state.withLock { $0.isMounted = false }
  }

  /// Unmounts, and removes all of it, the log included. Does nothing the second time.
  public func close() async {
    let isClosed = state.withLock { state in
      defer { state.isClosed = true }
      return state.isClosed
    }
    guard !isClosed else { return }
    // A task of its own: that of a test may have been cancelled.
    await Task {
      try? await self.unmount()
      self.state.withLock { $0.isMounted = false }
      await DatalessVolume.remove(self.folder, workspace: self.workspace)
    }.value
  }

  /// Runs a command of `dataless`; its answers. Throws what it says is wrong.
  @discardableResult func command(_ words: [String], limit: Duration = .seconds(60)) async throws -> [JSONValue] {
    let output = try await workspace.command(words, limit: limit)
    if let error = output.error { throw DatalessError(answer: error) }
    return output.answers
  }
}
