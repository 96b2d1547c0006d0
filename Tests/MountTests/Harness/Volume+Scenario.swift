/// What tests of gates and scenarios ask of a volume.
extension Volume {
  /// Waits until so many callers are blocked at a gate; throws if they are not in time.
  func waitForCallers(_ count: Int, at gate: String) async throws {
    try await done("gate", "wait", mountpoint, gate, "--callers", "\(count)", "--timeout", "20s")
  }

  /// Runs `dataless`, which must succeed.
  @discardableResult
  func done(_ arguments: String...) async throws -> Finished {
    let finished = try await run([Machine.dataless] + arguments)
    guard finished.succeeded else {
      throw HarnessError("dataless \(arguments): status \(finished.shellStatus): \(finished.errorText)")
    }
    return finished
  }

  func gates() async throws -> [JSON] {
    try await done("gate", "list", mountpoint, "--json").lines.map { try JSON(parsing: $0.utf8) }
  }

  func records(ofType type: String) async throws -> [JSON] {
    try await records().filter { $0["type"]?.string == type }
  }
}

extension Scratch {
  /// Writes a scenario beside the source tree, and returns its path.
  func scenario(_ text: String, name: String = "scenario.yaml") throws -> String {
    try file("../\(name)", content: text.utf8)
    return "\(root)/\(name)"
  }
}

/// As `withVolume`, with a scenario in a file.
func withScenario(
  _ scenario: String, _ options: [String] = [], source prepare: (Scratch) async throws -> Void,
  test: (Volume) async throws -> Void
) async throws {
  try await withScratch { scratch in
    try await prepare(scratch)
    let file = try scratch.scenario(scenario)
    try await test(try await scratch.mount(["--scenario", file] + options))
  }
}
