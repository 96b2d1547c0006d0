import DatalessCore

/// Writes JSON into a byte buffer that is used again and again. The result is valid UTF-8 whatever goes in.
struct JSONWriter {
  /// Filled up to `count`: an array's own `append` costs more than the few bytes that are appended at a time.
  private var storage = [UInt8](repeating: 0, count: 4096)
  private(set) var count = 0
  private var needsComma = false

  /// What was written.
  var bytes: ArraySlice<UInt8> { storage[..<count] }

  mutating func removeAll() { count = 0 }

  mutating func removeFirst(_ length: Int) {
    storage.removeFirst(length)
    count -= length
  }

  /// Room for `length` more bytes, filled by `fill` from the pointer on, which returns how many it wrote.
  @inline(__always)
  private mutating func write(atMost length: Int, _ fill: (UnsafeMutablePointer<UInt8>) -> Int) {
    if storage.count - count < length {
      storage.append(contentsOf: repeatElement(0, count: max(storage.count, length)))
    }
    count += storage.withUnsafeMutableBufferPointer { fill($0.baseAddress! + count) }
  }

  private mutating func byte(_ value: UInt8) {
    write(atMost: 1) { target in
      target[0] = value
      return 1
    }
  }

  /// The next value starts a text of its own: no comma before it.
  mutating func endLine() { needsComma = false }

  /// Writes directly; for text that needs no escaping.
  mutating func raw(_ text: UnsafeBufferPointer<UInt8>) {
    guard let base = text.baseAddress else { return }
    write(atMost: text.count) { target in
      target.update(from: base, count: text.count)
      return text.count
    }
  }

  mutating func literal(_ text: StaticString) {
    raw(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func beginObject() { open(UInt8(ascii: "{")) }
  mutating func endObject() { close(UInt8(ascii: "}")) }
  mutating func beginArray() { open(UInt8(ascii: "[")) }
  mutating func endArray() { close(UInt8(ascii: "]")) }

  /// `"name":`, after a comma where one is due. `name` needs no escaping.
  mutating func key(_ name: StaticString) {
    let length = name.utf8CodeUnitCount
    let hasComma = needsComma
    write(atMost: length + 4) { target in
      var next = target
      if hasComma {
        next[0] = UInt8(ascii: ",")
        next += 1
      }
      next[0] = UInt8(ascii: "\"")
      (next + 1).update(from: name.utf8Start, count: length)
      next += length + 1
      next[0] = UInt8(ascii: "\"")
      next[1] = UInt8(ascii: ":")
      return next + 2 - target
    }
    needsComma = false
  }

  mutating func key(_ name: String) {
    string(name)
    byte(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func null() {
    comma()
    literal("null")
  }

  mutating func bool(_ value: Bool) {
    comma()
    if value { literal("true") } else { literal("false") }
  }

  mutating func integer(_ value: some BinaryInteger) {
    comma()
    if value < 0 { byte(UInt8(ascii: "-")) }
    digits(UInt64(value.magnitude))
  }

  /// A value that is JSON already.
  mutating func json(_ value: [UInt8]) {
    comma()
    value.withUnsafeBufferPointer { raw($0) }
  }

  mutating func string(_ value: String) {
    var value = value
    value.withUTF8 { _ = text($0) }
  }

  /// A string of these bytes. What is not UTF-8 becomes U+FFFD, by the rule of the Unicode standard that
  /// `String(decoding:as:)` follows too (one per maximal part of a well-formed sequence).
  ///
  /// - Returns: whether all of it was UTF-8.
  @discardableResult
  mutating func string(_ value: [UInt8]) -> Bool { value.withUnsafeBufferPointer { text($0) } }

  /// `name`, and `name_b64` with the bytes themselves when they are not UTF-8.
  mutating func field(_ name: StaticString, _ value: [UInt8]) {
    key(name)
    if string(value) { return }
    base64Key(name)
    base64(value)
  }

  /// `"name_b64":`.
  mutating func base64Key(_ name: StaticString) {
    comma()
    byte(UInt8(ascii: "\""))
    literal(name)
    literal("_b64\":")
    needsComma = false
  }

  mutating func field(_ name: StaticString, _ value: String) {
    key(name)
    string(value)
  }

  mutating func field(_ name: StaticString, _ value: some BinaryInteger) {
    key(name)
    integer(value)
  }

  mutating func field(_ name: StaticString, _ value: Bool) {
    key(name)
    bool(value)
  }

  mutating func base64(_ value: [UInt8]) {
    beginText()
    Base64.encode(value).withUnsafeBufferPointer { raw($0) }
    endText()
  }

  mutating func beginText() {
    comma()
    byte(UInt8(ascii: "\""))
  }

  mutating func endText() { byte(UInt8(ascii: "\"")) }

  private mutating func comma() {
    if needsComma { byte(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func open(_ bracket: UInt8) {
    comma()
    byte(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    byte(bracket)
    needsComma = true
  }

  private mutating func digits(_ value: UInt64) {
    // 20 digits hold any UInt64.
    write(atMost: 20) { target in
      var length = 1
      var bound: UInt64 = 10
      while length < 20, value >= bound {
        length += 1
        bound = bound.multipliedReportingOverflow(by: 10).partialValue
      }
      var rest = value
      var end = length
      // Two at a time: half the divisions.
      while rest >= 100 {
        let pair = Int(truncatingIfNeeded: rest % 100) * 2
        rest /= 100
        end -= 2
        target[end] = Self.pairs.utf8Start[pair]
        target[end + 1] = Self.pairs.utf8Start[pair + 1]
      }
      if rest >= 10 {
        target[0] = 48 + UInt8(truncatingIfNeeded: rest / 10)
        target[1] = 48 + UInt8(truncatingIfNeeded: rest % 10)
      } else {
        target[0] = 48 + UInt8(truncatingIfNeeded: rest)
      }
      return length
    }
  }

  /// 00 to 99.
  private static let pairs: StaticString = """
    0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
    5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
    """
}
