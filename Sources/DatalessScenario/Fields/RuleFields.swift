internal import DatalessCore

/// The fields of a rule and of its `match`.
enum RuleFields {
  static let rule = ScenarioValue<RuleDraft>(schema: table.schema) { node, decoder in
    var draft = RuleDraft(node: node)
    let replayed = decoder.replayed
    if node["match"]?["kind"]?.text == "directory" { decoder.replayed = .materializations(.directory) }
    defer { decoder.replayed = replayed }
    guard table.read(node, into: &draft, &decoder) else { return nil }
    if draft.effects.isEmpty {
      decoder.fail(
        node, "a rule that does nothing. Give it at least one of \(effectNames.joined(separator: ", ")).")
      return nil
    }
    if draft.effects.evict != nil, let reason = EvictionValues.contradiction(of: draft.match) {
      decoder.fail(node, reason)
      return nil
    }
    if !draft.effects.access.isEmpty, let reason = AccessValues.contradiction(of: draft.match) {
      decoder.fail(node, reason)
      return nil
    }
    if draft.match.kind == .directory, draft.effects.transferBandwidth != nil {
      decoder.warn(node, "directories have no transfer, so 'bandwidth' has no effect here. Use 'latency'.")
    }
    if draft.match.kind == .directory, draft.effects.hydration != nil {
      decoder.warn(node, "directories are listed whole, so 'hydration' has no effect here.")
    }
    if isCareless(node, draft) {
      decoder.warn(
        node,
        "this rule also holds when the process looks up names in dataless directories and lists them. Write 'kind: file' if "
          + "files are meant, else 'kind: any'.")
    }
    if draft.match.probability == 0 {
      decoder.warn(node, "with probability 0 this rule never matches. Remove it, or raise the probability.")
    }
    return draft
  }.named("rule")

  /// Whether a rule names processes and nothing by which its author would have thought of directories.
  private static func isCareless(_ node: ScenarioNode, _ draft: RuleDraft) -> Bool {
    let match = draft.match
    // One that only delays accesses names the operations.
    var others = draft.effects
    others.access = AccessDelay()
    guard !others.isEmpty else { return false }
    guard match.process != nil || match.ancestor != nil, node["match"]?["kind"] == nil else { return false }
    return match.triggers.isEmpty && match.size == nil
  }

  static let effectNames = [
    "latency", "bandwidth", "hydration", "fault", "gate", "materialize", "stack", "evict", "access",
  ]

  static let table = ScenarioFields<RuleDraft>(
    what: "a rule",
    fields: [
      ScenarioField(
        "name",
        summary:
          "What the log and the commands call the rule; unique. 1 to 64 letters, digits, '.', '-', '_'. Default: "
          + "rule-<n>, counted from 1.",
        value: BasicValues.name("a rule")
      ) { $0.name = $1 },
      ScenarioField(
        "match", summary: "For which attempts the rule holds: every given condition must. Default: for all.",
        value: match
      ) { $0.match = $1 },
      ScenarioField(
        "latency", summary: "The delay before the fetch or the listing, instead of the volume's.",
        value: LatencyValues.latency
      ) { $0.effects.latency = $1 },
      ScenarioField(
        "bandwidth",
        summary: "Bytes per second of each single transfer, at least 1, instead of transfer_bandwidth. Files only.",
        value: BasicValues.rate
      ) { $0.effects.transferBandwidth = $1 },
      ScenarioField(
        "hydration", summary: "How much of a file an attempt brings in: full, progressive or partial. Files only.",
        value: ScenarioFieldTables.hydration
      ) { $0.effects.hydration = $1 },
      ScenarioField(
        "fault", summary: "The attempt fails: an errno by name, never, wrong_size, superseded, or a mapping.",
        value: FaultValues.fault.named("fault")
      ) { $0.effects.fault = $1 },
      ScenarioField(
        "gate", summary: "The attempt is held until the gate of this name lets it go. 1 to 64 characters, as 'name'.",
        value: BasicValues.name("a gate")
      ) { $0.effects.gate = $1 },
      ScenarioField(
        "materialize", summary: "Whether callers may materialize; off: they are refused at once.",
        value: BasicValues.flag
      ) { $0.effects.materialize = $1 },
      ScenarioField(
        "stack",
        summary:
          "Whether the stacks of callers that wait go into the log, whatever 'stacks' says; also of calls that 'access' delays.",
        value: BasicValues.flag
      ) { $0.effects.stack = $1 },
      ScenarioField(
        "evict",
        summary:
          "When the system makes resident files dataless by itself: idle, after_materialization, before_first_read, alone or "
          + "together. Files only, and whoever calls.",
        value: EvictionValues.eviction.named("eviction")
      ) { $0.effects.evict = $1 },
      ScenarioField(
        "access",
        summary:
          "The delay of calls on what is local: lookup, getattr, open, read and write, instead of the volume's, operation by "
          + "operation; 0 takes it away.",
        value: AccessValues.ruleAccess
      ) { $0.effects.access = $1 },
    ],
    constraints: [
      ScenarioNode.Entry(
        key: "anyOf", value: .list(effectNames.map { .object(["required": .list([.text($0)])]) }))
    ],
    elsewhere: [
      (matchNames, "It is a condition: put it under 'match'."),
      (
        ["errno", "after", "at_once", "outcome"],
        "It is part of a fault: write 'fault: {errno: EIO, after: 1MB}'."
      ),
      (["transfer_bandwidth"], "In a rule it is called 'bandwidth'."),
      (EvictionValues.names, "It is part of an eviction: write 'evict: {idle: 500ms}'."),
      (AccessOperation.allCases.map(\.rawValue), "It is part of 'access': write 'access: {read: 5ms}'."),
    ])

