import Glibc

/// Reads strings as JSON writes them; `JSONString` writes them.
enum JSONText {
  /// What is between the quotes of a string without escapes; nil for one that has some, and for what is no string.
  static func plainBody(_ raw: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard raw.count >= 2, raw.first == UInt8(ascii: "\""), raw.last == UInt8(ascii: "\"") else { return nil }
    let body = UnsafeRawBufferPointer(rebasing: raw[1..<raw.count - 1])
    guard let start = body.baseAddress, memchr(start, 0x5c, body.count) != nil else { return body }
    return nil
  }

  /// Undoes the escapes of a string with its quotes; a lone surrogate becomes U+FFFD. nil when it is not a string.
  static func decode(_ raw: ArraySlice<UInt8>) -> [UInt8]? {
    guard raw.count >= 2, raw.first == UInt8(ascii: "\""), raw.last == UInt8(ascii: "\"") else { return nil }
    if let plain = raw.withUnsafeBytes({ plainBody($0).map { Array($0) } }) { return plain }
    let body = raw.dropFirst().dropLast()
    var output: [UInt8] = []
    output.reserveCapacity(body.count)
    var index = body.startIndex
    while index < body.endIndex {
      guard body[index] == UInt8(ascii: "\\"), index + 1 < body.endIndex else {
        output.append(body[index])
        index += 1
        continue
      }
      let escape = body[index + 1]
      index += 2
      switch escape {
      case UInt8(ascii: "n"): output.append(10)
      case UInt8(ascii: "t"): output.append(9)
      case UInt8(ascii: "r"): output.append(13)
      case UInt8(ascii: "b"): output.append(8)
      case UInt8(ascii: "f"): output.append(12)
      case UInt8(ascii: "u"): output += UTF8.encode(scalar(body, &index)) ?? UTF8.encodedReplacementCharacter
      default: output.append(escape)
      }
    }
    return output
  }

  /// The scalar of `\uXXXX`, or of a pair of surrogates; `index` is behind the `u`.
  private static func scalar(_ body: ArraySlice<UInt8>, _ index: inout Int) -> Unicode.Scalar {
    func hexadecimal(at start: Int) -> UInt32? {
      guard start + 4 <= body.endIndex else { return nil }
      return UInt32(String(decoding: body[start..<start + 4], as: UTF8.self), radix: 16)
    }
    guard let first = hexadecimal(at: index) else { return "\u{fffd}" }
    index += 4
    if (0xd800..<0xdc00).contains(first), index + 6 <= body.endIndex, body[index] == UInt8(ascii: "\\"),
      body[index + 1] == UInt8(ascii: "u"), let second = hexadecimal(at: index + 2), (0xdc00..<0xe000).contains(second)
    {
      index += 6
      return Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00)) ?? "\u{fffd}"
    }
    return Unicode.Scalar(first) ?? "\u{fffd}"
  }
}
