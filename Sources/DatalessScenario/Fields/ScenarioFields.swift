/// The fields of one kind of mapping: what the decoder reads by, and what the schema is made of.
struct ScenarioFields<Target>: Sendable {
  /// With article, for messages: "a rule".
  let what: String
  let fields: [ScenarioField<Target>]
  /// What else the schema says of the whole mapping.
  var constraints: [ScenarioNode.Entry] = []
  /// Where fields that people put here by mistake belong.
  var elsewhere: [(names: [String], remedy: String)] = []

  /// - Returns: false, and a problem, if the node is no mapping or has fields that do not exist.
  @discardableResult
  func read(_ node: ScenarioNode, into target: inout Target, _ decoder: inout ScenarioDecoder) -> Bool {
    guard case .mapping(let entries) = node.value else {
      decoder.fail(node, "\(node.kindName) instead of \(what). Write 'field: value' pairs: \(names).")
      return false
    }
    var isComplete = true
    for entry in entries {
      guard let field = fields.first(where: { $0.name == entry.key }) else {
        decoder.fail(line: entry.line, column: entry.column, unknown(entry.key))
        isComplete = false
        continue
      }
      let before = decoder.problemCount
      field.read(&target, entry.value, &decoder)
      if decoder.problemCount > before { isComplete = false }
    }
    return isComplete
  }

  private var names: String { fields.map(\.name).joined(separator: ", ") }

  private func unknown(_ name: String) -> String {
    let start = "unknown field '\(Suggestion.quotable(name))' in \(what)."
    if let place = elsewhere.first(where: { $0.names.contains(name) }) { return "\(start) \(place.remedy)" }
    return "\(start)\(Suggestion.text(for: name, among: fields.map(\.name))) There are: \(names)."
  }

  var schema: ScenarioNode {
    var properties: [ScenarioNode.Entry] = []
    for field in fields {
      guard case .mapping(var entries) = field.schema.value else { continue }
      entries.insert(ScenarioNode.Entry(key: "description", value: .text(field.summary)), at: 0)
      properties.append(ScenarioNode.Entry(key: field.name, value: ScenarioNode(.mapping(entries))))
    }
    let object: ScenarioNode = .object([
      "type": .text("object"), "additionalProperties": .plain("false"),
      "properties": ScenarioNode(.mapping(properties)),
    ])
    guard case .mapping(let entries) = object.value else { return object }
    return ScenarioNode(.mapping(entries + constraints))
  }
}

/// A field of a mapping.
struct ScenarioField<Target>: Sendable {
  let name: String
  /// Meaning, unit, range and default: the schema's description.
  let summary: String
  let schema: ScenarioNode
  let read: @Sendable (inout Target, ScenarioNode, inout ScenarioDecoder) -> Void

  init<Result>(
    _ name: String, summary: String, value: ScenarioValue<Result>,
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
