/// A field of a mapping.
struct ScenarioField<Target>: Sendable {
  let name: String
  /// Meaning, unit, range and default: the schema's description.
  let summary: String
  let schema: ScenarioNode
  let read: @Sendable (inout Target, ScenarioNode, inout ScenarioDecoder) -> Void

  init<Result>(
    _ name: String, _ summary: String, _ value: ScenarioValue<Result>,
    _ set: @escaping @Sendable (inout Target, Result) -> Void
  ) {
    self.name = name
    self.summary = summary
    schema = value.schema
    read = { target, node, decoder in
      if let result = value.read(node, &decoder) { set(&target, result) }
    }
  }
}
