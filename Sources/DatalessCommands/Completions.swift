import ArgumentParser
import DatalessControl
import DatalessCore
import DatalessScenario
import SystemPackage

/// What shells complete of the volumes that are mounted. They come from the mount table, and what is on a volume from
/// its daemon, for a short time: a tester may have told the volume, or the daemon, to hang, and a shell must not hang
/// with it. Nothing at or below a mountpoint is looked at.
enum Completions {
  /// How long the daemon may take; then there are no words.
  private static let patience = Duration.milliseconds(500)

  static let mountpoint = CompletionKind.custom { _, _, prefix in matching(mountpoints().map(\.text), prefix) }

  static let gate = CompletionKind.custom { words, _, prefix in
    matching(ask(words) { try await $0.gates().gates.map(\.name) }, prefix)
  }

  static let rule = CompletionKind.custom { words, _, prefix in matching(rules(words), prefix) }

  /// `latency=`, and what it is now where it was set.
  static let setting = CompletionKind.custom { words, _, prefix in
    let now = ask(words) { client in
      entries(try ScenarioNode(parsing: try await client.scenario(), name: "scenario")).compactMap { entry in
        entry.value.text.map { "\(entry.key)=\($0)" }
      }
    }
    let names = settings
    return matching(names.map { "\($0)=" } + now.filter { line in names.contains { line.hasPrefix("\($0)=") } }, prefix)
  }

  static let errno = CompletionKind.custom { _, _, prefix in matching(errnos, prefix) }

  static let fault = CompletionKind.custom { _, _, prefix in
    matching(errnos + ["never", "wrong_size", "superseded"], prefix)
  }

  /// Of `policy`: its words, and what can be removed.
  static let policy = CompletionKind.custom { words, index, prefix in
    switch words.prefix(max(0, index)).last {
    case "remove": matching(rules(words), prefix)
    case "rule": matching(["on", "off"], prefix)
    default: matching(["on", "off", "rule", "remove"], prefix)
    }
  }

  // MARK: - Where they come from

  private static func rules(_ words: [String]) -> [String] {
    ask(words) { client in
      let scenario = try ScenarioDocument(parsing: try await client.scenario(), name: "scenario")
      return scenario.simulation.rules.rules.map(\.name)
    }
  }

  /// As the schema of scenarios has them, so that none is forgotten; what `set` does not take is left out.
  private static var settings: [String] {
    guard let schema = try? ScenarioNode(parsing: ScenarioSchema.json(), name: "schema"),
      let properties = schema["properties"]
    else { return [] }
    return entries(properties).map(\.key).filter { !["version", "rules", "expect"].contains($0) }
  }

  private static func entries(_ node: ScenarioNode) -> [ScenarioNode.Entry] {
    if case .mapping(let entries) = node.value { entries } else { [] }
  }

  /// Linux has none beyond.
  private static let errnos = (1...133).map { Errno(rawValue: $0).name }.filter { $0.hasPrefix("E") }

  /// Of this user; without those whose names a line of text cannot say.
  private static func mountpoints() -> [(text: String, volume: MountEntry)] {
    ((try? MountedVolumes.own()) ?? []).compactMap { volume in
      guard UTF8Elements.areAllScalars(volume.mountPoint) else { return nil }
      return (String(decoding: volume.mountPoint, as: UTF8.self), volume)
    }
  }

  /// Asks the daemon of the volume that the command line names by its mountpoint, or the only one.
  private static func ask(
    _ words: [String], _ body: @escaping @Sendable (ControlClient) async throws -> [String]
  ) -> [String] {
    let volumes = mountpoints()
    let named = volumes.first { words.contains($0.text) }
    guard let volume = (named ?? (volumes.count == 1 ? volumes.first : nil))?.volume else { return [] }
    return (try? Blocking.run { try await ControlClient.with(volume: volume, timeout: patience, body) }) ?? []
  }

  /// - Parameter prefix: As it was typed. - Returns: In order, without words that would break the shell's list.
  private static func matching(_ words: [String], _ prefix: String) -> [String] {
    let isPlain = { (word: String) in word.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7f } }
    return Set(words).filter { $0.hasPrefix(prefix) && isPlain($0) }.sorted()
  }
}
