/// How JSON holds a text: the one place that knows what is escaped, and how. Log, scenarios and tests write by it.
///
/// Quotation marks, backslashes and control characters (C0, DEL, C1) are escaped. What is not UTF-8 becomes U+FFFD, by
/// the rule of the Unicode standard that `String(decoding:as:)` follows too: one for each maximal part of a well-formed
/// sequence.
public enum JSONString {
  /// The characters beyond ASCII that are not control characters.
  public enum BeyondASCII: Sendable {
    case asTheyAre
    /// Escaped up to U+FFFF: some of them are line ends in YAML.
    case escaped
  }

  /// What the bytes of a piece become.
  public enum Piece: Sendable, Equatable {
    /// They stay as they are.
    case plain
    /// `escape` says what stands for it.
    case escaped(UInt16)
    /// They are not UTF-8.
    case replaced
  }

  /// The longest piece of one kind that begins at `start`, which is below `bytes.count`. `end` is behind it.
  public static func piece(
    of bytes: UnsafeBufferPointer<UInt8>, from start: Int, beyondASCII: BeyondASCII = .asTheyAre
  ) -> (piece: Piece, end: Int) {
    var position = start
    while position < bytes.count {
      // Nearly every byte is one of these.
      let byte = bytes[position]
      if isPlain(byte) {
        position += 1
        continue
      }
      let (piece, end) =
        byte < 0x80
        ? (.escaped(UInt16(byte)), position + 1) : other(bytes, at: position, beyondASCII: beyondASCII)
      guard piece == .plain else { return position == start ? (piece, end) : (.plain, position) }
      position = end
    }
    return (.plain, position)
  }

  /// `\n`, `\u001b` and so on, for a UTF-16 code unit that is a character.
  public static func escape(_ unit: UInt16) -> [UInt8] {
    let backslash = UInt8(ascii: "\\")
    switch unit {
    case UInt16(UInt8(ascii: "\"")), UInt16(backslash): return [backslash, UInt8(truncatingIfNeeded: unit)]
    case UInt16(UInt8(ascii: "\n")): return [backslash, UInt8(ascii: "n")]
    case UInt16(UInt8(ascii: "\t")): return [backslash, UInt8(ascii: "t")]
    case UInt16(UInt8(ascii: "\r")): return [backslash, UInt8(ascii: "r")]
    default:
      let digits: StaticString = "0123456789abcdef"
      return [backslash, UInt8(ascii: "u")]
        + [12, 8, 4, 0].map { digits.utf8Start[Int(unit >> UInt16($0) & 15)] }
    }
  }

  /// U+FFFD in UTF-8.
  public static let replacement: [UInt8] = [0xEF, 0xBF, 0xBD]

  /// Appends a text with its quotation marks.
  public static func append(_ bytes: [UInt8], to output: inout [UInt8], beyondASCII: BeyondASCII = .asTheyAre) {
    output.append(UInt8(ascii: "\""))
    bytes.withUnsafeBufferPointer { bytes in
      var position = 0
      while position < bytes.count {
        let (piece, end) = piece(of: bytes, from: position, beyondASCII: beyondASCII)
        switch piece {
        case .plain: output += bytes[position..<end]
        case .escaped(let unit): output += escape(unit)
        case .replaced: output += beyondASCII == .asTheyAre ? replacement : escape(0xFFFD)
        }
        position = end
      }
    }
    output.append(UInt8(ascii: "\""))
  }

  /// Whether a byte is a character that stays as it is.
  @inlinable
  public static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// Whether all of eight bytes are, looked at together: what is odd about a byte shows in its highest bit.
  @inlinable
  public static func isPlain(_ word: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotation = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    // A byte below what is taken from it borrows, one of 0x7F carries; neither happens to a byte beside plain ones.
    let odd = (word &- ones &* 0x20) | (quotation &- ones) | (backslash &- ones) | (word &+ ones) | word
    return odd & (ones &* 0x80) == 0
  }

  /// One scalar beyond ASCII, or a part of one.
  private static func other(
    _ bytes: UnsafeBufferPointer<UInt8>, at position: Int, beyondASCII: BeyondASCII
  ) -> (piece: Piece, end: Int) {
    let (length, isScalar) = UTF8Scalar.length(bytes, at: position)
    let end = position + length
    if !isScalar { return (.replaced, end) }
    // C1 are U+0080...U+009F.
    let isControl = bytes[position] == 0xC2 && bytes[position + 1] < 0xA0
    guard isControl || (beyondASCII == .escaped && length < 4) else { return (.plain, end) }
    var unit = UInt16(bytes[position]) & (length == 2 ? 0x1F : 0x0F)
    for byte in bytes[position + 1..<end] { unit = unit << 6 | UInt16(byte & 0x3F) }
    return (.escaped(unit), end)
  }
}

/// Well-formed UTF-8, by table 3-7 of the Unicode standard.
public enum UTF8Scalar {
  /// The length of the scalar that begins at `start` in bytes, or of the longest part of one, which is one byte at
  /// least.
  ///
  /// - Parameter start: Below `bytes.count`; a byte of 0x80 or above.
  public static func length(
    _ bytes: UnsafeBufferPointer<UInt8>, at start: Int
  ) -> (length: Int, isScalar: Bool) {
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch bytes[start] {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: length = 4
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: return (1, false)
    }
    guard start + 1 < bytes.count, second.contains(bytes[start + 1]) else { return (1, false) }
    var matched = 2
    while matched < length {
      guard start + matched < bytes.count, bytes[start + matched] & 0xC0 == 0x80 else { return (matched, false) }
      matched += 1
    }
    return (length, true)
  }
}
