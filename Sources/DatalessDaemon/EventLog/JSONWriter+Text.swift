import DatalessCore

extension JSONWriter {
  /// Writes a quoted string, as `JSONString` has it.
  ///
  /// - Returns: whether all of it was UTF-8.
  mutating func text(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    if plainText(value) { return true }
    beginText()
    var isValid = true
    var position = 0
    while position < value.count {
      let (piece, end) = JSONString.piece(of: value, from: position)
      switch piece {
      case .plain: raw(UnsafeBufferPointer(rebasing: value[position..<end]))
      case .escaped(let unit): JSONString.escape(unit).withUnsafeBufferPointer { raw($0) }
      case .replaced:
        isValid = false
        literal("\u{FFFD}")
      }
      position = end
    }
    endText()
    return isValid
  }

  /// `"name":1234567`: a span of time in nanoseconds; its name ends in `_ns`.
  mutating func field(_ name: StaticString, _ span: Nanoseconds) { field(name, span.rawValue) }

  /// A field that is left out when there is no value.
  mutating func optional(_ name: StaticString, _ span: Nanoseconds?) { optional(name, span?.rawValue) }

  mutating func optional(_ name: StaticString, _ value: (some BinaryInteger)?) {
    if let value { field(name, value) }
  }

  /// A field that is null when there is no value.
  mutating func nullable(_ name: StaticString, _ value: (some BinaryInteger)?) {
    if let value { field(name, value) } else { null(name) }
  }

  mutating func nullable(_ name: StaticString, _ value: [UInt8]?) {
    if let value { field(name, value) } else { null(name) }
  }

  mutating func null(_ name: StaticString) {
    key(name)
    null()
  }

  mutating func value(_ value: LogValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .integer(let value): integer(value)
    case .unsigned(let value): integer(value)
    case .string(let value): string(value)
    case .bytes(let value): string(value)
    case .json(let value): json(value)
    case .array(let values):
      beginArray()
      for element in values { self.value(element) }
      endArray()
    case .object(let fields):
      beginObject()
      for entry in fields {
        key(entry.key)
        if case .bytes(let bytes) = entry.value {
          if !string(bytes) {
            key(entry.key + "_b64")
            base64(bytes)
          }
        } else {
          self.value(entry.value)
        }
      }
      endObject()
    }
  }
}
