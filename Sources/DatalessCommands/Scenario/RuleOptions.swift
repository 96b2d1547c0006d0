import ArgumentParser
import DatalessControl
import DatalessScenario
import SystemPackage

/// For which attempts a rule holds, and where it stands: shared by `fault add` and `policy ... rule`.
struct RuleOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Paths, as a glob from the volume's root. Repeatable. [default: any]", valueName: "glob"))
  var path: [String] = []

  @Option(help: ArgumentHelp("Sizes, such as '>1MB' or 1k..4k. [default: any]", valueName: "size"))
  var size: String?

  @Option(help: ArgumentHelp("file, directory or any. [default: any]", valueName: "kind"))
  var kind: String?

  @Option(help: ArgumentHelp("Operations, such as read or lookup. Repeatable. [default: any]", valueName: "operation"))
  var trigger: [String] = []

  @Option(help: ArgumentHelp("The caller's executable, as a glob. [default: any]", valueName: "glob"))
  var exe: String?

  @Option(help: ArgumentHelp("The caller's command name, as a glob. [default: any]", valueName: "glob"))
  var comm: String?

  @Option(help: ArgumentHelp("The caller's cgroup, as a glob. [default: any]", valueName: "glob"))
  var cgroup: String?

  @Option(help: ArgumentHelp("The caller's user id. [default: any]", valueName: "uid"))
  var uid: UInt32?

  @Option(help: ArgumentHelp("Executable of any ancestor of the caller, as a glob. [default: any]", valueName: "glob"))
  var ancestor: String?

  @Option(
    help: ArgumentHelp("Attempts of an item: 3, 1..3, '{first: 2}' or '{every: 3}'. [default: any]", valueName: "n"))
  var attempt: String?

  @Option(
    help: ArgumentHelp("Time since the scenario was loaded, such as 0s..10s. [default: any]", valueName: "window"))
  var during: String?

  @Option(help: ArgumentHelp("0 to 1, or percent; decided by the seed. [default: 1]", valueName: "share"))
  var probability: String?

  @Option(help: ArgumentHelp("What the log and other commands call the rule. [default: rule-N]", valueName: "name"))
  var name: String?

  @Flag(help: "Put the rule behind the others. [default: before them, so that it decides]")
  var last = false

  /// Whether any condition is given.
  var hasConditions: Bool {
    !path.isEmpty || !trigger.isEmpty || uid != nil
      || [size, kind, exe, comm, cgroup, ancestor, attempt, during, probability].contains { $0 != nil }
  }

  /// The rule as YAML.
  ///
  /// - Parameter effects: What it does, by the fields of a rule.
  func rule(_ effects: [ScenarioNode.Entry]) throws -> String {
    var match: [ScenarioNode.Entry] = []
    func add(_ key: String, _ value: ScenarioNode?) {
      if let value { match.append(ScenarioNode.Entry(key: key, value: value)) }
    }
    add("path", path.isEmpty ? nil : .list(path.map { .text($0) }))
    // In a file, > would begin a text of several lines.
    add("size", size?.hasPrefix(">") == true ? size.map { .text($0) } : try Self.yaml(size))
    add("kind", kind.map { .text($0) })
    add("trigger", trigger.isEmpty ? nil : .list(trigger.map { .text($0) }))
    var process: [ScenarioNode.Entry] = []
    for (key, value) in [("exe", exe), ("comm", comm), ("cgroup", cgroup)] {
      if let value { process.append(ScenarioNode.Entry(key: key, value: .text(value))) }
    }
    if let uid { process.append(ScenarioNode.Entry(key: "uid", value: .plain("\(uid)"))) }
    add("process", process.isEmpty ? nil : ScenarioNode(.mapping(process)))
    add("ancestor", ancestor.map { .object(["exe": .text($0)]) })
    add("attempt", try Self.yaml(attempt))
    add("during", try Self.yaml(during))
    add("probability", try Self.yaml(probability))
    var rule: [ScenarioNode.Entry] = []
    if let name { rule.append(ScenarioNode.Entry(key: "name", value: .text(name))) }
    if !match.isEmpty { rule.append(ScenarioNode.Entry(key: "match", value: ScenarioNode(.mapping(match)))) }
    return String(decoding: ScenarioNode(.mapping(rule + effects)).json(pretty: false), as: UTF8.self)
  }

  /// A value as it would stand in a file.
  private static func yaml(_ text: String?) throws -> ScenarioNode? {
    guard let text else { return nil }
    return try ScenarioFile.checked { () throws(ScenarioError) in
      try ScenarioNode(parsing: Array(text.utf8), name: "'\(TerminalText.escaped(text))'")
    }
  }

  /// Adds the rule to a volume and says by which name it is known.
  func add(_ effects: [ScenarioNode.Entry], to mountpoint: PathArgument, json: Bool) throws {
    let rule = try rule(effects)
    let first = !last
    let change = try RemoteCall.run(mountpoint, failure: "cannot add a rule to \(mountpoint.description)") { client in
      try await client.addRule(.string(rule), first: first)
    }
    try ScenarioChangeReport.print(change, json: json)
    guard !json, let name = change.rule else { return }
    let output = StandardOutput()
    try output.line(TerminalText.escaped(name))
    try output.flush()
  }

  /// Removes a rule that has one of the effects.
  static func remove(_ name: String, _ effect: String, from mountpoint: PathArgument, json: Bool) throws {
    let what = "cannot remove rule '\(TerminalText.escaped(name))' from \(mountpoint.description)"
    let volume = try VolumeLocator.volume(mountpoint.bytes)
    let rules = try RuleList.read(volume)
    if let rule = rules.first(where: { $0.name == name }), rule.effect(effect) == nil {
      throw CommandFailure("\(what): it says nothing about '\(effect)' (EINVAL). `dataless scenario show` has it.")
    }
    do {
      let change = try RemoteCall.run(volume, failure: what) { client in try await client.removeRule(name) }
      try ScenarioChangeReport.print(change, json: json)
    } catch let error as ControlError where error.code == .invalidScenario {
      throw noSuchRule(error, from: mountpoint)
    }
  }

  /// The daemon's words have a place, `NAME:1:1`, as those about text have. This name is a word of the command line.
  static func noSuchRule(_ error: ControlError, from mountpoint: PathArgument) -> CommandFailure {
    let words = error.answer?.problems?.first?.message ?? error.message
    return CommandFailure(
      "cannot remove a rule of \(mountpoint.description): \(TerminalText.harmless(words))", status: .usage,
      code: .notFound, errno: .noSuchFileOrDirectory)
  }
}

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
    let text = try RemoteCall.run(volume, failure: "cannot read the scenario of \(name)") { try await $0.scenario() }
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
        try output.line(line(entry, value))
      }
    }
  }

  /// - Parameter value: What the rule says about the effect that is listed.
  static func line(_ entry: Entry, _ value: String) -> String {
    TerminalText.escaped("\(entry.name): \(value)\(entry.effect("match").map { " for \($0)" } ?? "")")
  }
}
