/// Writes JSON into a byte buffer that is used again and again. The result is valid UTF-8 whatever goes in.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  var count: Int { bytes.count }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
  mutating func removeFirst(_ count: Int) { bytes.removeFirst(count) }
  mutating func reserveCapacity(_ count: Int) { bytes.reserveCapacity(count) }

  /// The next value starts a text of its own: no comma before it.
  mutating func endLine() { needsComma = false }

  /// Writes directly; for text that needs no escaping.
  mutating func raw(_ append: (inout [UInt8]) -> Void) { append(&bytes) }

  mutating func literal(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func beginObject() { open(UInt8(ascii: "{")) }
  mutating func endObject() { close(UInt8(ascii: "}")) }
  mutating func beginArray() { open(UInt8(ascii: "[")) }
  mutating func endArray() { close(UInt8(ascii: "]")) }

  /// `"name":`, after a comma where one is due. `name` needs no escaping.
  mutating func key(_ name: StaticString) {
    comma()
    bytes.append(UInt8(ascii: "\""))
    literal(name)
    literal("\":")
    needsComma = false
  }

  mutating func key(_ name: String) {
    string(name)
    bytes.append(UInt8(ascii: ":"))
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
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    digits(UInt64(value.magnitude))
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
    bytes.append(UInt8(ascii: "\""))
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
    let alphabet: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    beginText()
    var position = 0
    while position < value.count {
      let left = min(3, value.count - position)
      var group = UInt32(value[position]) << 16
      if left > 1 { group |= UInt32(value[position + 1]) << 8 }
      if left > 2 { group |= UInt32(value[position + 2]) }
      for index in 0..<4 {
        let digit = Int(group >> UInt32(18 - 6 * index)) & 63
        bytes.append(index <= left ? alphabet.utf8Start[digit] : UInt8(ascii: "="))
      }
      position += 3
    }
    endText()
  }

  mutating func beginText() {
    comma()
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func endText() { bytes.append(UInt8(ascii: "\"")) }

  private mutating func comma() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func open(_ bracket: UInt8) {
    comma()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func digits(_ value: UInt64) {
    if value < 10 {
      bytes.append(48 + UInt8(value))
      return
    }
    // 20 digits hold any UInt64.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
      var start = 20
      var rest = value
      while rest > 0 {
        start -= 1
        buffer[start] = 48 + UInt8(rest % 10)
        rest /= 10
      }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[start...]))
    }
  }
}
