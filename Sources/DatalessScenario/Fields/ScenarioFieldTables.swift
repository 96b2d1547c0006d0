internal import DatalessCore

/// The fields at the top of a scenario.
enum ScenarioFieldTables {
  /// What can be changed one by one on a live volume: everything but `version` and `rules`.
  static let settings: [ScenarioField<ScenarioDraft>] = [
    ScenarioField(
      "seed",
      summary: "For everything that is chosen by chance, 0 to 18446744073709551615: the same seed gives the same "
        + "delays and faults. Default 0.",
      value: BasicValues.integer(0...UInt64.max, "a whole number from 0 to 18446744073709551615")
    ) { $0.simulation.seed = $1 },
    ScenarioField(
      "latency", summary: "The delay before the fetch of a file's content. Default 0.", value: LatencyValues.latency
    ) {
      $0.simulation.latency = $1
    },
    ScenarioField(
      "directory_latency", summary: "The delay before the listing of a directory. Default 0.",
      value: LatencyValues.directoryLatency
    ) { $0.simulation.directoryLatency = $1 },
    ScenarioField(
      "bandwidth",
      summary: "Bytes per second that all transfers share, at least 1, such as 20MB/s. Default none: as fast as "
        + "the disk.",
      value: BasicValues.orNone(BasicValues.rate)
    ) { $0.simulation.bandwidth = $1 },
    ScenarioField(
      "transfer_bandwidth", summary: "Bytes per second of each single transfer, at least 1. Default none.",
      value: BasicValues.orNone(BasicValues.rate)
    ) { $0.simulation.transferBandwidth = $1 },
    ScenarioField(
      "concurrency",
      summary: "How many files may be in latency and transfer at once, 1 to 1000000; others wait in a queue. "
        + "Default none: no limit.",
      value: BasicValues.orNone(BasicValues.integer(1...1_000_000, "a whole number from 1 to 1000000"))
    ) { $0.simulation.concurrency = $1.map { Int($0) } },
    ScenarioField(
      "quota",
      summary:
        "How much local content there may be, such as 2GiB, trash and dirty content included: what was used least "
        + "recently is evicted for more, and where nothing can go, ENOSPC. Default none: as much as the disk has.",
      value: BasicValues.orNone(BasicValues.positiveSize)
    ) { $0.simulation.quota = $1 },
    ScenarioField(
      "reserve",
      summary:
        "Room that does not count as free for what nobody has asked for ('opportunistic' of 'dataless capacity'), such as 200MB. "
        + "Default 0.",
      value: BasicValues.size
    ) { $0.simulation.reserve = $1 },
    ScenarioField(
      "areas",
      summary:
        "What the data in some directories is for, and so what is purged when room is short, and what a backup has: a list, ios (the "
        + "volume is the data of one app there), or none. Default none.",
      value: AreaValues.areas
    ) { $0.simulation.areas = $1 },
    ScenarioField(
      "hydration",
      summary:
        "How much of a file an attempt brings in: full (all, then answers), progressive (all, answers as it arrives) or "
        + "partial (what was asked for). Default full.",
      value: hydration
    ) { $0.simulation.hydration = $1 },
    ScenarioField(
      "observe",
      summary:
        "Which reads are recorded: off (those of files that were dataless when they were opened) or reads (all of them: read(2) to "
        + "the byte, mappings and exec by pages; later opens cost a request for each read). Holds for later opens. Default off; "
        + "'dataless run': reads.",
      value: BasicValues.word("mode", Observation.allCases.map { ($0.rawValue, $0) })
    ) { $0.simulation.observation = $1 },
    ScenarioField(
      "stacks",
      summary: "Of which waits the caller's stack goes into the log: off, first (of each process for each attempt), "
        + "all, or over=DURATION (those that have lasted so long). Default off.",
      value: BasicValues.stacks
    ) { $0.simulation.stacks = $1 },
    ScenarioField(
      "watchdog",
      summary:
        "When a main thread that waits counts as hanging, and what is done then: off, DURATION, ACTION=DURATION (log, report or "
        + "abort), or a mapping, which can name the processes that count. Holds for later waits. Default off.",
      value: WatchdogValues.watchdog.named("watchdog")
    ) { $0.simulation.watchdog = $1 },
    ScenarioField(
      "interrupt",
      summary: "Which signals end a wait, with EINTR: fatal (those that end the process) or any. Default fatal.",
      value: BasicValues.word("mode", Simulation.InterruptMode.allCases.map { ($0.rawValue, $0) })
    ) { $0.simulation.interrupt = $1 },
    ScenarioField(
      "give_up_after",
      summary:
        "An attempt older than this fails with ETIMEDOUT, or as the profile says; more than 0. Default none: never.",
      value: BasicValues.orNone(positiveDuration)
    ) { $0.simulation.giveUpAfter = $1 },
    ScenarioField(
      "offline",
      summary: "Whether the store is unreachable: attempts fail at once with ETIMEDOUT, or as the profile "
        + "says. Default off.",
      value: BasicValues.flag
    ) { $0.simulation.isOffline = $1 },
    ScenarioField(
      "materialize",
      summary: "Whether callers that have set nothing for themselves may materialize; off: they are refused at once "
        + "(EDEADLK, or as the profile says). "
        + "Default on.",
      value: BasicValues.flag
    ) { $0.simulation.materialize = $1 },
    ScenarioField(
      "profile",
      summary:
        "What materializes, and with which errnos it fails: macos, open, windows, openvfs, or a mapping. Default macos.",
      value: ProfileValues.profile
    ) { $0.simulation.profile = $1 },
    ScenarioField(
      "present", summary: "How metadata looks. Changed in parts, too: present.blocks and so on.",
      value: PresentationValues.presentation
    ) { $0.simulation.presentation = $1 },
    ScenarioField(
      "access",
      summary:
        "The delay of calls on what is local, as on a network file system or a slow disk: lookup, getattr, open, read, write. "
        + "Changed in parts, too: access.read and so on. Default: none is delayed.",
      value: AccessValues.access
    ) { $0.simulation.access = $1 },
    ScenarioField(
      "poll",
      summary:
        "How long after one refresh of all that is listed the next one begins; at least 100ms. Default none: SOURCE is looked "
        + "at again only by 'dataless refresh'.",
      value: BasicValues.orNone(pollInterval)
    ) { $0.simulation.poll = $1 },
  ]

