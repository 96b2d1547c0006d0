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

  /// Room for `length` more bytes, which `fill` puts there, or fewer of them. A field is one call.
  @inline(__always)
  private mutating func write(atMost length: Int, _ fill: (inout JSONCursor) -> Void) {
    if storage.count - count < length {
      storage.append(contentsOf: repeatElement(0, count: max(storage.count, length)))
    }
    count += storage.withUnsafeMutableBufferPointer { storage in
      let start = storage.baseAddress! + count
      var cursor = JSONCursor(next: start)
      fill(&cursor)
      return cursor.next - start
    }
  }

  private mutating func byte(_ value: UInt8) { write(atMost: 1) { $0.put(value) } }

  /// The next value starts a text of its own: no comma before it.
  mutating func endLine() { needsComma = false }

  /// Writes directly; for text that needs no escaping.
  mutating func raw(_ text: UnsafeBufferPointer<UInt8>) {
    guard let base = text.baseAddress else { return }
    write(atMost: text.count) { $0.put(base, count: text.count) }
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
    let isFirst = !needsComma
    write(atMost: JSONCursor.keyLength(name)) { $0.key(name, isFirst: isFirst) }
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
    write(atMost: JSONCursor.integerLength) { $0.integer(UInt64(value.magnitude), isNegative: value < 0) }
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
    if value.withUnsafeBufferPointer({ field(name, plain: $0) }) { return }
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
    var value = value
    if value.withUTF8({ field(name, plain: $0) }) { return }
    key(name)
    string(value)
  }

  mutating func field(_ name: StaticString, _ value: some BinaryInteger) {
    let isFirst = !needsComma
    write(atMost: JSONCursor.keyLength(name) + JSONCursor.integerLength) { cursor in
      cursor.key(name, isFirst: isFirst)
      cursor.integer(UInt64(value.magnitude), isNegative: value < 0)
    }
    needsComma = true
  }

  /// A field with a text of which no byte is to be escaped, as nearly all are. - Returns: False, and nothing is
  /// written, for any other.
  private mutating func field(_ name: StaticString, plain text: UnsafeBufferPointer<UInt8>) -> Bool {
    let isFirst = !needsComma
    var isPlain = true
    write(atMost: JSONCursor.keyLength(name) + text.count + 2) { cursor in
      let start = cursor.next
      cursor.key(name, isFirst: isFirst)
      isPlain = cursor.quoted(text)
      if !isPlain { cursor.next = start }
    }
    if isPlain { needsComma = true }
    return isPlain
  }

  /// A text as `field` writes it. - Returns: False, and nothing is written, if a byte is to be escaped.
  mutating func plainText(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let isFirst = !needsComma
    var isPlain = true
    write(atMost: text.count + 3) { cursor in
      let start = cursor.next
      if !isFirst { cursor.put(UInt8(ascii: ",")) }
      isPlain = cursor.quoted(text)
      if !isPlain { cursor.next = start }
    }
    if isPlain { needsComma = true }
    return isPlain
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
}
