import FoundationEssentials

/// A JSON text as a test looks at it, read by FoundationEssentials: not by the code that wrote it.
enum ParsedJSON: Decodable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case string(String)
  case array([ParsedJSON])
  case object([String: ParsedJSON])

  init(_ text: String) throws { self = try JSONDecoder().decode(ParsedJSON.self, from: Data(text.utf8)) }

  init(bytes: some Sequence<UInt8>) throws { self = try JSONDecoder().decode(ParsedJSON.self, from: Data(bytes)) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([ParsedJSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: ParsedJSON].self))
    }
  }

  subscript(key: String) -> ParsedJSON? {
    if case .object(let fields) = self { return fields[key] }
    return nil
  }

  var string: String? {
    if case .string(let value) = self { return value }
    return nil
  }

  var integer: Int64? {
    if case .integer(let value) = self { return value }
    return nil
  }

  var array: [ParsedJSON]? {
    if case .array(let value) = self { return value }
    return nil
  }

  /// The bytes behind a base64 text.
  var decodedBytes: [UInt8]? { string.flatMap { Data(base64Encoded: $0) }.map { Array($0) } }
}
