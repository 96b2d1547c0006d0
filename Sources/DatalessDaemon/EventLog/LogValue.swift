/// A JSON value in a record whose fields the caller chooses: options, fast paths, counters. Literals work:
/// `["lookup": 3, "open": 0]`. Keys keep their order.
enum LogValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case string(String)
  /// A path or another text whose bytes need not be UTF-8: in an object it is written as `key`, and `key_b64` if
  /// needed.
  case bytes([UInt8])
  case array([LogValue])
  case object([LogField])
  /// A value that is JSON already, in UTF-8 and on one line.
  case json([UInt8])
}

extension LogValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral
{
  init(dictionaryLiteral elements: (String, LogValue)...) {
    self = .object(elements.map { LogField(key: $0.0, value: $0.1) })
  }
  init(arrayLiteral elements: LogValue...) { self = .array(elements) }
  init(integerLiteral value: Int64) { self = .integer(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(stringLiteral value: String) { self = .string(value) }
  init(nilLiteral: ()) { self = .null }

  /// Counts by name, sorted by name: a stable order for a dictionary.
  init(_ counts: [String: UInt64]) {
    self = .object(counts.sorted { $0.key < $1.key }.map { LogField(key: $0.key, value: .unsigned($0.value)) })
  }
}

/// One key and its value in a `LogValue.object`.
struct LogField: Sendable, Equatable {
  var key: String
  var value: LogValue
}
