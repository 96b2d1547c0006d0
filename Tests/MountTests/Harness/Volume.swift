import FoundationEssentials
import Testing

/// A mounted volume and what a test asks of it.
struct Volume: Sendable {
  let scratch: Scratch
  /// What `dataless mount` said.
  let mounted: Finished

  var log: LogFile { scratch.log }
  var mountpoint: String { scratch.mountpoint }

  /// The place of a path on the volume.
  func path(_ relative: String) -> String { relative.isEmpty ? mountpoint : "\(mountpoint)/\(relative)" }

  /// Runs `dataless` with these arguments.
  func dataless(_ arguments: String..., timeLimit: Duration = .seconds(30)) async throws -> Finished {
    try await run([Machine.dataless] + arguments, timeLimit: timeLimit)
  }

  /// Runs `dataless` with these arguments and `--json`, which must succeed.
  func json(_ arguments: String..., timeLimit: Duration = .seconds(30)) async throws -> JSON {
    let finished = try await run([Machine.dataless] + arguments + ["--json"], timeLimit: timeLimit)
    guard finished.succeeded else {
      throw HarnessError("dataless \(arguments): status \(finished.shellStatus): \(finished.errorText)")
    }
    return try JSON(parsing: finished.output)
  }

  func status() async throws -> JSON { try await json("status", mountpoint) }

  /// Items of `dataless ls --json`, one on each line, by their path relative to the volume.
  func list(_ relative: String = "", recursive: Bool = true) async throws -> [String: JSON] {
    let arguments = recursive ? ["-R"] : []
    let finished = try await run([Machine.dataless, "ls", "--json"] + arguments + [path(relative)])
    guard finished.succeeded else { throw HarnessError("ls: \(finished.errorText)") }
    let items = try finished.lines.map { try JSON(parsing: $0.utf8) }
    return Dictionary(items.map { ($0["path"]?.string ?? "?", $0) }) { first, _ in first }
  }

  /// How many files were materialized since the volume was mounted.
  func materializedFiles() async throws -> Int {
    let status = try await status()
    return try #require(status["materialized"]?["files"]?.int)
  }

  /// Everything recorded before this call, from the file.
  func records() async throws -> [JSON] {
    let status = try await status()
    // Of its own: another one may be in the file already.
    let label = "test-\(UInt64.random(in: 0 ... .max))"
    let written = try await run([Machine.dataless, "mark", mountpoint, label])
    guard written.succeeded else { throw HarnessError("mark: \(written.errorText) \(status)") }
    return try await log.wait("mark") { records in
      records.contains { $0["type"]?.string == "mark" && $0["label"]?.string == label }
    }
  }

  /// Records of attempts at files that have begun.
  func fileAttempts() async throws -> [JSON] {
    try await records().filter { $0["type"]?.string == "materialization.started" && $0["kind"]?.string == "file" }
  }

  func directoryAttempts() async throws -> [JSON] {
    try await records().filter { $0["type"]?.string == "materialization.started" && $0["kind"]?.string == "directory" }
  }

  func probe(_ arguments: String..., timeLimit: Duration = .seconds(30)) async throws -> [Answer] {
    let finished = try await run([try await Probe.shared.path()] + arguments, timeLimit: timeLimit)
    guard finished.succeeded else {
      throw HarnessError("probe \(arguments): status \(finished.shellStatus), timed out: \(finished.timedOut)")
    }
    return finished.lines.map { Answer($0) }
  }

  /// Reads a whole file of the volume, in a process of its own.
  @discardableResult
  func read(_ relative: String, timeLimit: Duration = .seconds(30)) async throws -> Answer {
    try #require(try await probe("read", path(relative), timeLimit: timeLimit).first)
  }

  /// Hash of a file of the source.
  func sourceHash(_ relative: String) async throws -> String? {
    try await probe("read", "\(scratch.source)/\(relative)").first?.hash
  }
}

/// Makes a source tree, mounts it, runs the test, and takes everything down.
func withVolume(
  _ options: [String] = [], source prepare: (Scratch) async throws -> Void,
  test: (Volume) async throws -> Void
) async throws {
  try await withScratch { scratch in
    try await prepare(scratch)
    try await test(try await scratch.mount(options))
  }
}

func withScratch(_ test: (Scratch) async throws -> Void) async throws {
  let scratch = try Scratch()
  do {
    try await test(scratch)
  } catch {
    await scratch.cleanUp()
    throw error
  }
  await scratch.cleanUp()
}

extension Scratch {
  /// Runs `dataless mount` and does not mind what comes of it.
  func tryMount(
    _ options: [String] = [], source: String? = nil, mountpoint: String? = nil, log: String? = nil, cache: String? = nil
  ) async throws -> Finished {
    // A volume that is kept has its content in its state directory.
    let places = options.contains("--state") ? [] : ["--cache-dir", cache ?? self.cache]
    return try await run(
      [Machine.dataless, "mount"] + options + ["--log", log ?? self.log.path] + places + [
        source ?? self.source, mountpoint ?? self.mountpoint,
      ], timeLimit: .seconds(20))
  }

  func mount(_ options: [String] = [], source: String? = nil) async throws -> Volume {
    let finished = try await tryMount(options, source: source)
    guard finished.succeeded else {
      throw HarnessError(
        "mount \(options): status \(finished.shellStatus), timed out: \(finished.timedOut): \(finished.errorText)")
    }
    return Volume(scratch: self, mounted: finished)
  }
}

/// All suites that mount something, one test after the other in a process. `scripts/test` has several processes of
/// them, as root each with a mount namespace and a runtime directory of its own: a test sees the volumes of its process
/// alone.
@Suite(
  .serialized, .timeLimit(.minutes(3 + Machine.raceSeconds / 60)),
  .enabled(if: Machine.hasFuse, "there is no /dev/fuse"))
enum RealMounts {}