  // MARK: - Conditions

  static let matchNames = [
    "path", "size", "kind", "trigger", "process", "ancestor", "attempt", "nth", "during", "probability",
  ]

  static let match = ScenarioValue<RuleMatch>(schema: matchTable.schema) { node, decoder in
    var match = RuleMatch()
    guard matchTable.read(node, into: &match, &decoder) else { return nil }
    if let contradiction = contradiction(of: match) {
      decoder.fail(node, "\(contradiction)")
      return nil
    }
    return match
  }.named("match")

  static let fileTriggers: Set<Trigger> = [.read, .write, .truncate, .openTruncate, .link, .copy, .seek]
  static let directoryTriggers: Set<Trigger> = [.readdir, .lookup]

  /// Why no attempt can meet all conditions; nil if one can.
  ///
  /// - Parameter never: What follows from it.
  static func contradiction(of match: RuleMatch, never: String = "so the rule never matches.") -> String? {
    if match.size != nil, match.kind == .directory { return "directories have no size, \(never) Remove 'size'." }
    if match.triggers.isEmpty { return nil }
    let words = Trigger.allCases.filter { match.triggers.contains($0) }.map(\.rawValue).joined(separator: ", ")
    if match.kind == .file, match.triggers.isSubset(of: directoryTriggers) {
      return "only directories are materialized by \(words), \(never) Remove 'kind', or use a trigger such as read."
    }
    if match.kind == .directory, match.triggers.isSubset(of: fileTriggers) {
      return "only files are materialized by \(words), \(never) Remove 'kind', or use readdir or lookup."
    }
    if match.size != nil, match.triggers.isSubset(of: directoryTriggers) {
      return "only directories are materialized by \(words), and they have no size, \(never) Remove 'size'."
    }
    return nil
  }

  static let matchTable = ScenarioFields<RuleMatch>(
    what: "'match'",
    fields: [
      ScenarioField(
        "path",
        summary:
          "A glob, or a list of which one must match. * and ? stop at slashes, ** does not; {a,b} is a or b; without a slash "
          + "the last component is meant, with one the whole path from the volume's root. Default: every path.",
        value: PathValues.globs
      ) { $0.paths = $1 },
      ScenarioField(
        "size",
        summary:
          "Size of the file: 4096, 4k, \">1MB\", \"<=4k\", \"1k..1M\" (both ends included). Directories have none.",
        value: RangeValues.size
      ) { $0.size = $1 },
      ScenarioField(
        "kind", summary: "file, directory, or any: both, which is the default.",
        value: BasicValues.word(
          "kind", [("file", MaterializationKind?.some(.file)), ("directory", .directory), ("any", nil)])
      ) { $0.kind = $1 },
      ScenarioField(
        "trigger", summary: "The operation, or a list of them. Default: any.",
        value: BasicValues.oneOrMore(BasicValues.word("trigger", Trigger.allCases.map { ($0.rawValue, $0) }))
      ) { $0.triggers = Set($1) },
      ScenarioField("process", summary: "The calling process.", value: PathValues.process) { $0.process = $1 },
      ScenarioField("ancestor", summary: "Any ancestor of the calling process, not itself.", value: PathValues.process)
      {
        $0.ancestor = $1
      },
      ScenarioField(
        "attempt", summary: "Which attempts of the item, counted from 1: 3, \"1..3\", \"3..\", {first: 2}, {every: 3}.",
        value: RangeValues.attempts
      ) {
        $0.attempts = $1.range
        $0.everyAttempt = $1.every
      },
      ScenarioField(
        "nth",
        summary:
          "Which of all the attempts that meet the other conditions, whatever the items, counted from 1: as 'attempt'.",
        value: RangeValues.attempts
      ) {
        $0.nth = $1.range
        $0.everyNth = $1.every
      },
      ScenarioField(
        "during", summary: "When, since the scenario was loaded: \"0s..10s\" (the end excluded), \"1m..\".",
        value: RangeValues.window
      ) { $0.window = $1 },
      ScenarioField(
        "probability",
        summary:
          "How likely the rule holds, 0 to 1 or percent; decided by the seed, the rule, the path and the attempt.",
        value: BasicValues.share
      ) { $0.probability = $1 },
    ],
    constraints: [
      ScenarioNode.Entry(
        key: "not",
        value: .object([
          "required": .list([.text("size"), .text("kind")]),
          "properties": .object(["kind": .object(["const": .text("directory")])]),
        ]))
    ],
    elsewhere: [
      (["name"] + effectNames, "It is no condition: put it beside 'match'."),
      (["exe", "comm", "cgroup", "uid"], "Write 'process: {exe: ...}' or 'ancestor: {exe: ...}'."),
      (
        ["first", "every"],
        "Write 'nth: {every: 10}' for all attempts that the rule matches, or 'attempt: {first: 2}' for those of each item."
      ),
    ])
}
