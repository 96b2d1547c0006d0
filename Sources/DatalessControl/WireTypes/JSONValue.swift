/// Any JSON value: for parts of an answer that grow from version to version, such as options and fast paths.
public enum JSONValue: Codable, Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }

  /// One of some keys that is null, here or in what these keys have; nil if none is.
  func null(of keys: Set<String>) -> String? {
    switch self {
    case .array(let values): values.lazy.compactMap { $0.null(of: keys) }.first
    case .object(let fields):
      fields.lazy.filter { keys.contains($0.key) }.compactMap { $0.value == .null ? $0.key : $0.value.null(of: keys) }
        .first
    case .null, .bool, .integer, .number, .string: nil
    }
  }

  /// The value as text without quotes, for tables.
  public var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "yes" : "no"
    case .integer(let value): String(value)
    case .number(let value): "\(value)"
    case .string(let value): value
    case .array(let values): values.map(\.text).joined(separator: ",")
    case .object(let values):
      values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }.joined(separator: " ")
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral {
  public init(stringLiteral value: String) { self = .string(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
}
