import DatalessControl
import DatalessScenario
import SchemaCheck
import Testing

/// What the files docs/schemas/*.schema.json are made of: the components of docs/openapi.yaml, which describe what the
/// daemon answers, and docs/schemas/answers.yaml and records.yaml, which describe the rest.
struct SchemaSources {
  static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
  private static let prefix = "#/components/schemas/"

  private let answers: ScenarioNode
  private let records: ScenarioNode
  /// Of all three.
  let components: [ScenarioNode.Entry]
  /// Names that stand in two of them.
  let doubles: [String]

  init() throws {
    func read(_ name: String) throws -> ScenarioNode {
      try ScenarioNode(parsing: try FileBytes.read("\(Self.root)/docs/\(name)"), name: name)
    }
    answers = try read("schemas/answers.yaml")
    records = try read("schemas/records.yaml")
    let all = try [try read("openapi.yaml"), answers, records].flatMap { node in
      try Self.entries(node["components"]?["schemas"])
    }
    components = all
    var seen: Set<String> = []
    doubles = all.map(\.key).filter { !seen.insert($0).inserted }
  }

  static func entries(_ node: ScenarioNode?) throws -> [ScenarioNode.Entry] {
    guard case .mapping(let entries) = try #require(node).value else { return [] }
    return entries
  }

  /// The elements of a list of texts; none of anything else.
  static func texts(_ node: ScenarioNode?) -> [String] {
    guard case .sequence(let nodes)? = node?.value else { return [] }
    return nodes.compactMap(\.text)
  }

  var files: [ScenarioNode.Entry] { get throws { try Self.entries(answers["files"]) } }
  var recordTypes: [String] { get throws { try Self.entries(records["records"]).map(\.key) } }

  /// The components that any file describes.
  var described: Set<String> {
    get throws {
      try files.reduce(into: []) { names, file in
        guard case .mapping(let entries)? = try document(file)["$defs"]?.value else { return }
        names.formUnion(entries.map(\.key))
      }
    }
  }

  /// A schema of one component alone.
  func schema(of component: String) throws -> Schema {
    try Schema(try document([component], "", replacing: [:]).json(pretty: false), definition: component)
  }

  func document(_ file: ScenarioNode.Entry) throws -> ScenarioNode {
    let description = file.value["description"]?.text ?? ""
    guard let form = file.value["records"]?.text else {
      return try document(Self.texts(file.value["lines"]), description, replacing: [:])
    }
    // Where a process is a number in the file, `dataless log --json` has all that is known of it.
    let replaced = form == "expanded" ? ["LoggedProcess": "ExpandedProcess"] : [:]
    return try document(try recordTypes, description, replacing: replaced)
  }

  /// - Parameter roots: Components or types of records, one of which each line is.
  private func document(
    _ roots: [String], _ description: String, replacing replaced: [String: String]
  ) throws -> ScenarioNode {
    var definitions: [ScenarioNode.Entry] = []
    var names = roots
    var index = 0
    while index < names.count {
      let name = names[index]
      index += 1
      var found: [String] = []
      let body = Self.closed(try self.body(replaced[name] ?? name), &found)
      definitions.append(ScenarioNode.Entry(key: name, value: body))
      for name in found where !names.contains(name) { names.append(name) }
    }
    let references = roots.map { ScenarioNode.object(["$ref": .text("#/$defs/\($0)")]) }
    var entries = [
      ScenarioNode.Entry(key: "$schema", value: .text("https://json-schema.org/draft/2020-12/schema")),
      ScenarioNode.Entry(key: "description", value: .text(description)),
    ]
    entries.append(
      roots.count == 1
        ? ScenarioNode.Entry(key: "$ref", value: .text("#/$defs/\(roots[0])"))
        : ScenarioNode.Entry(key: "oneOf", value: .list(references)))
    entries.append(ScenarioNode.Entry(key: "$defs", value: ScenarioNode(.mapping(definitions))))
    return ScenarioNode(.mapping(entries))
  }

  private func body(_ name: String) throws -> ScenarioNode {
    if let component = components.first(where: { $0.key == name }) { return component.value }
    let record = try #require(
      try Self.entries(records["records"]).first { $0.key == name }?.value, "\(name) is nowhere")
    let common = try #require(records["common"])
    let type = ScenarioNode.Entry(key: "type", value: .object(["const": .text(name)]))
    let properties = try Self.entries(common["properties"]) + [type] + Self.entries(record["properties"])
    return .object([
      "type": .text("object"),
      "required": .list((Self.texts(common["required"]) + Self.texts(record["required"])).map { .text($0) }),
      "properties": ScenarioNode(.mapping(properties)),
    ])
  }

  /// References made local, and objects that name their properties without any others.
  private static func closed(_ node: ScenarioNode, _ found: inout [String]) -> ScenarioNode {
    switch node.value {
    case .scalar: return node
    case .sequence(let nodes): return .list(nodes.map { closed($0, &found) })
    case .mapping(var entries):
      for index in entries.indices {
        let entry = entries[index]
        if entry.key == "$ref", let text = entry.value.text, text.hasPrefix(prefix) {
          let name = String(text.dropFirst(prefix.count))
          found.append(name)
          entries[index].value = .text("#/$defs/\(name)")
        } else {
          entries[index].value = closed(entry.value, &found)
        }
      }
      let keys = Set(entries.map(\.key))
      if keys.contains("properties"), !keys.contains("additionalProperties") {
        entries.append(ScenarioNode.Entry(key: "additionalProperties", value: .plain("false")))
      }
      return ScenarioNode(.mapping(entries))
    }
  }
}
