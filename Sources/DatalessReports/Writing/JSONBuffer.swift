import DatalessCore

/// Writes JSON piece by piece, with the commas in their places. No text can end a `<script>` of HTML: `<` is escaped.
struct JSONBuffer: Sendable {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  mutating func object(_ body: (inout JSONBuffer) -> Void) { container("{", "}", body) }
  mutating func array(_ body: (inout JSONBuffer) -> Void) { container("[", "]", body) }

  /// Only in an object: a value has to follow.
  mutating func key(_ key: String) {
    string(key)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func string(_ text: String) {
    comma()
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), 0..<0x20, 0x7f:
        bytes += "\\u00".utf8
        bytes += [Self.hexadecimal[Int(byte >> 4)], Self.hexadecimal[Int(byte & 15)]]
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  mutating func integer(_ value: Int64) { word(String(value)) }
  mutating func bool(_ value: Bool) { word(value ? "true" : "false") }
  mutating func null() { word("null") }

  /// Nanoseconds as microseconds, exactly.
  mutating func microseconds(_ nanoseconds: Int64) {
    let rest = String(1_000 + nanoseconds.magnitude % 1_000).dropFirst()
    word("\(nanoseconds < 0 ? "-" : "")\(nanoseconds.magnitude / 1_000).\(rest)")
  }

  mutating func strings(_ values: some Sequence<String>) { array { for value in values { $0.string(value) } } }

  mutating func field(_ key: String, _ value: String?) {
    guard let value else { return }
    self.key(key)
    string(value)
  }

  mutating func field(_ key: String, _ value: Int64?) {
    guard let value else { return }
    self.key(key)
    integer(value)
  }

  /// JSON that is complete in itself.
  mutating func raw(_ value: some Sequence<UInt8>) {
    comma()
    for byte in value { bytes.append(byte) }
  }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  private static let hexadecimal = Array("0123456789abcdef".utf8)

  private mutating func word(_ text: String) {
    comma()
    bytes += text.utf8
  }

  private mutating func comma() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func container(_ begin: String, _ end: String, _ body: (inout JSONBuffer) -> Void) {
    comma()
    bytes += begin.utf8
    needsComma = false
    body(&self)
    bytes += end.utf8
    needsComma = true
  }
}
