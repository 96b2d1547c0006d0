/// Changes of bytes that know nothing of what they mean.
public enum ByteMutation {
  /// What parsers of text stumble over.
  public static let pieces: [[UInt8]] =
    [
      "", "0", "-1", "-0", "00", "1.5", "1e308", "1e400", "0x10", "NaN", "null", "true", "2147483648", "4294967296",
      "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615",
      "18446744073709551616", "99999999999999999999999999999999999999", "\"", "\\", "\\u0000", "\\ud800",
      "\\udc00\\ud800",
      "\\u12", "{", "}", "[", "]", ",", ":", " ", "\t", "\n", "\r\n", "\u{0}", "\u{1b}[31m", "\u{202e}", "\u{fffd}",
      "\u{10ffff}", "%", "%00", "%zz", "..", "/", "//", "~", "*", "&", "(", ")", "\\040", "\\400", "=", ";",
    ].map { Array($0.utf8) } + [
      [0x80], [0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82],
    ]

  /// One to eight changes.
  ///
  /// - Parameter others: Samples from which parts are taken over.
  public static func mutated(_ bytes: [UInt8], _ random: inout TestRandom, others: [[UInt8]] = []) -> [UInt8] {
    var bytes = bytes
    for _ in 0...random.below(random.oneIn(4) ? 8 : 2) { change(&bytes, &random, others) }
    return bytes
  }

  private static func change(_ bytes: inout [UInt8], _ random: inout TestRandom, _ others: [[UInt8]]) {
    let place = random.below(bytes.count + 1)
    let part = place..<min(bytes.count, place + 1 + random.below(random.oneIn(4) ? bytes.count : 8))
    switch random.below(10) {
    case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(random.below(8))
    case 1 where place < bytes.count: bytes[place] = random.byte()
    case 2 where !part.isEmpty: bytes.removeSubrange(part)
    case 3 where !part.isEmpty: bytes.insert(contentsOf: Array(bytes[part]), at: place)
    case 4: bytes.removeSubrange(place...)
    case 5 where !others.isEmpty:
      let other = random.element(of: others)
      bytes.replaceSubrange(part, with: other[random.below(other.count + 1)...].prefix(random.below(64)))
    case 6 where !part.isEmpty && bytes.count < 4_096:
      // Many times the same.
      for _ in 0..<random.below(200) where bytes.count < 16_384 { bytes.insert(contentsOf: bytes[part], at: place) }
    case 7 where !part.isEmpty: bytes.replaceSubrange(part, with: random.element(of: pieces))
    default: bytes.insert(contentsOf: random.element(of: pieces), at: place)
    }
  }
}
