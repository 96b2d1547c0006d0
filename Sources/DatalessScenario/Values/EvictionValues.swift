internal import DatalessCore

/// Evictions by the system: `evict` of a rule.
enum EvictionValues {
  static let names = ["idle", "after_materialization", "before_first_read"]

  static let table = ScenarioFields<SystemEviction>(
    what: "an eviction",
    fields: [
      ScenarioField(
        "idle",
        summary: "So long after the last close of the file, or after its materialization if nobody had it open.",
        value: BasicValues.duration
      ) { $0.idle = $1 },
      ScenarioField(
        "after_materialization",
        summary: "So long after the file's materialization; one that is open then is evicted when it is closed.",
        value: BasicValues.duration
      ) { $0.afterMaterialization = $1 },
      ScenarioField(
        "before_first_read",
        summary:
          "Whether an open of a resident file evicts it before the open is answered, if no other handle is open.",
        value: BasicValues.flag
      ) { $0.beforeFirstRead = $1 },
    ],
    constraints: [
      ScenarioNode.Entry(
        key: "anyOf", value: .list(names.map { .object(["required": .list([.text($0)])]) }))
    ])

  static let eviction = ScenarioValue<SystemEviction>(schema: table.schema) { node, decoder in
    var eviction = SystemEviction()
    guard table.read(node, into: &eviction, &decoder) else { return nil }
    if eviction == SystemEviction(), node["before_first_read"] == nil {
      decoder.fail(node, "an eviction that never comes. Give it at least one of \(names.joined(separator: ", ")).")
      return nil
    }
    return eviction
  }

  /// Why a rule that evicts can never match; nil if it can.
  static func contradiction(of match: RuleMatch) -> String? {
    if match.kind == .directory { return "rules evict files only, so this one never does. Remove 'kind', or 'evict'." }
    if !match.triggers.isEmpty || match.process != nil || match.ancestor != nil {
      return "the system evicts by itself, so there is no trigger and no process. Remove 'trigger', 'process' and "
        + "'ancestor', or give 'evict' a rule of its own."
    }
    if match.countsAttempts {
      return "'nth' counts attempts, and the system evicts files. Remove 'nth', or give 'evict' a rule of its own."
    }
    return nil
  }
}
