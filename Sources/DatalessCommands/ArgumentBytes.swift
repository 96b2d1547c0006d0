import DatalessControl

/// Command-line arguments are bytes, the argument parser only takes Strings: a reversible mapping between the two.
///
/// Valid UTF-8 is itself. A byte that is not part of any becomes the scalar U+10FF00 + byte, in a private plane that no
/// file name in use has; the UTF-8 of such a scalar is mapped byte by byte, so that decoding is always exact.
public enum ArgumentBytes {
  private static let base: UInt32 = 0x10ff00
  private static let escapes: ClosedRange<UInt32> = (base + 0x80)...(base + 0xff)

  /// The String that stands for the bytes.
  public static func encode(_ bytes: [UInt8]) -> String {
    var scalars = String.UnicodeScalarView()
    for element in UTF8Elements(bytes) {
      switch element {
      case .scalar(let scalar) where !escapes.contains(scalar.value): scalars.append(scalar)
      case .scalar(let scalar): for byte in UTF8.encode(scalar)! { scalars.append(escape(byte)) }
      case .byte(let byte): scalars.append(escape(byte))
      }
    }
    return String(scalars)
  }

  /// The bytes that a String made by `encode` stands for; any other String is its UTF-8.
  public static func decode(_ text: some StringProtocol) -> [UInt8] {
    var bytes: [UInt8] = []
    for scalar in text.unicodeScalars {
      if escapes.contains(scalar.value) {
        bytes.append(UInt8(scalar.value - base))
      } else {
        bytes += UTF8.encode(scalar)!
      }
    }
    return bytes
  }

  private static func escape(_ byte: UInt8) -> Unicode.Scalar { Unicode.Scalar(base + UInt32(byte))! }
}
