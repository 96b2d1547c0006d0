/// JSON writes a character beyond U+FFFF as two escapes (`\ud83d\ude00`), which YAML does not know.
enum SurrogatePairs {
  /// The text with each pair replaced by its character, if the text is a JSON object or list; otherwise as it is.
  static func joined(_ bytes: [UInt8]) -> [UInt8] {
    let first = bytes.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0a && $0 != 0x0d }
    guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return bytes }
    guard bytes.contains(UInt8(ascii: "\\")) else { return bytes }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else {
        result.append(bytes[index])
        index += 1
        continue
      }
      if let high = unit(bytes, at: index), let low = unit(bytes, at: index + 6), (0xd800...0xdbff).contains(high),
        (0xdc00...0xdfff).contains(low),
        let scalar = Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
      {
        result += String(Character(scalar)).utf8
        index += 12
      } else {
        // With what it escapes, so that the second of two backslashes starts nothing.
        result += bytes[index...index + 1]
        index += 2
      }
    }
    return result
  }

  /// The number of an escape of four digits.
  private static func unit(_ bytes: [UInt8], at index: Int) -> UInt32? {
    guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
      return nil
    }
    return UInt32(String(decoding: bytes[(index + 2)..<(index + 6)], as: UTF8.self), radix: 16)
  }
}