  static let hydration = BasicValues.word("hydration", Hydration.allCases.map { ($0.rawValue, $0) })

  static let document = ScenarioFields<ScenarioDraft>(
    what: "a scenario",
    fields: [version] + settings + [
      ScenarioField(
        "rules",
        summary: "Exceptions, the most important first: each part is decided by the first rule that matches and says "
          + "something about it. At most 100000.",
        value: rules
      ) { $0.rules = $1 },
      ScenarioField(
        "expect",
        summary:
          "What is expected of the programs, and held against the log by 'dataless run' and 'dataless check-log'. At most "
          + "1000.",
        value: ExpectFields.list
      ) { $0.expectations = $1 },
    ],
    elsewhere: [
      (["fault", "gate", "name", "match"], "It belongs in a rule: 'rules: [{match: {path: \"*\"}, fault: EIO}]'."),
      (ExpectFields.boundNames, "It belongs in an expectation: 'expect: [{max_files: 10}]'."),
      (["gates"], "A gate exists by the rules that name it: write 'gate: NAME' in a rule."),
      (RuleFields.matchNames, "It is a condition: put it under 'match' of a rule."),
      (["blocks", "ctime", "seek", "state", "subtype"], "It is about metadata: put it under 'present'."),
      (["files", "directories", "errnos", "base"], "It is about what materializes: put it under 'profile'."),
      (["category", "preset"], "It belongs in an area: 'areas: [{path: tmp, category: temporary}]'."),
      (AccessOperation.allCases.map(\.rawValue), "It is about calls on what is local: put it under 'access'."),
    ])

