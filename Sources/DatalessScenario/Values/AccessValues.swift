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
    case .write: "The delay of each WRITE. Volumes are read-only, so it has no effect yet."
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

  static let noWrites = "volumes are read-only, so 'write' has no effect yet."
}
