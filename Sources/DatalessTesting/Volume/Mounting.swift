import FoundationEssentials

/// What a daemon says whose device number belonged to one that is not quite at its end.
private let endingWords = "another daemon holds it"

extension DatalessVolume {
  /// Mounts a volume, which `close` ends, or the end of this process, whatever that is. `withDatalessVolume` and the
  /// trait `.datalessVolume` end it by themselves. Throws a `DatalessError` when there is no executable
  /// (`not_found`), or with the words of `dataless mount`.
  public static func mount(_ options: VolumeOptions = VolumeOptions()) async throws -> DatalessVolume {
    let workspace = try await Workspaces.shared.get(try Executable.find(options.executable))
    let folder = try await Threads.run { try workspace.newVolumeFolder() }
    do {
      let scenario = try await Threads.run { try prepareScenario(options, in: folder) }
      let source = try await Threads.run { try options.source.prepare(in: folder + "/source") }
      var words = ["mount", source, folder + "/mnt", "--log", folder + "/log.jsonl", "--cache-dir", folder + "/cache"]
      words += options.mountOptions + (scenario.path.map { ["--scenario", $0] } ?? [])
      var output = try await workspace.command(words)
      for _ in 0..<10 where output.error?["message"]?.string?.contains(endingWords) == true {
        output = try await workspace.command(words)
      }
      guard let answer = output.answers.first else {
        throw DatalessError(answer: output.error ?? ["message": "dataless mount said nothing"])
      }
      let expectations = Expectations(
        bounds: options.bounds, entries: options.expect, file: scenario.isExpecting ? scenario.path : nil)
      let volume = DatalessVolume(workspace: workspace, folder: folder, answer: answer, expectations: expectations)
      if options.scenario != nil && !options.settings.isEmpty {
        try await volume.command(["set", volume.path] + options.assignments)
      }
      return volume
    } catch {
      await Task { await DatalessVolume.remove(folder, workspace: workspace) }.value
      throw error
    }
  }

  /// The scenario's file, and whether it has a section `expect`.
  private static func prepareScenario(_ options: VolumeOptions, in folder: String) throws -> (
    path: String?, isExpecting: Bool
  ) {
    if let path = options.scenario {
      guard options.rules.isEmpty else {
        throw DatalessError("with a scenario file, rules belong into it: \(path).", code: "usage")
      }
      guard let data = FileManager.default.contents(atPath: path) else {
        throw DatalessError("the scenario \(path) cannot be read.")
      }
      return (path, VolumeOptions.hasExpectations(String(decoding: data, as: UTF8.self)))
    }
    guard let text = options.scenarioText else { return (nil, false) }
    let path = folder + "/scenario.json"
    try Data(text.utf8).write(to: URL(filePath: path))
    return (path, false)
  }

  /// Ends what is mounted in a volume's folder, and removes it.
  static func remove(_ folder: String, workspace: Workspace) async {
    guard let isRemoved = try? await Threads.run({ Workspace.remove(folder) }), !isRemoved else { return }
    _ = try? await workspace.command(["unmount", folder + "/mnt"])
    _ = try? await Threads.run { Workspace.remove(folder) }
  }
}
