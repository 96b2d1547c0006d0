import DatalessCore
import FoundationEssentials

/// JSON as it goes over the control socket: keys sorted, slashes as they are.
public enum WireCoding {
  public static func encode(_ value: some Encodable) throws(ControlError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return [UInt8](try encoder.encode(value))
    } catch {
      throw ControlError(code: .malformed, message: "cannot encode \(type(of: value)) as JSON: \(error).")
    }
  }

  /// - Parameter name: What is decoded, for the message: a file, a request.
  public static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8], named name: String
  ) throws(ControlError) -> Value {
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch let error as DecodingError {
      throw ControlError(code: .malformed, message: "cannot understand \(name): \(describe(error)).")
    } catch {
      throw ControlError(code: .malformed, message: "cannot understand \(name): \(TerminalText.harmless("\(error)")).")
    }
  }

  private static func describe(_ error: DecodingError) -> String {
    func place(_ context: DecodingError.Context) -> String {
      let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? TerminalText.escaped($0.stringValue) }
        .joined(separator: ".")
      return path.isEmpty ? "the JSON value" : "`\(path)`"
    }
    switch error {
    case .keyNotFound(let key, let context):
      return "\(place(context)) has no key `\(TerminalText.escaped(key.stringValue))`"
    case .typeMismatch(_, let context): return "\(place(context)) has the wrong type"
    case .valueNotFound(_, let context): return "\(place(context)) is null"
    case .dataCorrupted(let context): return "\(place(context)) is not valid"
    @unknown default: return "it is not valid"
    }
  }
}

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

/// A path or name on the wire: text, and beside it the bytes in base64 when they are not UTF-8.
public struct WirePath: Codable, Sendable, Hashable {
  /// The path; U+FFFD stands where bytes are not UTF-8.
  public var path: String
  /// The bytes, when `path` cannot say them.
  public var pathBase64: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case path
    case pathBase64 = "path_b64"
  }

  public init(_ bytes: [UInt8]) { (path, pathBase64) = Self.split(bytes) }

  public var bytes: [UInt8] { Self.bytes(path, pathBase64) }

  /// The two forms of some bytes; the second is nil when the first says all.
  public static func split(_ bytes: [UInt8]) -> (text: String, base64: String?) {
    let text = String(decoding: bytes, as: UTF8.self)
    return UTF8Elements.areAllScalars(bytes) ? (text, nil) : (text, Base64.text(bytes))
  }

  /// The bytes behind the two forms; base64 that is not valid counts as absent.
  public static func bytes(_ text: String, _ base64: String?) -> [UInt8] {
    base64.flatMap(Base64.decode) ?? Array(text.utf8)
  }
}
