import DatalessControl
import DatalessScenario

/// The rules of a mounted volume, for commands that list some of them.
enum RuleList {
  struct Entry: Sendable {
    var name: String
    var node: ScenarioNode

    /// What the rule says about something, as JSON; nil for nothing.
    func effect(_ key: String) -> String? {
      node[key].map { String(decoding: $0.json(pretty: false), as: UTF8.self) }
    }
  }

  static func document(_ volume: MountEntry) throws -> ScenarioDocument {
    let name = TerminalText.escaped(volume.mountPoint)
    let text = try RemoteCall.run(volume, "cannot read the scenario of \(name)") { try await $0.scenario() }
    return try ScenarioFile.checked { () throws(ScenarioError) in
      try ScenarioDocument(parsing: text, name: "the daemon's answer")
    }
  }

  static func read(_ volume: MountEntry) throws -> [Entry] { entries(try document(volume)) }

  static func entries(_ document: ScenarioDocument) -> [Entry] {
    guard case .sequence(let nodes) = document.root["rules"]?.value else { return [] }
    return nodes.map { Entry(name: $0["name"]?.text ?? "", node: $0) }
  }

  /// Prints the rules that say something about `effect`: as lines of JSON, or as a table.
  static func print(_ entries: [Entry], effect: String, json: Bool, to output: StandardOutput) throws {
    for entry in entries {
      guard let value = entry.effect(effect) else { continue }
      if json {
        try output.line(bytes: entry.node.json(pretty: false))
      } else {
        let match = entry.effect("match").map { " for \($0)" } ?? ""
        try output.line(TerminalText.escaped("\(entry.name): \(value)\(match)"))
      }
    }
  }
}
