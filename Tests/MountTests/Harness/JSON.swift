import FoundationEssentials

/// Any JSON value: the tests look at the wire form, not through the product's own types.
enum JSON: Decodable, Sendable, Hashable, CustomStringConvertible {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  init(from decoder: any Decoder) throws {
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
    } else if let value = try? container.decode([JSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }

  init(parsing bytes: some Sequence<UInt8>) throws {
    self = try JSONDecoder().decode(JSON.self, from: Data(bytes))
  }

  subscript(key: String) -> JSON? {
    guard case .object(let members) = self, let member = members[key], member != .null else { return nil }
    return member
  }

  subscript(index: Int) -> JSON? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  var string: String? { if case .string(let value) = self { value } else { nil } }
  var int: Int? { if case .integer(let value) = self { Int(value) } else { nil } }
  var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  var array: [JSON] { if case .array(let elements) = self { elements } else { [] } }
  var object: [String: JSON] { if case .object(let members) = self { members } else { [:] } }

  var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let value): "\"\(value)\""
    case .array(let elements): "[\(elements.map(\.description).joined(separator: ", "))]"
    case .object(let members):
      "{\(members.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", "))}"
    }
  }
}
