import FoundationEssentials

/// Any JSON value, as a schema looks at it.
public enum JSONTree: Decodable, Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Double)
  case number(Double)
  case string(String)
  case array([JSONTree])
  case object([String: JSONTree])

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(Double(value))
    } else if let value = try? container.decode(UInt64.self) {
      self = .integer(Double(value))
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONTree].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONTree].self))
    }
  }

  public init(parsing bytes: some Sequence<UInt8>) throws {
    self = try JSONDecoder().decode(JSONTree.self, from: Data(bytes))
  }

  public subscript(key: String) -> JSONTree? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  public var object: [String: JSONTree] { if case .object(let members) = self { members } else { [:] } }
  public var array: [JSONTree] { if case .array(let elements) = self { elements } else { [] } }
  public var string: String? { if case .string(let value) = self { value } else { nil } }

  var double: Double? {
    switch self {
    case .integer(let value), .number(let value): value
    default: nil
    }
  }

  /// As `type` of a schema has it; an integer is a number, too.
  var type: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .integer: "integer"
    case .number: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}
