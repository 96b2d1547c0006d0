extension JSONWriter {
  /// Writes a quoted string. Control characters (C0, DEL, C1), quotes and backslashes are escaped.
  ///
  /// - Returns: whether all of it was UTF-8.
  mutating func text(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    beginText()
    var isValid = true
    var position = 0
    while position < value.count {
      // Nearly everything is plain: copied in one go up to the next byte that is not.
      var end = position
      while end < value.count, Self.isPlain(value[end]) { end += 1 }
      if end > position { raw(UnsafeBufferPointer(rebasing: value[position..<end])) }
      guard end < value.count else { break }
      let byte = value[end]
      if byte < 0x80 {
        escape(byte)
        position = end + 1
        continue
      }
      let (length, isScalar) = Self.sequence(value, at: end)
      position = end + length
      if !isScalar {
        isValid = false
        literal("\u{FFFD}")
      } else if byte == 0xC2, value[end + 1] < 0xA0 {
        escape(value[end + 1])
      } else {
        raw(UnsafeBufferPointer(rebasing: value[end..<position]))
      }
    }
    endText()
    return isValid
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private mutating func escape(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): literal("\\\"")
    case UInt8(ascii: "\\"): literal("\\\\")
    case UInt8(ascii: "\n"): literal("\\n")
    case UInt8(ascii: "\t"): literal("\\t")
    case UInt8(ascii: "\r"): literal("\\r")
    default:
      let digits: StaticString = "0123456789abcdef"
      literal("\\u00")
      raw(UnsafeBufferPointer(start: digits.utf8Start + Int(byte >> 4), count: 1))
      raw(UnsafeBufferPointer(start: digits.utf8Start + Int(byte & 15), count: 1))
    }
  }

  /// The length of the scalar that starts here, or of the longest part of one (table 3-7 of the Unicode standard),
  /// which is at least one byte. For bytes of 0x80 and above.
  private static func sequence(_ value: UnsafeBufferPointer<UInt8>, at start: Int) -> (length: Int, isScalar: Bool) {
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch value[start] {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: length = 4
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: return (1, false)
    }
    guard start + 1 < value.count, second.contains(value[start + 1]) else { return (1, false) }
    var matched = 2
    while matched < length {
      guard start + matched < value.count, value[start + matched] & 0xC0 == 0x80 else { return (matched, false) }
      matched += 1
    }
    return (length, true)
  }
}
