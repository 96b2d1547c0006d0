import FoundationEssentials

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
    return UTF8Elements.areAllScalars(bytes) ? (text, nil) : (text, Data(bytes).base64EncodedString())
  }

  /// The bytes behind the two forms; base64 that is not valid counts as absent.
  public static func bytes(_ text: String, _ base64: String?) -> [UInt8] {
    guard let base64, let data = Data(base64Encoded: base64) else { return Array(text.utf8) }
    return [UInt8](data)
  }
}
