import ArgumentParser
import DatalessControl
import DatalessScenario

/// `dataless fault`: planned failures.
struct FaultCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fault",
    abstract: "Have materializations fail on purpose: add, list and remove faults.",
    discussion: """
      EXAMPLES
        dataless fault add /mnt/project EIO --path '*.jpg'
        dataless fault remove /mnt/project rule-1

      EXIT STATUS
        0 done; 1 failure; 2 usage error, also an invalid rule; 3 no such volume, or its daemon is not running; 4 timed out.
      """,
    subcommands: [FaultAddCommand.self, FaultListCommand.self, FaultRemoveCommand.self])
}

/// `dataless fault add`: a rule with a fault.
struct FaultAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Have attempts that match fail; prints the name of the new rule.",
    discussion: """
      All callers that wait for an attempt get the same outcome, and the log names the rule. Without conditions every \
      attempt fails.

      EXAMPLES
        dataless fault add /mnt/project EIO --path 'photos/**' --attempt '{first: 1}'
        dataless fault add /mnt/project ETIMEDOUT --after 60% --exe tar --kind file

      EXIT STATUS
        0 added; 1 failure; 2 usage error, also an invalid rule; 3 no such volume, or its daemon is not running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Argument(
    help: ArgumentHelp(
      "An errno by its name, never (no end), wrong_size (fewer bytes than listed) or superseded (ESTALE after all was read).",
      valueName: "fault"), completion: Completions.fault)
  var fault: String

  @Option(
    help: ArgumentHelp("Fail when so much has arrived, such as 60% or 1MB. [default: nothing]", valueName: "size"))
  var after: String?

  @Flag(help: "Fail before gate, queue and latency. [default: after the latency]")
  var atOnce = false

  @OptionGroup var options: RuleOptions

  @Flag(help: "Print a JSON object with the rule's name and the warnings. [default: the rule's name]")
  var json = false

  func run() throws {
    var value: ScenarioNode = .text(fault)
    if after != nil || atOnce {
      let isErrno = !["never", "wrong_size", "superseded"].contains(fault)
      var entries = [ScenarioNode.Entry(key: isErrno ? "errno" : "outcome", value: .text(fault))]
      if let after { entries.append(ScenarioNode.Entry(key: "after", value: .text(after))) }
      if atOnce { entries.append(ScenarioNode.Entry(key: "at_once", value: .plain("true"))) }
      value = ScenarioNode(.mapping(entries))
    }
    try options.add([ScenarioNode.Entry(key: "fault", value: value)], to: mountpoint, json: json)
  }
}

/// `dataless fault list`: the rules with a fault.
struct FaultListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the rules with a fault, those that decide first at the top.",
    discussion: """
      EXAMPLES
        dataless fault list /mnt/project
        dataless fault list /mnt/project --json

      EXIT STATUS
        0 listed (also when there are none); 1 failure; 2 usage error; 3 no such volume, or its daemon is not running; \
      4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Flag(help: "Print each rule as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    let output = StandardOutput()
    let rules = try RuleList.read(try VolumeLocator.volume(mountpoint.bytes))
    try RuleList.print(rules, effect: "fault", json: json, to: output)
    try output.flush()
  }
}

/// `dataless fault remove`: removes such a rule.
struct FaultRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a rule with a fault.",
    discussion: """
      EXAMPLES
        dataless fault remove /mnt/project rule-1
        dataless fault remove /mnt/project broken-photos --json

      EXIT STATUS
        0 removed; 1 failure; 2 usage error, also when there is no such rule; 3 no such volume, or its daemon is not \
      running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Argument(
    help: ArgumentHelp("The rule's name, from `fault list`.", valueName: "name"), completion: Completions.rule)
  var name: String

  @Flag(help: "Print the number of rules and the warnings as a JSON object. [default: print nothing]")
  var json = false

  func run() throws { try RuleOptions.remove(name, "fault", from: mountpoint, json: json) }
}
