internal import DatalessCore

/// Delays of calls on what is local: `access` of a scenario or of a rule.
enum AccessValues {
  static let table = ScenarioFields<AccessDelay>(
    what: "'access'",
    fields: AccessOperation.allCases.map { operation in
      ScenarioField(operation.rawValue, summary: summary(operation), value: latency(of: operation)) {
        $0[operation] = $1
      }
    },
    elsewhere: [
      (["stat", "statx"], "Write 'lookup' for the way to the name, and 'getattr' for its attributes."),
      (
        ["readdir", "opendir"],
        "A directory is read and opened, too: write 'read' and 'open', in a rule with 'kind: directory'."
      ),
      (["latency"], "Write one latency for each operation: 'access: {lookup: 1ms, read: 5ms}'."),
    ])

  /// In a rule an operation may be held at a gate, too.
  static let ruleTable = ScenarioFields<AccessDelay>(
    what: "'access'",
    fields: AccessOperation.allCases.map { operation in
      ScenarioField(
        operation.rawValue, summary: summary(operation) + " Or {gate: NAME}: it is held until the gate lets it go.",
        value: effect(of: operation)
      ) { $0.setEffect($1, on: operation) }
    }, elsewhere: table.elsewhere)

  static let ruleAccess = ScenarioValue<AccessDelay>(schema: ruleTable.schema) { node, decoder in
    var access = AccessDelay()
    return ruleTable.read(node, into: &access, &decoder) ? access : nil
  }.named("rule_access")

  static let gateTable = ScenarioFields<String?>(
    what: "what holds an access",
    fields: [
      ScenarioField(
        "gate", summary: "The call is held until the gate of this name lets it go. 1 to 64 characters, as 'name'.",
        value: BasicValues.name("a gate")
      ) { $0 = $1 }
    ],
    constraints: [ScenarioNode.Entry(key: "required", value: .list([.text("gate")]))])

  private static func effect(of operation: AccessOperation) -> ScenarioValue<AccessEffect> {
    let latency = latency(of: operation)
    return ScenarioValue(schema: BasicValues.anyOf([latency.schema, gateTable.schema])) { node, decoder in
      guard node["gate"] != nil else { return latency.read(node, &decoder).map { .delay($0) } }
      var gate: String?
      guard gateTable.read(node, into: &gate, &decoder) else { return nil }
      return gate.map { .gate($0) }
    }
  }

  /// The whole value: of what it leaves out nothing is said.
  static let access = ScenarioValue<AccessDelay>(schema: table.schema) { node, decoder in
    var access = AccessDelay()
    return table.read(node, into: &access, &decoder) ? access : nil
  }.named("access")

  private static func summary(_ operation: AccessOperation) -> String {
    switch operation {
    case .lookup: "The delay of each LOOKUP of a name that is there."
    case .getattr: "The delay of each GETATTR: what stat(2) asks for."
    case .open: "The delay of each open(2) and opendir(3)."
    case .read:
      "The delay of each READ of local content that brings bytes, and of each READDIR that brings names; per_mebibyte counts "
        + "the bytes that it brings."
    case .write:
      "The delay of each WRITE, on a volume that is mounted with --scratch or --state; per_mebibyte counts its bytes."
    }
  }

  /// As any latency, with `replay` of the accesses of a log.
  private static func latency(of operation: AccessOperation) -> ScenarioValue<LatencyModel> {
    ScenarioValue(schema: LatencyValues.latency.schema) { node, decoder in
      let before = decoder.replayed
      decoder.replayed = .accesses(operation)
      defer { decoder.replayed = before }
      return LatencyValues.latency.read(node, &decoder)
    }
  }

  /// Why a rule that delays accesses can never match; nil if it can.
  static func contradiction(of match: RuleMatch) -> String? {
    guard !match.triggers.isEmpty || match.attempts != nil || match.everyAttempt != nil || match.countsAttempts else {
      return nil
    }
    return
      "'access' delays calls that are no attempts, and names their operations itself. Remove 'trigger', 'attempt' and 'nth', or "
      + "give 'access' a rule of its own."
  }
}