  private static let version = ScenarioField<ScenarioDraft>(
    "version", summary: "The version of this format: 1. Default 1.",
    value: ScenarioValue<Void>(schema: .object(["const": .plain("1")])) { node, decoder in
      guard let text = decoder.text(node, expected: "1") else { return nil }
      if text == "1" { return () }
      decoder.fail(
        node, "version '\(Suggestion.quotable(text))' of the format is unknown. This program reads version 1.")
      return nil
    }
  ) { _, _ in }

  private static let positiveDuration = ScenarioValue<Nanoseconds>(schema: BasicValues.duration.schema) {
    node, decoder in
    guard let value = BasicValues.duration.read(node, &decoder) else { return nil }
    if value > 0 { return value }
    decoder.fail(node, "after 0 every attempt would fail. Write 'offline: on' for that, or 'none' for no limit.")
    return nil
  }

  private static let pollInterval = ScenarioValue<Nanoseconds>(schema: BasicValues.duration.schema) { node, decoder in
    guard let value = BasicValues.duration.read(node, &decoder) else { return nil }
    if value >= .milliseconds(100) { return value }
    decoder.fail(node, "a poll would follow the other without a break. Write at least 100ms, or 'none' for no poll.")
    return nil
  }

  private static let rules = ScenarioValue<[RuleDraft]>(
    schema: .object([
      "type": .text("array"), "maxItems": .plain("\(ScenarioLimits.rules)"), "items": RuleFields.rule.schema,
    ])
  ) { node, decoder in
    guard case .sequence(let nodes) = node.value else {
      decoder.fail(node, "\(node.kindName) instead of a list. Start each rule with '- ', or write [] for none.")
      return nil
    }
    guard nodes.count <= ScenarioLimits.rules else {
      decoder.fail(node, tooManyRules(nodes.count))
      return nil
    }
    var drafts: [RuleDraft] = []
    drafts.reserveCapacity(nodes.count)
    for node in nodes {
      if decoder.problemCount >= ScenarioLimits.countedProblems { break }
      if let draft = RuleFields.rule.read(node, &decoder) { drafts.append(draft) }
    }
    return drafts
  }

  static func tooManyRules(_ count: Int) -> String {
    "\(count) rules; at most \(ScenarioLimits.rules) are possible. Use globs, or one rule with a list of paths."
  }
}

/// The JSON Schema of scenarios, made of the tables that the decoder reads by: docs/scenario.schema.json.
public enum ScenarioSchema {
  /// JSON Schema 2020-12, with line ends.
  public static func json() -> [UInt8] { node.json(pretty: true) }

  private static let node: ScenarioNode = {
    let head: ScenarioNode = .object([
      "$schema": .text("https://json-schema.org/draft/2020-12/schema"), "title": .text("A scenario of dataless"),
      "description": .text("What a volume of dataless files simulates; docs/SCENARIOS.md explains it."),
    ])
    let definitions: ScenarioNode = .object([
      "rule": RuleFields.table.schema, "match": RuleFields.matchTable.schema, "process": PathValues.table.schema,
      "fault": FaultValues.fault.schema, "eviction": EvictionValues.table.schema,
      "profile": BasicValues.anyOf([ProfileValues.base.schema, ProfileValues.table.schema]),
      "present": PresentationValues.table.schema, "access": AccessValues.table.schema,
      "rule_access": AccessValues.ruleTable.schema, "expectation": ExpectFields.table.schema,
      "expectation_match": ExpectFields.matchTable.schema,
      "latency": BasicValues.anyOf([BasicValues.duration.schema, LatencyValues.table.schema]),
      "watchdog": WatchdogValues.watchdog.schema, "area": AreaValues.table.schema,
    ])
    guard case .mapping(let first) = head.value,
      case .mapping(let document) = ScenarioFieldTables.document.schema.value
    else { return head }
    return ScenarioNode(.mapping(first + document + [ScenarioNode.Entry(key: "$defs", value: definitions)]))
  }()
}
