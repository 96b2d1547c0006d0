/// The letters of a name in Rust's mangling v0: identifiers and numbers.
struct RustText {
  struct Malformed: Error {}

  var position = 0
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  mutating func next() throws(Malformed) -> UInt8 {
    guard position < bytes.count else { throw Malformed() }
    defer { position += 1 }
    return bytes[position]
  }

  mutating func take(_ letter: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: letter) else { return false }
    position += 1
    return true
  }

  /// `_` is 0, `0_` is 1.
  mutating func base62() throws(Malformed) -> UInt64 {
    if take("_") { return 0 }
    var value: UInt64 = 0
    while !take("_") {
      let digit: UInt64
      switch try next() {
      case let byte where Self.isDigit(byte): digit = UInt64(byte - UInt8(ascii: "0"))
      case let byte where (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte):
        digit = UInt64(byte - UInt8(ascii: "a")) + 10
      case let byte where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte):
        digit = UInt64(byte - UInt8(ascii: "A")) + 36
      default: throw Malformed()
      }
      let (product, overflow) = value.multipliedReportingOverflow(by: 62)
      // Room for the digit and for the one that is added at the end.
      guard !overflow, product < .max - 100 else { throw Malformed() }
      value = product + digit
    }
    return value + 1
  }

  /// Which of several of the same name; 0 where nothing is said.
  mutating func disambiguator() throws(Malformed) -> UInt64 { take("s") ? try base62() + 1 : 0 }

  mutating func identifier() throws(Malformed) -> (name: [UInt8], number: UInt64) {
    let number = try disambiguator()
    return (try plainIdentifier(), number)
  }

  mutating func plainIdentifier() throws(Malformed) -> [UInt8] {
    let isPunycode = take("u")
    let count = try decimal()
    // Between the number and a name that begins with a digit or an underscore.
    _ = take("_")
    guard count <= bytes.count - position else { throw Malformed() }
    let name = Array(bytes[position..<position + count])
    position += count
    return isPunycode ? try Self.punycode(name) : name
  }

  private mutating func decimal() throws(Malformed) -> Int {
    guard position < bytes.count, Self.isDigit(bytes[position]) else { throw Malformed() }
    // No number begins with 0 but 0 itself.
    if take("0") { return 0 }
    var value = 0
    while position < bytes.count, Self.isDigit(bytes[position]) {
      value = value * 10 + Int(bytes[position] - UInt8(ascii: "0"))
      guard value <= bytes.count else { throw Malformed() }
      position += 1
    }
    return value
  }

  /// Digits up to an underscore; `0` for none.
  mutating func hexadecimal() throws(Malformed) -> String {
    var digits = ""
    while !take("_") {
      let byte = try next()
      guard Hexadecimal.number([byte]) != nil, digits.utf8.count < 32 else { throw Malformed() }
      digits.unicodeScalars.append(Unicode.Scalar(byte))
    }
    return digits.isEmpty ? "0" : digits
  }

  /// RFC 3492, with an underscore for its hyphen.
  private static func punycode(_ text: [UInt8]) throws(Malformed) -> [UInt8] {
    // LIMIT: bytes of such a name: decoding takes the square of it.
    guard text.count <= 512 else { throw Malformed() }
    var scalars: [Unicode.Scalar] = []
    var rest = text[...]
    if let mark = text.lastIndex(of: UInt8(ascii: "_")) {
      scalars = text[..<mark].map { Unicode.Scalar($0) }
      rest = text[(mark + 1)...]
    }
    var (value, index, bias, isFirst) = (128, 0, 72, true)
    while !rest.isEmpty {
      let before = index
      var weight = 1
      for step in sequence(first: 36, next: { $0 + 36 }) {
        guard let digit = rest.popFirst().flatMap(punycodeDigit) else { throw Malformed() }
        // Neither can come near the limits of Int before the check below.
        index += digit * weight
        guard index < 1 << 40 else { throw Malformed() }
        let threshold = min(max(step - bias, 1), 26)
        if digit < threshold { break }
        weight *= 36 - threshold
        guard weight < 1 << 40 else { throw Malformed() }
      }
      let count = scalars.count + 1
      bias = adapted(index - before, count: count, isFirst: isFirst)
      isFirst = false
      value += index / count
      index %= count
      guard let scalar = UInt32(exactly: value).flatMap({ Unicode.Scalar($0) }) else { throw Malformed() }
      scalars.insert(scalar, at: index)
      index += 1
    }
    var name = String.UnicodeScalarView()
    name.append(contentsOf: scalars)
    return Array(String(name).utf8)
  }

  private static func punycodeDigit(_ byte: UInt8) -> Int? {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(byte - UInt8(ascii: "a"))
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(byte - UInt8(ascii: "A"))
    case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0")) + 26
    default: nil
    }
  }

  private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / count
    var bias = 0
    while delta > 455 {
      delta /= 35
      bias += 36
    }
    return bias + 36 * delta / (delta + 38)
  }
}
