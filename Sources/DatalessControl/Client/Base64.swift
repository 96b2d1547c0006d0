import FoundationEssentials

/// Standard base64 with padding (RFC 4648, section 4).
public enum Base64 {
  public static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
  /// nil when the text is not valid base64.
  public static func decode(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map { [UInt8]($0) } }
}
