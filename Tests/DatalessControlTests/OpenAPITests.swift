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

  /// What a request may have is what its type has: else the server refuses what the client sends.
  @Test func requestsMayHaveWhatTheirTypesHave() throws {
    let requests = WireSamples.all.values.compactMap { $0.full as? any WireRequest & Encodable }
    #expect(requests.count == 11)
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
