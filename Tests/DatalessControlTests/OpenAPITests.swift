import DatalessControl
import DatalessScenario
import Testing

@testable import DatalessDaemon

/// docs/openapi.yaml against the routes of the server and the types that go over the wire.
@Suite struct OpenAPITests {
  typealias Object = [String: Any]

  private static func document() throws -> Object {
    let file = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let node = try ScenarioNode(parsing: try FileBytes.read("/\(file)/docs/openapi.yaml"), name: "openapi.yaml")
    return try #require(value(node) as? Object)
  }

  private static func value(_ node: ScenarioNode) -> Any {
    switch node.value {
    case .scalar: node.text ?? ""
    case .sequence(let nodes): nodes.map(value)
    case .mapping(let entries): Object(uniqueKeysWithValues: entries.map { ($0.key, value($0.value)) })
    }
  }

  private static func object(_ value: Any?, _ keys: String...) throws -> Object {
    var value = value
    for key in keys { value = try #require(value as? Object, "\(key)")[key] }
    return try #require(value as? Object)
  }

  /// The object at the root of what a value encodes to.
  private static func encoded(_ value: any Encodable) throws -> JSONObject {
    try #require(JSONObject(try WireCoding.encode(value)))
  }

  @Test func isOpenAPI() throws {
    #expect(try Self.document()["openapi"] as? String == "3.1.0")
  }

  @Test func everyRouteIsDocumentedAndEveryDocumentedRouteExists() throws {
    var documented: Set<String> = []
    for (path, operations) in try Self.object(try Self.document(), "paths") {
      for method in try #require(operations as? Object).keys { documented.insert("\(method.uppercased()) \(path)") }
    }
    #expect(documented == Set(ControlRoute.allCases.map(\.rawValue)))
  }

  @Test func operationsAreNamedAndSayWhatCanGoWrong() throws {
    var names: Set<String> = []
    for (path, operations) in try Self.object(try Self.document(), "paths") {
      for (method, operation) in try #require(operations as? Object) {
        let operation = try #require(operation as? Object)
        #expect(names.insert(try #require(operation["operationId"] as? String)).inserted)
        let responses = try Self.object(operation, "responses")
        #expect(responses["default"] != nil, "\(method) \(path)")
        #expect(responses.count >= 2, "\(method) \(path)")
      }
    }
  }

  @Test(arguments: WireSamples.all.keys.sorted())
  func schemaHasTheFieldsOfTheType(name: String) throws {
    let schema = try Self.object(try Self.document(), "components", "schemas", name)
    let sample = try #require(WireSamples.all[name])
    let properties = try Self.object(schema, "properties")
    #expect(Set(properties.keys) == Set(try Self.encoded(sample.full).keys))
    #expect(Set(schema["required"] as? [String] ?? []) == Set(try Self.encoded(sample.least).keys))
  }

  /// An Int32 is an integer of format int32, and so on down to the elements of lists.
  @Test(arguments: WireSamples.all.keys.sorted())
  func schemaHasTheTypesOfTheFields(name: String) throws {
    let document = try Self.document()
    let schema = try Self.object(document, "components", "schemas", name)
    let sample = try #require(WireSamples.all[name])
    for value in [sample.full, sample.least] {
      #expect(Self.differences(try WireShape(of: value), schema, in: document, at: name) == [])
    }
  }

  @Test func aWrongTypeIsFound() {
    let shape = WireShape.object(["a": .scalar("integer/int64"), "b": .array([.scalar("string")])])
    func found(_ first: Object, _ second: Object) -> Int {
      Self.differences(shape, ["type": "object", "properties": ["a": first, "b": second]], in: [:], at: "").count
    }
    let (number, texts): (Object, Object) = (
      ["type": "integer", "format": "int64"], ["type": "array", "items": ["type": "string"]]
    )
    #expect(found(number, texts) == 0)
    #expect(found(["type": "integer", "format": "int32"], texts) == 1)
    #expect(found(["type": "string"], texts) == 1)
    #expect(found(number, ["type": "array", "items": number]) == 1)
    #expect(found(number, ["type": "string"]) == 1)
  }

  /// What a schema says of the types of a value that are others, each with its place.
  private static func differences(
    _ shape: WireShape, _ schema: Any?, in document: Object, at place: String
  ) -> [String] {
    guard let schema = schema as? Object else { return ["\(place) has no schema"] }
    if let reference = schema["$ref"] as? String {
      let target = reference.split(separator: "/").dropFirst().reduce(document as Any?) { ($0 as? Object)?[String($1)] }
      return differences(shape, target, in: document, at: place)
    }
    let type = schema["type"] as? String ?? "nothing"
    let form = (schema["format"] as? String).map { "\(type)/\($0)" } ?? type
    func wrong(_ wanted: String) -> [String] { ["\(place) is \(wanted), not \(form)"] }
    switch shape {
    case .anything: return []
    case .scalar("integer/unsigned"):
      // There is no format for 64 bits without a sign; a request may ask for fewer.
      let minimum = (schema["minimum"] as? String).flatMap { Int($0) } ?? -1
      let isBounded = schema["format"] == nil || schema["maximum"] != nil
      return type == "integer" && minimum >= 0 && isBounded ? [] : wrong("integer/unsigned")
    case .scalar(let wanted): return form == wanted ? [] : wrong(wanted)
    case .array(let elements):
      guard type == "array" else { return wrong("array") }
      return elements.flatMap { differences($0, schema["items"], in: document, at: "\(place)[]") }
    case .object(let members):
      let properties = schema["properties"] as? Object ?? [:]
      guard type == "object" else { return wrong("object") }
      return members.flatMap { key, member in
        if properties[key] == nil, schema["additionalProperties"] as? String == "true" { return [String]() }
        return differences(
          member, properties[key] ?? schema["additionalProperties"], in: document, at: "\(place).\(key)")
      }
    }
  }

  /// What a request may have is what its type has: else the server refuses what the client sends.
  @Test func requestsMayHaveWhatTheirTypesHave() throws {
    let requests = WireSamples.all.values.compactMap { $0.full as? any WireRequest & Encodable }
    #expect(requests.count == 15)
    for request in requests {
      #expect(Set(type(of: request).keys) == Set(try Self.encoded(request).keys), "\(type(of: request))")
    }
  }

  @Test func everySchemaHasASample() throws {
    let schemas = try Self.object(try Self.document(), "components", "schemas")
    #expect(Set(schemas.keys) == Set(WireSamples.all.keys))
  }

  @Test func everyReferenceLeadsSomewhere() throws {
    let document = try Self.document()
    func check(_ value: Any) {
      if let object = value as? Object {
        if let reference = object["$ref"] as? String {
          let place = reference.split(separator: "/").dropFirst().reduce(document as Any?) { value, key in
            (value as? Object)?[String(key)]
          }
          #expect(place != nil, "\(reference)")
        }
        for value in object.values { check(value) }
      }
      for value in value as? [Any] ?? [] { check(value) }
    }
    check(document)
  }
}
