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
      "present": PresentationValues.table.schema,
      "latency": BasicValues.anyOf([BasicValues.duration.schema, LatencyValues.table.schema]),
    ])
    guard case .mapping(let first) = head.value,
      case .mapping(let document) = ScenarioFieldTables.document.schema.value
    else { return head }
    return ScenarioNode(.mapping(first + document + [ScenarioNode.Entry(key: "$defs", value: definitions)]))
  }()
}
