import ArgumentParser
import DatalessControl
import DatalessCore
import DatalessScenario

/// `dataless policy`: who may materialize.
struct PolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy",
    abstract: "Say who may materialize on a volume; others get EDEADLK at once.",
    usage: """
      dataless policy <mountpoint> [--json]
      dataless policy <mountpoint> (on | off)
      dataless policy <mountpoint> rule (on | off) [<conditions>]
      dataless policy <mountpoint> remove <rule>
      """,
    discussion: """
      What a thread or process has set for itself (setiopolicy_np, `dataless exec`) comes first, then rules, then the \
      volume's own answer, which 'on' and 'off' change. Without a word, shows both. A simulation, not access control.

      EXAMPLES
        dataless policy /mnt/project off
        dataless policy /mnt/project rule off --exe tracker-miner-fs-3 --kind file

      EXIT STATUS
        0 done; 1 failure; 2 usage error, also an invalid rule; 3 no such volume, or its daemon is not running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Argument(
    help: ArgumentHelp("on, off, rule on, rule off, or remove and a rule's name.", valueName: "word"),
    completion: Completions.policy)
  var words: [String] = []

  @OptionGroup var options: RuleOptions

  @Flag(help: "Print a JSON object. [default: text]")
  var json = false

  private enum Action {
    case show
    case setDefault(Bool)
    case addRule(Bool)
    case remove(String)
  }

  private func action() throws -> Action {
    func flag(_ word: String) -> Bool? { word == "on" ? true : word == "off" ? false : nil }
    switch words.count {
    case 0: return .show
    case 1: if let value = flag(words[0]) { return .setDefault(value) }
    case 2:
      if words[0] == "remove" { return .remove(words[1]) }
      if words[0] == "rule", let value = flag(words[1]) { return .addRule(value) }
    default: break
    }
    throw ValidationError(
      "malformed policy '\(words.joined(separator: " "))': expected on, off, rule on, rule off, or remove NAME (EINVAL)."
    )
  }

  func validate() throws {
    if case .addRule = try action() { return }
    guard !options.hasConditions, options.name == nil, !options.last else {
      throw ValidationError("conditions belong to a rule: write 'rule on' or 'rule off' before them (EINVAL).")
    }
  }

  func run() throws {
    switch try action() {
    case .show: try show()
    case .setDefault(let isOn):
      let change = try RemoteCall.run(mountpoint, failure: "cannot set the policy of \(mountpoint.description)") {
        client in
        try await client.changeSettings(["materialize": .bool(isOn)])
      }
      try ScenarioChangeReport.print(change, json: json)
    case .addRule(let isOn):
      try options.add(
        [ScenarioNode.Entry(key: "materialize", value: .plain(isOn ? "true" : "false"))], to: mountpoint, json: json)
    case .remove(let name): try RuleOptions.remove(name, "materialize", from: mountpoint, json: json)
    }
  }

  private func show() throws {
    let document = try RuleList.document(try VolumeLocator.volume(mountpoint.bytes))
    let output = StandardOutput()
    if json {
      let rules = document.simulation.rules.rules.compactMap { rule in
        rule.effects.materialize.map { PolicyAnswer.Rule(name: rule.name, materialize: $0) }
      }
      return try output.json(PolicyAnswer(materialize: document.simulation.materialize, rules: rules))
    }
    for line in Self.lines(document) { try output.line(line) }
    try output.flush()
  }

  /// Each rule that says something about it, then everybody else: in the words that `policy` takes.
  static func lines(_ document: ScenarioDocument) -> [String] {
    func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }
    let rules = zip(RuleList.entries(document), document.simulation.rules.rules).compactMap { entry, rule in
      rule.effects.materialize.map { RuleList.line(entry, word($0)) }
    }
    return rules + ["everybody else: \(word(document.simulation.materialize))"]
  }
}
