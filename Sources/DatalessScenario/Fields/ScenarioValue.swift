/// One kind of value: how it is read, and what JSON Schema says of it; side by side, so that they stay the same.
struct ScenarioValue<Result>: Sendable {
  let schema: ScenarioNode
  /// nil when a problem was reported.
  let read: @Sendable (ScenarioNode, inout ScenarioDecoder) -> Result?

  init(
    schema: ScenarioNode, read: @escaping @Sendable (ScenarioNode, inout ScenarioDecoder) -> Result?
  ) {
    self.schema = schema
    self.read = read
  }

  func map<Other>(_ transform: @escaping @Sendable (Result) -> Other) -> ScenarioValue<Other> {
    ScenarioValue<Other>(schema: schema) { node, decoder in read(node, &decoder).map(transform) }
  }

  /// This value under a name of the schema's `$defs`.
  func named(_ name: String) -> ScenarioValue {
    ScenarioValue(schema: .object(["$ref": .text("#/$defs/\(name)")]), read: read)
  }
}
