import DatalessCore

/// Where the next byte of a JSON text goes. Whoever makes one has made room for what will be put there.
struct JSONCursor {
  var next: UnsafeMutablePointer<UInt8>

  @inline(__always)
  mutating func put(_ byte: UInt8) {
    next.pointee = byte
    next += 1
  }

  @inline(__always)
  mutating func put(_ bytes: UnsafePointer<UInt8>, count: Int) {
    next.update(from: bytes, count: count)
    next += count
  }

  static func keyLength(_ name: StaticString) -> Int { name.utf8CodeUnitCount + 4 }

  /// `"name":`, after a comma where one is due.
  @inline(__always)
  mutating func key(_ name: StaticString, isFirst: Bool) {
    if !isFirst { put(UInt8(ascii: ",")) }
    put(UInt8(ascii: "\""))
    put(name.utf8Start, count: name.utf8CodeUnitCount)
    put(UInt8(ascii: "\""))
    put(UInt8(ascii: ":"))
  }

  // MARK: - Integers

  /// A sign, and 20 digits, which hold any UInt64.
  static let integerLength = 21

  mutating func integer(_ magnitude: UInt64, isNegative: Bool) {
    if isNegative { put(UInt8(ascii: "-")) }
    guard magnitude >= 10 else { return put(48 + UInt8(truncatingIfNeeded: magnitude)) }
    // From the right, at the end of the room, and then to where they belong: so nobody has to count them first.
    let end = next + 20
    var first = end
    var rest = magnitude
    // Two at a time: half the divisions.
    while rest >= 10 {
      let pair = Int(truncatingIfNeeded: rest % 100) * 2
      rest /= 100
      first -= 2
      first[0] = Self.pairs.utf8Start[pair]
      first[1] = Self.pairs.utf8Start[pair + 1]
    }
    if rest > 0 {
      first -= 1
      first[0] = 48 + UInt8(truncatingIfNeeded: rest)
    }
    put(first, count: end - first)
  }

  /// 00 to 99.
  private static let pairs: StaticString = """
    0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
    5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
    """

  // MARK: - Text

  /// A text in quotation marks. - Returns: False if a byte of it is to be escaped, or is beyond ASCII: what was put is
  /// of no use then.
  mutating func quoted(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    put(UInt8(ascii: "\""))
    if let base = text.baseAddress {
      var position = 0
      while position + 8 <= text.count {
        guard copyWord(base, position) else { return false }
        position += 8
      }
      // The last eight once more, some of them for the second time.
      if position < text.count, text.count >= 8 {
        guard copyWord(base, text.count - 8) else { return false }
      } else {
        while position < text.count {
          guard JSONString.isPlain(base[position]) else { return false }
          next[position] = base[position]
          position += 1
        }
      }
      next += text.count
    }
    put(UInt8(ascii: "\""))
    return true
  }

  /// Copies eight bytes of a text, from an offset to the same offset. - Returns: False if one is to be escaped.
  @inline(__always)
  private func copyWord(_ base: UnsafePointer<UInt8>, _ offset: Int) -> Bool {
    let word = UnsafeRawPointer(base + offset).loadUnaligned(as: UInt64.self)
    guard JSONString.isPlain(word) else { return false }
    UnsafeMutableRawPointer(next + offset).storeBytes(of: word, as: UInt64.self)
    return true
  }
}
