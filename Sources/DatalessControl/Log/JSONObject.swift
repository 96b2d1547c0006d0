import DatalessCore
import Glibc

/// One JSON object as a view of its bytes: where its keys and values are, with nothing decoded until it is asked for.
///
/// Reading a million lines with a general decoder takes a minute; with this it takes seconds. Keys are compared as they
/// are written: keys with escapes are never found.
public struct JSONObject: Sendable {
  struct Field {
    var key: Range<Int>
    var value: Range<Int>
  }

  let bytes: [UInt8]
  private(set) var fields: [Field] = []

  /// - Returns: nil when the bytes are not one complete JSON object, white space around it aside.
  public init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    var fields: [Field] = []
    fields.reserveCapacity(32)
    let isComplete = bytes.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer, 0)
      guard scanner.object({ fields.append(Field(key: $0, value: $1)) }) else { return false }
      scanner.skipSpace()
      return scanner.index == buffer.count
    }
    guard isComplete else { return nil }
    self.fields = fields
  }

  private init?(_ bytes: [UInt8], at start: Int) {
    self.bytes = bytes
    var fields: [Field] = []
    let isComplete = bytes.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer, start)
      return scanner.object { fields.append(Field(key: $0, value: $1)) }
    }
    guard isComplete else { return nil }
    self.fields = fields
  }

  /// Where the value of a key is; nil when there is none.
  func range(_ key: StaticString) -> Range<Int>? {
    bytes.withUnsafeBytes { buffer in
      for field in fields where field.key.count == key.utf8CodeUnitCount {
        if memcmp(buffer.baseAddress! + field.key.lowerBound, key.utf8Start, field.key.count) == 0 {
          return field.value
        }
      }
      return nil
    }
  }

  /// The value as it is written.
  public func raw(_ key: StaticString) -> ArraySlice<UInt8>? { range(key).map { bytes[$0] } }

  /// A number that is whole and fits; nil for anything else, null included.
  public func integer(_ key: StaticString) -> Int64? { range(key).flatMap { Self.integer(bytes[$0]) } }

  /// As `integer`, for ids up to 2^64 - 1.
  public func unsigned(_ key: StaticString) -> UInt64? { range(key).flatMap { Self.unsigned(bytes[$0]) } }

  public func bool(_ key: StaticString) -> Bool? {
    guard let first = raw(key)?.first else { return nil }
    return first == UInt8(ascii: "t") ? true : first == UInt8(ascii: "f") ? false : nil
  }

  /// The text of a string value, its escapes undone; nil for anything that is not a string.
  public func text(_ key: StaticString) -> [UInt8]? { raw(key).flatMap { JSONText.decode($0) } }

  public func string(_ key: StaticString) -> String? {
    guard let range = range(key) else { return nil }
    return bytes.withUnsafeBytes { buffer in
      // Nearly every text is its bytes: it needs no array of its own.
      if let body = JSONText.plainBody(UnsafeRawBufferPointer(rebasing: buffer[range])) {
        return String(decoding: body, as: UTF8.self)
      }
      return JSONText.decode(bytes[range]).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Whether the value is this text, without making a string of it.
  ///
  /// - Parameter text: One that is written without escapes.
  public func has(_ key: StaticString, _ text: StaticString) -> Bool {
    guard let range = range(key) else { return false }
    return bytes.withUnsafeBytes { buffer in
      guard let body = JSONText.plainBody(UnsafeRawBufferPointer(rebasing: buffer[range])) else {
        return string(key) == text.description
      }
      return body.count == text.utf8CodeUnitCount
        && body.baseAddress.map { memcmp($0, text.utf8Start, body.count) == 0 } ?? true
    }
  }

  /// The bytes of a path or name: those of `base64Key` when it is there, else the text of `key`.
  public func name(_ key: StaticString, _ base64Key: StaticString) -> [UInt8]? {
    if let encoded = string(base64Key), let bytes = Base64.decode(encoded) { return bytes }
    return text(key)
  }

  /// All names of a file that has several.
  public var names: [[UInt8]] {
    let encoded = elements("names_b64")
    if !encoded.isEmpty {
      return encoded.compactMap { JSONText.decode(bytes[$0]) }
        .compactMap { Base64.decode(String(decoding: $0, as: UTF8.self)) }
    }
    return elements("names").compactMap { JSONText.decode(bytes[$0]) }
  }

  public var path: [UInt8]? { name("path", "path_b64") }

  /// The value as an object; nil for anything else.
  public func object(_ key: StaticString) -> JSONObject? {
    range(key).flatMap { object(at: $0) }
  }

  /// A value in this object, by its place, as an object; nil for anything else.
  func object(at range: Range<Int>) -> JSONObject? {
    bytes[range.lowerBound] == UInt8(ascii: "{") ? JSONObject(bytes, at: range.lowerBound) : nil
  }

  /// The objects in an array; other elements are left out.
  public func objects(_ key: StaticString) -> [JSONObject] {
    elements(key).compactMap { object(at: $0) }
  }

  /// The whole numbers in an array; other elements are left out.
  public func integers(_ key: StaticString) -> [Int64] { elements(key).compactMap { Self.integer(bytes[$0]) } }

  /// The strings in an array; other elements are left out.
  public func strings(_ key: StaticString) -> [String] { texts(key).map { String(decoding: $0, as: UTF8.self) } }

  /// Where the elements of an array are; empty for anything else.
  func elements(_ key: StaticString) -> [Range<Int>] {
    guard let range = range(key) else { return [] }
    var result: [Range<Int>] = []
    bytes.withUnsafeBufferPointer { buffer in
      var scanner = JSONScanner(buffer, range.lowerBound)
      _ = scanner.array { result.append($0) }
    }
    return result
  }

  /// Name and value of every field whose value is a whole number, in order.
  public var counts: [(name: String, value: Int64)] {
    fields.compactMap { field in
      Self.integer(bytes[field.value]).map { (String(decoding: bytes[field.key], as: UTF8.self), $0) }
    }
  }

  static func integer(_ bytes: ArraySlice<UInt8>) -> Int64? {
    guard bytes.first == UInt8(ascii: "-") else { return unsigned(bytes).flatMap { Int64(exactly: $0) } }
    // The least number has no counterpart above zero.
    return unsigned(bytes.dropFirst()).flatMap { $0 <= 1 << 63 ? 0 &- Int64(truncatingIfNeeded: $0) : nil }
  }

  private static func unsigned(_ bytes: ArraySlice<UInt8>) -> UInt64? {
    guard !bytes.isEmpty else { return nil }
    var value: UInt64 = 0
    for byte in bytes {
      let digit = byte &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
      guard !overflow, !carry else { return nil }
      value = sum
    }
    return value
  }
}

extension JSONObject {
  /// The names of all fields, in order, as they are written.
  public var keys: [String] { fields.map { String(decoding: bytes[$0.key], as: UTF8.self) } }
}
